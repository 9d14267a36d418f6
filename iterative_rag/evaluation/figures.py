"""What is measured of one answer, and the table of all means that a run's summary and its report show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import TypeAlias

from iterative_rag.evaluation.questions import Answerability
from iterative_rag.evaluation.records import JudgeVerdict, Outcome, QuestionRecord, Spent

Measure: TypeAlias = Callable[[QuestionRecord], float | None]  # None: nothing to measure


def values_by_question(records: Iterable[QuestionRecord], measure: Measure) -> list[float]:
    """One value per question that has any: the mean over its answers."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for record in records:
        if (value := measure(record)) is not None:
            values[record.id].append(value)
    return [fmean(of_question) for of_question in values.values()]


# --- one answer ------------------------------------------------------------------------------


def scorable(record: QuestionRecord) -> bool:
    """Whether answers can be scored: the corpus holds an answer, and the dataset names it."""
    return record.kind is Answerability.ANSWERABLE and bool(record.answers)


def answered_rightly(record: QuestionRecord) -> float | None:
    """Whether the answer is right; None if the judge could not tell or the dataset has no accepted answer."""
    if record.right is None or (record.kind is Answerability.ANSWERABLE and not record.answers):
        return None
    return float(record.right)


def gave_answer(record: QuestionRecord) -> bool:
    """Whether an answer was given: never by an abstention, possibly by a capped run."""
    return record.outcome in (Outcome.ANSWERED, Outcome.INCOMPLETE) and bool(record.short_answer or record.text)


def f1(record: QuestionRecord) -> float:
    return record.scores.f1


def tokens(spent: Spent) -> int:
    return spent.prompt_tokens + spent.completion_tokens


def _judged_correct(record: QuestionRecord) -> float | None:
    """1 where the judge said correct. What it was never asked about (no answer was given) is not correct."""
    if record.scores.judge is JudgeVerdict.UNJUDGED:
        return None
    return float(record.scores.judge is JudgeVerdict.CORRECT)


def listed(record: QuestionRecord) -> set[str]:
    """Ids of all documents on any shortlist."""
    return {document for hop in record.hops for document in hop.shortlist}


def read(record: QuestionRecord) -> set[str]:
    return {document for hop in record.hops for document in hop.read}


def gave_facts(record: QuestionRecord) -> set[str]:
    return {fact.document_id for hop in record.hops for fact in hop.facts}


def _recall_of(documents: Callable[[QuestionRecord], set[str]]) -> Measure:
    return lambda record: len(documents(record) & set(record.gold)) / len(set(record.gold))


def _all_in(documents: Callable[[QuestionRecord], set[str]]) -> Measure:
    return lambda record: float(documents(record) >= set(record.gold))


def cited(record: QuestionRecord) -> set[str]:
    """What is cited; a citation without a document stands for an article of its own, which nobody needs."""
    return {citation.document_id or f"? {citation.title}" for citation in record.citations}


def citation_precision(record: QuestionRecord) -> float | None:
    """Of the articles that the answer cites, the share that is needed (each counts once)."""
    documents = cited(record)
    return len(documents & set(record.gold)) / len(documents) if documents and record.gold else None


def citation_recall(record: QuestionRecord) -> float | None:
    """Of the needed articles that the corpus holds, the share that the answer cites."""
    gold = set(record.gold)
    return len(cited(record) & gold) / len(gold) if gold else None


def _all_verified(record: QuestionRecord) -> float:
    return float(all(citation.verified for citation in record.citations))


# --- the table -------------------------------------------------------------------------------


def with_gold(record: QuestionRecord) -> bool:
    return record.kind is Answerability.ANSWERABLE and bool(record.gold)


def citing(record: QuestionRecord) -> bool:
    return gave_answer(record) and bool(record.citations)


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over the questions that `over` holds for. `key` is its place in the summary, a dot for each level; a
    `share` lies between 0 and 1."""

    key: str
    label: str
    of: Measure
    over: Callable[[QuestionRecord], bool] = lambda record: True
    share: bool = True


SCORES = (
    Figure("right", "answered rightly", answered_rightly, scorable),
    Figure("judge", "called correct by the judge", _judged_correct, scorable),
    Figure("em", "exact match", lambda record: record.scores.em, scorable),
    Figure("f1", "F1 of the words", f1, scorable),
    Figure("contains", "holds an accepted answer", lambda record: record.scores.contains, scorable),
    Figure("value", "same number, date or yes/no", lambda record: record.scores.value, scorable),
)
_STAGES = (("listed", "shortlisted", listed), ("read", "read", read), ("facts", "gave a fact", gave_facts))
EVIDENCE = (
    *(
        figure
        for stage, label, documents in _STAGES
        for figure in (
            Figure(f"retrieval.{stage}.recall", f"needed articles: {label}", _recall_of(documents), with_gold),
            Figure(f"retrieval.{stage}.all_found", f"questions with all: {label}", _all_in(documents), with_gold),
        )
    ),
    Figure("citations.precision", "cited articles that are needed", citation_precision, citing),
    Figure("citations.recall", "needed articles that are cited", citation_recall, citing),
    Figure("citations.verified", "answers whose every quote stands in its article", _all_verified, citing),
)
SPENDING = (
    Figure("calls", "LLM calls", lambda record: record.spent.calls, share=False),
    Figure("tokens", "tokens", lambda record: tokens(record.spent), share=False),
    Figure("cache_hits", "cache hits", lambda record: record.spent.cache_hits, share=False),
    Figure("seconds", "seconds", lambda record: record.spent.seconds, share=False),
)
