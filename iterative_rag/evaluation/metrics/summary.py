"""The metrics of a run as one JSON object: what `evaluate run --json` and `evaluate report --json` print.

Answer scores are means over the answerable questions; a question that was asked several times counts once, with the
mean of its answers. A fault is a wrong answer. Shares lie between 0 and 1. `null` stands where there is nothing to
measure: no judge, no price, no citation, no unanswerable question.

key                          meaning
---------------------------  -----------------------------------------------------------------------------------
n                            questions
answers                      answers: questions times repeats, as far as the run went
expected                     answers that the finished run will have; null where only records were given
answerable                   questions that the corpus is said to answer, with an accepted answer to score by
em                           exact match after SQuAD's normalisation, the best of the accepted answers
f1                           F1 of the words, the same way
contains                     an accepted answer stands in the short answer
value                        the same number, date or yes/no
right                        answered rightly: the judge's word where there is one, else em, contains or value
judge                        called correct by the judge; null without judge
unjudged                     answers that the judge could not judge; they are neither right nor wrong
answered                     answers given
abstained                    abstentions
incomplete                   answers that a cap ended
faults                       errors, and ends without an answer for which documents could not be read
unread                       answers that did without documents which could not be read
by_cause.*                   answers lost at this place; see `records.Cause`
by_type.*.n                  answerable questions of this reasoning type
by_type.*.right              share answered rightly; null where the judge judged none
by_type.*.em                 exact match
by_type.*.f1                 F1
by_type.*.interval           95 % interval of `right`
by_gold.*.n                  the same by the number of articles that a question needs
by_gold.*.right
by_gold.*.em
by_gold.*.f1
by_gold.*.interval
by_hops.*.n                  the same by the hops that were made (questions that took this many at least once)
by_hops.*.right
by_hops.*.em
by_hops.*.f1
by_hops.*.interval
by_word.*.n                  the same by the word of confidence of the answers ("weak guess")
by_word.*.right
by_word.*.em
by_word.*.f1
by_word.*.interval
by_ending.*                  answers that ended in this way; see `types.ReasonCode`
calls.total                  calls of the LLM, without the judge's
calls.mean                   per answer
tokens.total                 tokens in and out, without the judge's
tokens.mean                  per answer
tokens.prompt                tokens in
tokens.completion            tokens out
seconds.total                seconds of all answers, one after the other
seconds.mean                 per answer
seconds.median
seconds.p95                  95th percentile
cache_hits.total             replies and extractions that came from the cache
cache_hits.mean              per answer
judging.calls                calls of the judge
judging.tokens               tokens of the judge, in and out
judging.seconds              seconds of the judge
cost.total                   dollars at the run's price, without the judge; the object is null without price
cost.mean                    per answer
cost.right                   per right answer; null if none is right
citations.precision          cited articles that are needed ones, over the answers that cite
citations.recall             needed articles that are cited, over the answers that cite
citations.verified           answers whose every citation stands in its document, over the answers that cite
citations.uncited            answers given without any citation
abstention.precision         abstentions that were right; null without abstention or without unanswerable question
abstention.recall            unanswerable questions that were abstained from; null without such questions
abstention.unanswerable      questions that the corpus does not answer
retrieval.n                  answerable questions with needed articles in the corpus
retrieval.missing            needed articles that the corpus does not hold
retrieval.listed.recall      needed articles among everything that was shortlisted, over all hops
retrieval.listed.all_found   questions with all of their needed articles there
retrieval.read.recall        among everything that was read
retrieval.read.all_found
retrieval.facts.recall       among the articles that gave a fact
retrieval.facts.all_found
calibration.n                answers with a confidence, judged; the object is null if there are none
calibration.ece              expected calibration error, ten bins of equal width
calibration.brier            Brier score
calibration.bins[].low       confidence from
calibration.bins[].high      confidence to
calibration.bins[].n         answers
calibration.bins[].confidence  mean confidence
calibration.bins[].right     share of right answers
trajectories.n               questions with expected steps; the object is null if there are none
trajectories.exact           these steps in this order, and no hop with facts beside them
trajectories.in_order        these steps in this order
trajectories.any_order       all of these steps
trajectories.subset          no hop with facts beside these steps
trajectories.found           mean share of the expected steps that were found
courses.n                    questions with allowed courses; the object is null if there are none
courses.allowed              runs that took one of them, step by step
intervals.*                  95 % interval [low, high] of the figure of this name ("calls": of its mean)
---------------------------  -----------------------------------------------------------------------------------
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from iterative_rag.evaluation.metrics.per_question import (
    SCORES,
    Measure,
    Price,
    all_found_in,
    all_verified,
    answered_rightly,
    dollars,
    gave_answer,
    gave_facts,
    listed,
    read,
    recall_of,
    scorable,
    tokens,
    values_by_question,
)
from iterative_rag.evaluation.metrics.statistics import calibration, mean, mean_interval
from iterative_rag.evaluation.questions import Answerability
from iterative_rag.evaluation.records import Cause, JudgeVerdict, Outcome, QuestionRecord
from iterative_rag.evaluation.running.run_folder import RunFolder

_DIGITS = 6


def summarise(
    run: RunFolder | Sequence[QuestionRecord], *, price: Price | None = None, seed: int = 0
) -> dict[str, Any]:
    """The object that this module describes. `price` is only needed if the run has none of its own."""
    if isinstance(run, RunFolder):
        manifest, records = run.manifest, run.records
        price = price or tuple(manifest.get("price") or ()) or None
        expected = int(manifest["questions"]) * int(manifest["repeat"])
    else:
        records, expected = tuple(run), None
    answerable = [record for record in records if scorable(record)]
    measured = _Intervals(seed)
    figures: dict[str, Any] = {
        "n": len({record.id for record in records}),
        "answers": len(records),
        "expected": expected,
        "answerable": len({record.id for record in answerable}),
        **{name: measured.mean(name, answerable, measure) for name, measure in SCORES.items()},
        "unjudged": sum(record.scores.judge is JudgeVerdict.UNJUDGED for record in records),
        **{name: sum(record.outcome is outcome for record in records) for name, outcome in _OUTCOMES.items()},
        "unread": sum(bool(record.unread) and record.outcome is Outcome.ANSWERED for record in records),
        "by_cause": _by_cause(records),
        "by_type": _groups(answerable, lambda record: record.types, seed, largest_first=True),
        "by_gold": _groups(answerable, lambda record: (len(record.gold) + len(record.missing_gold),), seed),
        "by_hops": _groups(answerable, lambda record: (len(record.hops),), seed),
        "by_word": _groups(answerable, lambda record: filter(None, (record.confidence_word,)), seed),
        "by_ending": dict(Counter(sorted(record.reason_code for record in records if record.reason_code))),
        **_spending(records, price, measured),
        "citations": _citations(records, measured),
        "abstention": _abstention(records),
        "retrieval": _retrieval([record for record in records if record.kind is Answerability.ANSWERABLE], measured),
        "calibration": _calibration(records),
        "trajectories": _trajectories(records, measured),
        "courses": _courses(records, measured),
        "intervals": measured.intervals,
    }
    made: dict[str, Any] = rounded(figures)
    return made


_OUTCOMES = {
    "answered": Outcome.ANSWERED,
    "abstained": Outcome.ABSTAINED,
    "incomplete": Outcome.INCOMPLETE,
    "faults": Outcome.FAULT,
}


class _Intervals:
    """Works out means and keeps the interval of each beside it."""

    def __init__(self, seed: int) -> None:
        self.intervals: dict[str, list[float]] = {}
        self._seed = seed

    def mean(
        self, name: str, records: Iterable[QuestionRecord], measure: Measure, *, share: bool = True
    ) -> float | None:
        """The mean over questions, None without any value; the interval goes under `name`."""
        values = values_by_question(records, measure)
        if not values or (name == "judge" and not any(record.scores.judge for record in records)):
            return None
        self.intervals[name] = list(mean_interval(values, seed=self._seed, share=share))
        return mean(values)


# --- groups ----------------------------------------------------------------------------------


def _by_cause(records: Sequence[QuestionRecord]) -> dict[str, int]:
    counted = Counter(record.cause for record in records if record.cause is not None)
    return {cause.value: counted[cause] for cause in Cause if counted[cause]}


def _groups(
    records: Sequence[QuestionRecord],
    keys: Callable[[QuestionRecord], Iterable[object]],
    seed: int,
    *,
    largest_first: bool = False,
) -> dict[str, Any]:
    held: defaultdict[Any, list[QuestionRecord]] = defaultdict(list)
    for record in records:
        for key in dict.fromkeys(keys(record)):
            held[key].append(record)
    made = [(key, _group(held[key], seed)) for key in sorted(held)]
    if largest_first:
        made.sort(key=lambda group: -group[1]["n"])
    return {str(key): group for key, group in made}


def _group(records: Sequence[QuestionRecord], seed: int) -> dict[str, Any]:
    measured = _Intervals(seed)
    means = {name: measured.mean(name, records, SCORES[name]) for name in ("right", "em", "f1")}
    return {"n": len({record.id for record in records}), **means, "interval": measured.intervals.get("right")}


# --- cost ------------------------------------------------------------------------------------


def _spending(records: Sequence[QuestionRecord], price: Price | None, measured: _Intervals) -> dict[str, Any]:
    import numpy as np

    seconds = [record.spent.seconds for record in records]
    judging = [record.judging for record in records]
    return {
        "calls": _amount("calls", records, lambda record: record.spent.calls, measured),
        "tokens": {
            **_amount("tokens", records, tokens, measured),
            "prompt": sum(record.spent.prompt_tokens for record in records),
            "completion": sum(record.spent.completion_tokens for record in records),
        },
        "seconds": {
            **_amount("seconds", records, lambda record: record.spent.seconds, measured),
            "median": float(np.median(seconds)) if seconds else None,
            "p95": float(np.percentile(seconds, 95)) if seconds else None,
        },
        "cache_hits": _amount("cache_hits", records, lambda record: record.spent.cache_hits, measured),
        "judging": {
            "calls": sum(spent.calls for spent in judging),
            "tokens": sum(spent.prompt_tokens + spent.completion_tokens for spent in judging),
            "seconds": sum(spent.seconds for spent in judging),
        },
        "cost": _cost(records, price, measured),
    }


def _amount(
    name: str, records: Sequence[QuestionRecord], of: Callable[[QuestionRecord], float], measured: _Intervals
) -> dict[str, Any]:
    return {"total": sum(of(record) for record in records), "mean": measured.mean(name, records, of, share=False)}


def _cost(records: Sequence[QuestionRecord], price: Price | None, measured: _Intervals) -> dict[str, Any] | None:
    if price is None:
        return None
    amount = _amount("cost", records, lambda record: dollars(record, price), measured)
    right = sum(record.right is True for record in records)
    return {**amount, "right": amount["total"] / right if right else None}


# --- evidence --------------------------------------------------------------------------------


def _citations(records: Sequence[QuestionRecord], measured: _Intervals) -> dict[str, Any]:
    from iterative_rag.evaluation.scoring.citations import precision, recall

    given = [record for record in records if gave_answer(record)]
    citing = [record for record in given if record.citations]
    measures: dict[str, Measure] = {"precision": precision, "recall": recall, "verified": all_verified}
    figures = {name: measured.mean(f"citations.{name}", citing, measure) for name, measure in measures.items()}
    return {**figures, "uncited": len(given) - len(citing)}


def _abstention(records: Sequence[QuestionRecord]) -> dict[str, Any]:
    """Precision and recall of "this cannot be answered" as a class (SQuAD 2.0, Rajpurkar et al. 2018)."""
    unanswerable = [record for record in records if record.kind is not Answerability.ANSWERABLE]
    rightly = sum(record.outcome is Outcome.ABSTAINED for record in unanswerable)
    abstained = sum(record.outcome is Outcome.ABSTAINED for record in records)
    return {
        "precision": rightly / abstained if unanswerable and abstained else None,
        "recall": rightly / len(unanswerable) if unanswerable else None,
        "unanswerable": len({record.id for record in unanswerable}),
    }


def _retrieval(answerable: Sequence[QuestionRecord], measured: _Intervals) -> dict[str, Any]:
    with_gold = [record for record in answerable if record.gold]
    figures: dict[str, Any] = {
        "n": len({record.id for record in with_gold}),
        "missing": len({(record.id, title) for record in answerable for title in record.missing_gold}),
    }
    for name, documents in (("listed", listed), ("read", read), ("facts", gave_facts)):
        figures[name] = {
            "recall": measured.mean(f"retrieval.{name}.recall", with_gold, recall_of(documents)),
            "all_found": measured.mean(f"retrieval.{name}.all_found", with_gold, all_found_in(documents)),
        }
    return figures


def _trajectories(records: Sequence[QuestionRecord], measured: _Intervals) -> dict[str, Any] | None:
    from iterative_rag.evaluation.scoring.trajectories import check

    checked = {id(record): figures for record in records if (figures := check(record)) is not None}
    if not checked:
        return None
    followed = [record for record in records if id(record) in checked]

    def share(name: str) -> float | None:
        return measured.mean(f"trajectories.{name}", followed, lambda record: float(checked[id(record)][name]))

    names = ("exact", "in_order", "any_order", "subset", "found")
    return {"n": len({record.id for record in followed}), **{name: share(name) for name in names}}


def _courses(records: Sequence[QuestionRecord], measured: _Intervals) -> dict[str, Any] | None:
    from iterative_rag.evaluation.scoring.trajectories import allowed

    judged = [record for record in records if record.courses]
    if not judged:
        return None
    share = measured.mean("courses.allowed", judged, lambda record: float(bool(allowed(record))))
    return {"n": len({record.id for record in judged}), "allowed": share}


# --- trust -----------------------------------------------------------------------------------


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
            # Small p-values and prices keep six significant digits.
            return round(value, _DIGITS) if abs(value) >= 1e-3 else float(f"{value:.{_DIGITS}g}")
        case dict():
            return {key: rounded(inner) for key, inner in value.items()}
        case list() | tuple():
            return [rounded(inner) for inner in value]
    return value
