"""Which form of answer a question asks for, as far as its words alone tell: "Why ...?" is never answered by a name.

The analysis of a model decides; these patterns overrule it only where it is plainly wrong, and stand in for it where a
strategy has none.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from iterative_rag.text.folding import folded_in_place
from iterative_rag.text.patterns import table_beside
from iterative_rag.types import AnswerForm, Need


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """An expression of `asked_forms.toml`, compiled when it is first asked for."""
    lines = table_beside(__file__, "asked_forms.toml")
    return re.compile("".join(lines[name]).replace("<polite>", "".join(lines["polite"])))


def asked_form(question: str) -> AnswerForm | None:
    """The form that the words of a question name; None where they do not tell."""
    text = folded_in_place(question)
    forms = (AnswerForm.REPORT, AnswerForm.TABLE, AnswerForm.SUMMARY, AnswerForm.EXPLANATION, AnswerForm.VALUE)
    return next((form for form in forms if _pattern(form.value).search(text)), None)


def sound_form(said: AnswerForm | None, question: str) -> AnswerForm:
    """The form of which an analysis `said` that a question asks for it, unless the words of the question rule it out: a
    "why" is no value, a "who" is no text."""
    plain = asked_form(question)
    if said is None:
        asks_how = _pattern("how").search(folded_in_place(question))
        return plain or (AnswerForm.EXPLANATION if asks_how else AnswerForm.VALUE)
    return plain if plain is not None and said.is_text != plain.is_text else said


def asks_value(question: str) -> bool:
    """Whether a question, or a clause of one that asks for a text, asks for a name, a number or a date."""
    clauses = filter(str.strip, _pattern("clause").split(folded_in_place(question)))
    return any(asked_form(clause) is AnswerForm.VALUE or _pattern("named").search(clause) for clause in clauses)


def as_aspect(need: Need) -> Need:
    """A need of a text as one of its aspects, unless it asks for one value ("When was Velm Tower finished?")."""
    return need if asked_form(need.question) is AnswerForm.VALUE else replace(need, aspect=True)
