"""The metrics of a run as one JSON object: what `evaluate run --json` and `evaluate report --json` print; and before it
what is measured of one answer, and the table of all means.

Its keys are described in docs/measuring.md.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, TypeAlias

from iterative_rag.evaluation.records import Answerability, Cause, JudgeVerdict, Outcome, QuestionRecord, Spent
from iterative_rag.evaluation.statistics import calibration, mean_interval, rounded

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


# --- the object ------------------------------------------------------------------------------

_OUTCOMES = {
    "answered": Outcome.ANSWERED,
    "abstained": Outcome.ABSTAINED,
    "incomplete": Outcome.INCOMPLETE,
    "faults": Outcome.FAULT,
}


def summarise(records: Sequence[QuestionRecord], expected: int | None = None) -> dict[str, Any]:
    """The object that docs/measuring.md describes. `expected` is how many answers there will be."""
    means, intervals = _means((*SCORES, *EVIDENCE, *SPENDING), records)
    answerable = [record for record in records if scorable(record)]
    causes = Counter(record.cause for record in records)
    by_type = _groups(answerable, lambda record: record.types)
    figures: dict[str, Any] = {
        "n": _questions(records),
        "answers": len(records),
        "expected": expected,
        "answerable": _questions(answerable),
        **{figure.key: means[figure.key] for figure in SCORES},
        "unjudged": sum(record.scores.judge is JudgeVerdict.UNJUDGED for record in records),
        **{name: sum(record.outcome is outcome for record in records) for name, outcome in _OUTCOMES.items()},
        "unread": sum(bool(record.unread) and record.outcome is Outcome.ANSWERED for record in records),
        "by_cause": {cause.value: causes[cause] for cause in Cause if causes[cause]},
        "by_type": dict(sorted(by_type.items(), key=lambda group: -group[1]["n"])),
        "by_gold": _groups(answerable, lambda record: [len(record.gold) + len(record.missing_gold)]),
        **_spending(records, means),
        "citations": {name: means[f"citations.{name}"] for name in ("precision", "recall", "verified")},
        "abstention": _abstention(records),
        "retrieval": _retrieval(records, means),
        "calibration": _calibration(records),
        "intervals": intervals,
    }
    made: dict[str, Any] = rounded(figures)
    return made


def _means(
    figures: Iterable[Figure], records: Sequence[QuestionRecord]
) -> tuple[dict[str, float | None], dict[str, list[float]]]:
    """The mean of each figure by its key, None without any value, and the intervals of those that have one."""
    means: dict[str, float | None] = {}
    intervals: dict[str, list[float]] = {}
    judged = any(record.scores.judge for record in records)
    for figure in figures:
        values = values_by_question(filter(figure.over, records), figure.of)
        if figure.key == "judge" and not judged:
            values = []
        means[figure.key] = fmean(values) if values else None
        if values:
            intervals[figure.key] = list(mean_interval(values, share=figure.share))
    return means, intervals


def _questions(records: Iterable[QuestionRecord]) -> int:
    return len({record.id for record in records})


def _groups(
    records: Sequence[QuestionRecord], keys: Callable[[QuestionRecord], Iterable[object]]
) -> dict[str, dict[str, Any]]:
    held: defaultdict[Any, list[QuestionRecord]] = defaultdict(list)
    for record in records:
        for key in dict.fromkeys(keys(record)):
            held[key].append(record)
    shown = [figure for figure in SCORES if figure.key in ("right", "em", "f1")]
    groups: dict[str, dict[str, Any]] = {}
    for key in sorted(held):
        means, intervals = _means(shown, held[key])
        groups[str(key)] = {"n": _questions(held[key]), **means, "interval": intervals.get("right")}
    return groups


def _spending(records: Sequence[QuestionRecord], means: dict[str, float | None]) -> dict[str, Any]:
    amounts: dict[str, Any] = {
        figure.key: {"total": sum(figure.of(record) or 0 for record in records), "mean": means[figure.key]}
        for figure in SPENDING
    }
    amounts["seconds"]["median"] = median(record.spent.seconds for record in records) if records else None
    judging = [record.judging for record in records]
    return amounts | {"judging": {"calls": sum(spent.calls for spent in judging), "tokens": sum(map(tokens, judging))}}


def _abstention(records: Sequence[QuestionRecord]) -> dict[str, Any]:
    """Precision and recall of "this cannot be answered" as a class (SQuAD 2.0, Rajpurkar et al. 2018)."""
    unanswerable = [record for record in records if record.kind is not Answerability.ANSWERABLE]
    rightly = sum(record.outcome is Outcome.ABSTAINED for record in unanswerable)
    abstained = sum(record.outcome is Outcome.ABSTAINED for record in records)
    return {
        "precision": rightly / abstained if unanswerable and abstained else None,
        "recall": rightly / len(unanswerable) if unanswerable else None,
        "unanswerable": _questions(unanswerable),
    }


def _retrieval(records: Sequence[QuestionRecord], means: dict[str, float | None]) -> dict[str, Any]:
    answerable = [record for record in records if record.kind is Answerability.ANSWERABLE]
    stages = {
        stage: {kind: means[f"retrieval.{stage}.{kind}"] for kind in ("recall", "all_found")}
        for stage in ("listed", "read", "facts")
    }
    missing = {(record.id, title) for record in answerable for title in record.missing_gold}
    return {"n": _questions(filter(with_gold, answerable)), "missing": len(missing), **stages}


def _calibration(records: Sequence[QuestionRecord]) -> dict[str, Any] | None:
    given = [record for record in records if gave_answer(record) and answered_rightly(record) is not None]
    if not given:
        return None
    # A confidence is a product of floats and may exceed 1 by a rounding error.
    confidences = [min(1.0, max(0.0, record.confidence)) for record in given]
    return {"n": len(given), **calibration(confidences, [float(record.right is True) for record in given])}
