"""Measures of one answer: a number, or None if there is nothing to measure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from iterative_rag.evaluation.metrics.statistics import by_question
from iterative_rag.evaluation.questions import Answerability
from iterative_rag.evaluation.records import JudgeVerdict, Outcome, QuestionRecord

Measure: TypeAlias = Callable[[QuestionRecord], float | None]
Price: TypeAlias = tuple[float, float]  # dollars per million tokens, in and out


def values_by_question(records: Iterable[QuestionRecord], measure: Measure) -> list[float]:
    """One value per question that has any: the mean over its answers."""
    measured = ((record.id, measure(record)) for record in records)
    return by_question((question, value) for question, value in measured if value is not None)


# --- scores ----------------------------------------------------------------------------------


def scorable(record: QuestionRecord) -> bool:
    """Whether answers can be scored: the corpus holds an answer, and the dataset names it."""
    return record.kind is Answerability.ANSWERABLE and bool(record.answers)


def answered_rightly(record: QuestionRecord) -> float | None:
    """Whether the answer is right; None if the judge could not tell or the dataset has no accepted answer."""
    if record.right is None or (record.kind is Answerability.ANSWERABLE and not record.answers):
        return None
    return float(record.right)


def judged_correct(record: QuestionRecord) -> float | None:
    """1 where the judge said correct. What it was never asked about (no answer was given) is not correct."""
    if record.scores.judge is JudgeVerdict.UNJUDGED:
        return None
    return float(record.scores.judge is JudgeVerdict.CORRECT)


SCORES: Mapping[str, Measure] = {
    "em": lambda record: record.scores.em,
    "f1": lambda record: record.scores.f1,
    "contains": lambda record: record.scores.contains,
    "value": lambda record: record.scores.value,
    "right": answered_rightly,
    "judge": judged_correct,
}


def gave_answer(record: QuestionRecord) -> bool:
    """Whether an answer was given: never by an abstention, possibly by a capped run."""
    return record.outcome in (Outcome.ANSWERED, Outcome.INCOMPLETE) and bool(record.short_answer or record.text)


# --- cost ------------------------------------------------------------------------------------


def tokens(record: QuestionRecord) -> int:
    """Prompt and completion tokens, without the judge's."""
    return record.spent.prompt_tokens + record.spent.completion_tokens


def dollars(record: QuestionRecord, price: Price) -> float:
    """Dollars for the answer, without its judge."""
    return (record.spent.prompt_tokens * price[0] + record.spent.completion_tokens * price[1]) / 1e6


# --- evidence --------------------------------------------------------------------------------


def listed(record: QuestionRecord) -> set[str]:
    """Ids of all documents on any shortlist."""
    return {document for hop in record.hops for document in hop.shortlist}


def read(record: QuestionRecord) -> set[str]:
    return {document for hop in record.hops for document in hop.read}


def gave_facts(record: QuestionRecord) -> set[str]:
    return {fact.document_id for hop in record.hops for fact in hop.facts}


def recall_of(documents: Callable[[QuestionRecord], set[str]]) -> Measure:
    """The share of the needed articles that are among `documents`."""
    return lambda record: len(documents(record) & set(record.gold)) / len(set(record.gold)) if record.gold else None


def all_found_in(documents: Callable[[QuestionRecord], set[str]]) -> Measure:
    """1 where every needed article is among `documents`."""
    return lambda record: float(documents(record) >= set(record.gold)) if record.gold else None


def all_verified(record: QuestionRecord) -> float | None:
    """1 where the document of every citation holds its quote."""
    return float(all(cited.verified for cited in record.citations)) if record.citations else None
