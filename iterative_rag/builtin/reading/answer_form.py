"""Checks by its form alone whether a value can answer a query."""

from __future__ import annotations

from iterative_rag.builtin.language.function_words import content
from iterative_rag.builtin.language.lexicon import AnswerKind
from iterative_rag.builtin.language.text_values import amounts, dates
from iterative_rag.builtin.question.extract_questions import wants_extract
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.findings import NOTHING


def fits(query: Query, value: str) -> bool:
    """Whether a value has the form of the asked kind and does not just repeat a name of the question."""
    if value == NOTHING or wants_extract(query.text):
        return True
    if query.kind is AnswerKind.YES_NO:
        return value.lower().startswith(("yes", "no"))
    if query.kind is AnswerKind.NUMBER and not amounts(value):
        return False
    if query.kind in {AnswerKind.YEAR, AnswerKind.DATE} and not dates(value):
        return False
    if query.kind is AnswerKind.PERSON and not any(character.isupper() for character in value):
        return False
    if query.kind in {AnswerKind.PERSON, AnswerKind.PLACE} and value.replace(",", "").replace(".", "").isdigit():
        return False
    if query.ordinals or query.superlative or query.kind not in {AnswerKind.PERSON, AnswerKind.PLACE, AnswerKind.THING}:
        return True
    said = set(content(value))
    return not said or not any(said <= set(name) or _is_fuller(said, name) for name in query.names)


def _is_fuller(said: set[str], name: tuple[str, ...]) -> bool:
    """Whether a value is a name of the question with another one in it: "John Raymond Christy"."""
    return len(name) > 1 and set(name) <= said and len(said) <= len(name) + 1
