"""Compares runs over the same questions: what differs, how significant that is, and what it costs.

The keys of the result are described in docs/measuring.md.
"""

from __future__ import annotations

import itertools
import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from iterative_rag.errors import UsageError
from iterative_rag.evaluation.answer_modes import BOUNDS
from iterative_rag.evaluation.records import QuestionRecord
from iterative_rag.evaluation.run_folder import RunFolder
from iterative_rag.evaluation.statistics import holm, mcnemar, mean_interval, paired_difference, rounded
from iterative_rag.evaluation.summary import SPENDING, Measure, answered_rightly, f1, scorable, values_by_question
from iterative_rag.text.plurals import counted


def compare(runs: Sequence[RunFolder]) -> dict[str, Any]:
    """The object that docs/measuring.md describes; pairs are in the order of the runs, those with the first one first.

    Raises UsageError for fewer than two runs and for runs without any common question.
    """
    if len(runs) < 2:
        raise UsageError("There is nothing to compare.", hint="iterative-rag evaluate compare DIR DIR")
    paths = [run.path.absolute() for run in runs]
    if len(set(paths)) < len(paths):
        raise UsageError("The same run is given twice.", hint="Give different folders.")
    shared = os.path.commonpath([path.parent for path in paths])
    names = [str(path.relative_to(shared)) for path in paths]
    named = list(zip(names, runs, strict=True))
    made = [_pair(first, second) for first, second in itertools.combinations(named, 2)]
    pairs = [pair for pair in made if pair is not None]
    if not pairs:
        raise UsageError(
            "These runs have no question in common that both answered.", hint="Compare runs over the same dataset."
        )
    for pair, corrected in zip(pairs, holm([pair["right"]["p"] for pair in pairs]), strict=True):
        pair["right"]["p_holm"] = corrected
    overviews = [_overview(name, run) for name, run in named]
    comparison: dict[str, Any] = rounded(
        {"runs": overviews, "best": _best(runs, overviews, pairs), "warnings": warnings(runs), "pairs": pairs}
    )
    return comparison


def warnings(runs: Sequence[RunFolder]) -> list[str]:
    """Sentences about what makes a comparison of these runs doubtful; empty if nothing does."""
    sentences = []
    for what, value in _CONDITIONS.items():
        if len({str(value(run)) for run in runs}) > 1:
            sentences.append(f"The runs have different {what}: " + ", ".join(str(value(run)) for run in runs) + ".")
    asked = [{record.id for record in _answerable(run)} for run in runs]
    if any(ids != asked[0] for ids in asked):
        common = len(set.intersection(*asked))
        sizes = ", ".join(str(len(ids)) for ids in asked)
        sentences.append(f"The runs answered different questions ({sizes}); {common} are common to all and count.")
    for run in runs:
        if not run.complete:
            sentences.append(f"The run {run.name} is not finished: {counted(len(run.records), 'answer')}.")
        if run.manifest.get("self_judged"):
            sentences.append(f"In the run {run.name} the model may have judged its own answers.")
    return sentences


_CONDITIONS: dict[str, Callable[[RunFolder], object]] = {
    "judges": lambda run: run.manifest.get("judge") or "none",
    "datasets": lambda run: f"{run.manifest['dataset']['name']} ({str(run.manifest['dataset']['digest'])[:12]})",
    "corpora": lambda run: f"{run.manifest['corpus']['name']} ({str(run.manifest['corpus']['fingerprint'])[:12]})",
    "numbers of answers to a question": lambda run: run.manifest.get("repeat", 1),
}


def _answerable(run: RunFolder) -> list[QuestionRecord]:
    return [record for record in run.records if scorable(record)]


def _overview(name: str, run: RunFolder) -> dict[str, Any]:
    records = _answerable(run)
    right = values_by_question(records, answered_rightly)
    spent = {figure.key: values_by_question(run.records, figure.of) for figure in SPENDING if figure.key in _SPENT}
    return {
        "name": name,
        "mode": run.manifest.get("mode", ""),
        "backend": run.manifest.get("backend", ""),
        "judge": run.manifest.get("judge", ""),
        "n": len({record.id for record in records}),
        "right": fmean(right) if right else None,
        "f1": fmean(values_by_question(records, f1)) if records else None,
        "interval": list(mean_interval(right)) if right else None,
        **{what: fmean(values) if values else None for what, values in spent.items()},
    }


_SPENT = ("calls", "tokens", "seconds")


# --- pairs -----------------------------------------------------------------------------------


def _by_id(run: RunFolder) -> dict[str, list[QuestionRecord]]:
    """The judged answers to each answerable question."""
    held: defaultdict[str, list[QuestionRecord]] = defaultdict(list)
    for record in _answerable(run):
        if answered_rightly(record) is not None:
            held[record.id].append(record)
    return held


def _pair(first: tuple[str, RunFolder], second: tuple[str, RunFolder]) -> dict[str, Any] | None:
    """None where the two have no question in common."""
    before, after = _by_id(first[1]), _by_id(second[1])
    common = [question for question in before if question in after]
    if not common:
        return None
    right = [_scores(of_run, common, answered_rightly) for of_run in (before, after)]
    words = [_scores(of_run, common, f1) for of_run in (before, after)]
    won = [question for question, score, other in zip(common, *right, strict=True) if other > score]
    lost = [question for question, score, other in zip(common, *right, strict=True) if other < score]
    return {
        "first": first[0],
        "second": second[0],
        "n": len(common),
        "right": {**_difference(right), "p": mcnemar(len(won), len(lost))},
        "f1": _difference(words),
        "won": won,
        "lost": lost,
    }


def _scores(of_run: dict[str, list[QuestionRecord]], questions: Sequence[str], measure: Measure) -> list[float]:
    """One value per question, in the order of `questions`."""
    return values_by_question((record for question in questions for record in of_run[question]), measure)


def _difference(values: Sequence[Sequence[float]]) -> dict[str, Any]:
    first, second = values
    difference, interval = paired_difference(first, second)
    return {"first": fmean(first), "second": fmean(second), "difference": difference, "interval": list(interval)}


# --- the best run ----------------------------------------------------------------------------

SURE = 0.05


def _best(
    runs: Sequence[RunFolder], overviews: Sequence[Mapping[str, Any]], pairs: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """One entry for each dataset with two runs or more that compete; of equally good ones the cheaper is best."""
    competing: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for run, overview in zip(runs, overviews, strict=True):
        if overview["right"] is not None and overview["mode"] not in BOUNDS:
            competing[run.manifest["dataset"]["digest"]].append(overview)
    p_of = {frozenset((pair["first"], pair["second"])): (pair["right"]["p_holm"], pair["n"]) for pair in pairs}
    entries = []
    for entrants in competing.values():
        if len(entrants) < 2:
            continue
        winner = min(entrants, key=lambda run: (-run["right"], run["calls"] or 0.0, run["seconds"] or 0.0))
        level = []
        for entrant in entrants:
            p, n = p_of.get(frozenset((winner["name"], entrant["name"])), (0.0, 0))
            if entrant is not winner and p >= SURE:
                level.append({"run": entrant["name"], "n": n, "p": p, **_at_cost(entrant)})
        entries.append({"run": winner["name"], **_at_cost(winner), "level": level})
    return entries


def _at_cost(run: Mapping[str, Any]) -> dict[str, Any]:
    return {what: run[what] for what in ("right", "calls", "seconds")}
