"""The metrics of a run as one JSON object: what `evaluate run --json` and `evaluate report --json` print.

Its keys are described in docs/measuring.md.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, median
from typing import Any

from iterative_rag.evaluation.figures import (
    EVIDENCE,
    SCORES,
    SPENDING,
    Figure,
    answered_rightly,
    gave_answer,
    scorable,
    tokens,
    values_by_question,
    with_gold,
)
from iterative_rag.evaluation.questions import Answerability
from iterative_rag.evaluation.records import Cause, JudgeVerdict, Outcome, QuestionRecord
from iterative_rag.evaluation.run_folder import RunFolder
from iterative_rag.evaluation.statistics import calibration, mean_interval

_DIGITS = 6
_OUTCOMES = {
    "answered": Outcome.ANSWERED,
    "abstained": Outcome.ABSTAINED,
    "incomplete": Outcome.INCOMPLETE,
    "faults": Outcome.FAULT,
}


def summarise(run: RunFolder | Sequence[QuestionRecord]) -> dict[str, Any]:
    """The object that docs/measuring.md describes."""
    if isinstance(run, RunFolder):
        records = run.records
        expected = int(run.manifest["questions"]) * int(run.manifest["repeat"])
    else:
        records, expected = tuple(run), None
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


def rounded(value: Any) -> Any:
    """Plain JSON values with six digits, which keeps diffs of two objects short."""
    match value:
        case float():
            # Small p-values keep six significant digits.
            return round(value, _DIGITS) if abs(value) >= 1e-3 else float(f"{value:.{_DIGITS}g}")
        case dict():
            return {key: rounded(inner) for key, inner in value.items()}
        case list() | tuple():
            return [rounded(inner) for inner in value]
    return value
