"""Words the answer of the built-in backend as a sentence, where the question's own words make one."""

from __future__ import annotations

import re

from iterative_rag.builtin.language.text_values import dates
from iterative_rag.text.need_wording import asked_phrase
from iterative_rag.text.patterns import lazy_pattern

_NAME = lazy_pattern(
    r"\bwhat (?P<verb>is|was) (?P<whose>her|his|its|their) (?P<name>(?:\w+ )?names?)\?$", re.IGNORECASE
)
_PARTICIPLE = r"(?:born|built|\w{3,}ed)"
_WHEN = lazy_pattern(
    rf"^(?:When|[Ii]n (?:what|which) year) (?P<verb>was|were) (?P<whom>[^,]+?)"
    rf"(?P<how> (?:first|last|finally|originally|officially))? (?P<done>{_PARTICIPLE})\?$"
)
_DIED = lazy_pattern(r"^(?:When|[Ii]n (?:what|which) year) did (?P<whom>[^,]+?) die\?$")
_WHERE_BORN = lazy_pattern(
    r"^(?:Where|[Ii]n (?:what|which) (?:city|town|village|country|state|place)) "
    r"(?P<verb>was|were) (?P<whom>[^,]+?) born\?$"
)
_HOW_OLD = lazy_pattern(r"^How old (?P<verb>was|were) (?P<whom>[^,]+?) (?P<then>(?:when|at) [^,]+)\?$")
# "Which was completed first, A or B?", "Who is older, A or B?"
_COMPARED = lazy_pattern(
    r"^(?:Who|What|Which(?: \w+){0,2}?) (?P<verb>is|are|was|were) "
    rf"(?P<how>(?:{_PARTICIPLE} )?(?:first|earlier|later|last)|(?:\w{{2,}}er|(?:more|less) \w+)(?: \w+)?(?=[,:]))[,:]? "
    r"(?P<sides>.+ or .+)\?$"
)
_PRONOUN = lazy_pattern(r"\b(?:he|she|it|they|his|her|its|their|him|them)\b", re.IGNORECASE)


def sentence(question: str, value: str, marks: str) -> str:
    """The answer with the marks of its citations: "Her name is Jane Ballou [3][6].", or the value alone."""
    said = _worded(" ".join(question.split()), value)
    if said.split(" ", 1)[0].islower():  # "the Elm"; "iPhone" keeps its spelling
        said = said[:1].upper() + said[1:]
    return f"{said} {marks}".rstrip() + "."


def _worded(question: str, value: str) -> str:
    if value in {"Yes", "No"}:
        return value
    if found := _NAME.search(question):
        return f"{found['whose']} {found['name']} {found['verb']} {value}"
    if (found := _WHEN.match(question)) and (when := _dated(value)):
        return f"{found['whom']} {found['verb']}{found['how'] or ''} {found['done']} {when}"
    if (found := _DIED.match(question)) and (when := _dated(value)):
        return f"{found['whom']} died {when}"
    if (found := _WHERE_BORN.match(question)) and value[:1].isupper():
        return f"{found['whom']} {found['verb']} born in {value}"
    if (found := _HOW_OLD.match(question)) and value.isdigit() and not _PRONOUN.match(found["whom"]):
        return f"{found['whom']} {found['verb']} {value} {'year' if value == '1' else 'years'} old {found['then']}"
    if (found := _COMPARED.match(question)) and value.casefold() in found["sides"].casefold():
        return f"{value} {found['verb']} {found['how']}"
    phrase, verb = asked_phrase(question)
    return f"{phrase} {verb} {value}" if phrase else value


def _dated(value: str) -> str:
    """ "on November 19, 1831", "in 1831"; "" where the value is not a date alone."""
    found = dates(value)
    if len(found) != 1 or found[0][1:] != (0, len(value)):
        return ""
    return f"{'on' if found[0][0].day else 'in'} {value}"
