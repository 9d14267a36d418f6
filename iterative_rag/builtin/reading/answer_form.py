"""Checks by its form alone whether a value can answer a query."""

from __future__ import annotations

from iterative_rag.builtin.language.function_words import content
from iterative_rag.builtin.language.lexicon import AnswerKind
from iterative_rag.builtin.language.nations import nations_in
from iterative_rag.builtin.language.text_values import amounts, dates, years
from iterative_rag.builtin.question.extract_questions import wants_extract
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.findings import NOTHING
from iterative_rag.text.patterns import lazy_pattern

# Most words of a value of these kinds.
LONGEST = 10
_SHORT = frozenset({AnswerKind.PERSON, AnswerKind.PLACE, AnswerKind.NUMBER, AnswerKind.YEAR, AnswerKind.DATE})
_BEFORE_PLACE = lazy_pattern(r"^(?:.*\d{4},? )?(?:in|at|near) (?=[A-Z])")
_ADJECTIVE = lazy_pattern(r"[A-Z]\w+(?:an|ish|ese|nch|utch)")


def fits(query: Query, value: str) -> bool:
    """Whether a value has the form of the asked kind and does not just repeat a name of the question."""
    if value == NOTHING or wants_extract(query.text):
        return True
    if " | " in value or not any(character.isalnum() for character in value):
        return False
    if query.kind is AnswerKind.YES_NO:
        return value.lower().startswith(("yes", "no"))
    if query.kind in _SHORT and len(value.split()) > LONGEST:
        return False
    if query.kind is AnswerKind.NUMBER and not amounts(value):
        return False
    if query.kind in {AnswerKind.YEAR, AnswerKind.DATE} and not dates(value):
        return False
    if query.kind is AnswerKind.PERSON and not any(character.isupper() for character in value):
        return False
    if query.kind in {AnswerKind.PERSON, AnswerKind.PLACE} and is_measured(value):
        return False
    if query.kind is AnswerKind.PLACE and _is_people(value):
        return False
    if query.ordinals or query.superlative or query.kind not in {AnswerKind.PERSON, AnswerKind.PLACE, AnswerKind.THING}:
        return True
    said = set(content(value))
    return not said or not any(said <= set(name) or _is_fuller(said, name) for name in query.names)


def trimmed(query: Query, value: str) -> str:
    """A value without what is not of the kind asked for: the date alone, the place without the year."""
    if query.kind in {AnswerKind.YEAR, AnswerKind.DATE} and len(found := dates(value)) == 1:
        return value[found[0][1] : found[0][2]]
    return _BEFORE_PLACE.sub("", value) if query.kind is AnswerKind.PLACE else value


def shortened(query: Query, value: str) -> str:
    """The year of a date where a year is asked for, and the place of "1801, Tellby" where a place is."""
    if query.kind is AnswerKind.YEAR and len(said := years(value)) == 1 and str(said[0]) in value:
        return str(said[0])
    return after_date(value) if query.kind is AnswerKind.PLACE else value


def after_date(value: str) -> str:
    """What follows the date that a value begins with: "Tellby" of "3 May 1801, Tellby"; else the value."""
    end = next((end for _, start, end in dates(value) if not start), 0)
    rest = value[end:].removeprefix(",").lstrip()
    return rest if end and value[end : end + 1] == "," and rest[:1].isupper() else value


def is_measured(value: str) -> bool:
    """Whether a value is a date or an amount and nothing else; "50 Cent" and "3 Doors Down" may be names."""
    if any(value[start:end] == value for _, start, end in dates(value)):
        return True
    return any(character.isdigit() for character in value) and not any(character.isupper() for character in value)


def _is_people(value: str) -> bool:
    """Whether a value is the adjective of a country ("American"), which is no place."""
    named = [nation.replace("_", " ") for nation in nations_in(value)]
    return bool(named) and value.casefold() not in named and _ADJECTIVE.fullmatch(value) is not None


def _is_fuller(said: set[str], name: tuple[str, ...]) -> bool:
    """Whether a value is a name of the question with another one in it: "John Raymond Christy"."""
    return len(name) > 1 and set(name) <= said and len(said) <= len(name) + 1
