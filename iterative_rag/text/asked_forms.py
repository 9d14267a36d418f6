"""Which form of answer a question asks for, as far as its words alone tell: "Why ...?" is never answered by a name.

The analysis of a model decides; these patterns overrule it only where it is plainly wrong, and stand in for it where a
strategy has none.
"""

from __future__ import annotations

from dataclasses import replace

from iterative_rag.text.folding import folded_in_place
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import AnswerForm, Need

_POLITE = r"^[\W_]*(?:(?:please|can you|could you|would you|bitte|kannst du|konnen sie|s'il vous plait|por favor)\W+)*"
_REPORT = lazy_pattern(
    _POLITE + r"(?:write|give|prepare|draft|make|schreib\w*|verfass\w*|redige\w*|ecri\w*|escrib\w*)\b"
    r"(?:\W+(?:me|us|up|mir|uns|moi|nous))?\W+(?:an?|einen?|une?)\b.{0,30}\b(?:report|bericht|rapport|informe)\b"
    r"|\brapor yaz"
)
# "Compared with X, how tall ...?" and "What is the difference in height between ...?" ask for a value.
_QUANTITY = r"(?:age|height|length|size|distance|depth|weight|area|population|elevation|number|time|year)"
_TABLE = lazy_pattern(
    _POLITE + r"(?:contrast\b|vergleich\w*|compar(?:e[rz]?|ar?)\b"
    rf"|what (?:is|are|was|were) the differences?\b(?! in\b|.{{1,60}}\b{_QUANTITY}s?\b)"
    r"|how do(?:es)? .{2,200} (?:differ|compare)\b)|karsilastir|比较"
)
_SUMMARY = lazy_pattern(
    _POLITE
    + r"(?:(?:give|write)\b.{0,20}\b(?:summary|overview)\b|summari[sz]e\b|sum up\b|tell (?:me|us) about\b|what is known"
    r" about\b|fasse?\b.{2,200}\bzusammen|resum[ae]\w*\b|erzahl\w*\b)|ozetle|总结"
)
_EXPLANATION = lazy_pattern(
    _POLITE
    + r"(?:why\b|how come\b|for what reasons?\b|what (?:is|was|were|are) the (?:reasons?|causes?)\b(?! of death)"
    r"|explain\b|describe\b|what (?:is|was|are|were|does|did|do)\b.{2,200} like\W*$"
    r"|warum\b|wieso\b|weshalb\b|erklar\w*\b|beschreib\w*\b|pourquoi\b|expliqu\w*\b|decri\w*\b|por que\b"
    r"|explic\w*\b|describ\w*\b)|\b(?:neden|nicin|acikla)\w*\b|为什么|为何|解释"
)
# What a name, a number or a date answers, whatever a model makes of it, unless it asks for a reason as well.
_VALUE = lazy_pattern(
    r"^(?!.*\b(?:and|und|et|y|e) (?:why|warum|wieso|weshalb|pourquoi|por que)\b)"
    r"\W*(?:(?:in|on|at|to|from|by|of|for) )?(?:who|whom|whose|when|where|in what year|what year"
    r"|how (?:many|much|old|tall|long|high|far|deep|large|big|heavy|often|wide|fast)|wer|wem|wen|wessen|wann|wo"
    r"|wie ?(?:viele?|alt|hoch|lang|weit|gro(?:ss|ß)|oft)|qui|quand|ou|combien|quien(?:es)?|cuando|donde|cuant[oa]s?"
    r"|wie (?:hei(?:ss|ß)|hie(?:ss|ß)|nennt)\w*|comment (?:s'appel|se nomm)\w*|como se llam\w*)\b"
    r"|^\W*how (?:is|are|was|were)\b.{2,200}\bcalled(?:\W*$| (?:that|which|who)\b)"
)
# Where a clause begins that asks for a value of its own: "Why was it built, and who designed it?"
_CLAUSE = lazy_pattern(r"[?;]\s+|,?\s+(?:and|und|et|y|e)\s+")
_NAMED = lazy_pattern(
    r"^\W*(?:(?:in|on|at|to|from|by|of|for) )?(?:which\b|(?:name|identify|nenne)\b"
    r"|(?:what|welche\w*|quel\w*|cual\w*) (?:is|was|are|were|ist|war|est|etait|es|era) "
    r"(?:the |der |die |das |le |la |el )?"
    r"(?:\w+ ){0,2}?(?:names?|title|year|date|number|age|height|length|capital|population|nam\w*|nom|nombre|titel|titre"
    r"|titulo|jahr|annee|ano)\b)"
)
# Mostly an explanation; but "How is he related to her?" is a value, so a model that says so is believed.
_HOW = lazy_pattern(r"^\W*(?:how|wie|comment|como|nasil)\b|\bnasil\b|如何|怎么")


def asked_form(question: str) -> AnswerForm | None:
    """The form that the words of a question name; None where they do not tell."""
    text = folded_in_place(question)
    patterns = (
        (AnswerForm.REPORT, _REPORT),
        (AnswerForm.TABLE, _TABLE),
        (AnswerForm.SUMMARY, _SUMMARY),
        (AnswerForm.EXPLANATION, _EXPLANATION),
        (AnswerForm.VALUE, _VALUE),
    )
    return next((form for form, pattern in patterns if pattern.search(text)), None)


def sound_form(said: AnswerForm | None, question: str) -> AnswerForm:
    """The form of which an analysis `said` that a question asks for it, unless the words of the question rule it out: a
    "why" is no value, a "who" is no text."""
    plain = asked_form(question)
    if said is None:
        return plain or (AnswerForm.EXPLANATION if _HOW.search(folded_in_place(question)) else AnswerForm.VALUE)
    return plain if plain is not None and said.is_text != plain.is_text else said


def asks_value(question: str) -> bool:
    """Whether a question, or a clause of one that asks for a text, asks for a name, a number or a date."""
    clauses = _CLAUSE.split(folded_in_place(question))
    return any(asked_form(clause) is AnswerForm.VALUE or _NAMED.search(clause) for clause in clauses if clause.strip())


def as_aspect(need: Need) -> Need:
    """A need of a text as one of its aspects, unless it asks for one value ("When was Velm Tower finished?")."""
    return need if asked_form(need.question) is AnswerForm.VALUE else replace(need, aspect=True)
