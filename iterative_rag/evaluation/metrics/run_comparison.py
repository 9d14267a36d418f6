"""Compares runs over the same questions: what differs, how significant that is, and what it costs.

Everything is paired over the answerable questions that both runs answered: McNemar's exact test for right and wrong,
the paired bootstrap for the size of a difference. A question that a judge could not judge in either run is left out.

key                          meaning
---------------------------  -----------------------------------------------------------------------------------
runs[].name                  the run's folder, as short as it is unique
runs[].mode
runs[].backend
runs[].judge                 "" for none
runs[].n                     answerable questions that the run answered
runs[].right                 share answered rightly of its own questions; null where none could be judged
runs[].f1
runs[].interval              95 % interval of `right`
runs[].calls                 mean calls of an answer
runs[].tokens                mean tokens of an answer
runs[].seconds               mean seconds of an answer
runs[].differs.*             options and settings that are not the same in all runs
best[].runs[]                runs that were compared: those that have questions in common, without bounds (oracle)
best[].run                   the one that answers most rightly
best[].right                 share answered rightly by it
best[].calls                 mean calls of an answer
best[].seconds
best[].cheapest              the cheapest run that is not surely worse: p_holm from 0.05, its interval from -0.1 on
best[].cheapest_right
best[].cheapest_calls
best[].cheapest_seconds
best[].untold[].run          a run that may be as good or much worse: it shares too few questions with the best one
best[].untold[].n            the questions that both share
best[].untold[].low          its difference from the best one, 95 % interval
best[].untold[].high
best[].untold[].p            Holm's p of the difference
warnings[]                   why the runs cannot quite be compared
pairs[].first                the run that the other is compared with
pairs[].second
pairs[].n                    questions that count: answered by both, judged in both
pairs[].right.first          share answered rightly by the first
pairs[].right.second
pairs[].right.difference     second - first
pairs[].right.interval       its 95 % interval, by the paired bootstrap
pairs[].right.p              McNemar's exact test, two-sided
pairs[].right.p_holm         corrected by Holm's method for all pairs of this comparison
pairs[].f1.first             F1 of the first
pairs[].f1.second
pairs[].f1.difference
pairs[].f1.interval
pairs[].won[]                ids of questions that the second answers rightly (more often), the first does not
pairs[].lost[]               the other way round
pairs[].both                 questions with the same result: right in both (at least once)
pairs[].neither              right in neither
pairs[].ratios.calls         the second's over the first's, on these questions; null where the first has none
pairs[].ratios.tokens
pairs[].ratios.seconds
pairs[].ratios.cost          null without prices of both
---------------------------  -----------------------------------------------------------------------------------
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from iterative_rag.errors import UsageError
from iterative_rag.evaluation.metrics.per_question import (
    SCORES,
    Measure,
    answered_rightly,
    dollars,
    scorable,
    tokens,
    values_by_question,
)
from iterative_rag.evaluation.metrics.statistics import holm, mcnemar, mean, mean_interval, paired_difference
from iterative_rag.evaluation.metrics.summary import rounded
from iterative_rag.evaluation.records import QuestionRecord
from iterative_rag.evaluation.running.answer_modes import BOUNDS
from iterative_rag.evaluation.running.run_folder import RunFolder
from iterative_rag.text.plurals import counted


def compare(runs: Sequence[RunFolder], *, seed: int = 0) -> dict[str, Any]:
    """The object that this module describes; pairs are in the order of the runs, those with the first one first.

    Raises UsageError for fewer than two runs and for runs without any common question.
    """
    if len(runs) < 2:
        raise UsageError("There is nothing to compare.", hint="iterative-rag evaluate compare DIR DIR")
    names = unique_names([run.path for run in runs])
    named = list(zip(names, runs, strict=True))
    made = [_pair(first, second, seed) for first, second in itertools.combinations(named, 2)]
    pairs = [pair for pair in made if pair is not None]
    if not pairs:
        raise UsageError(
            "These runs have no question in common that both answered.", hint="Compare runs over the same dataset."
        )
    for pair, corrected in zip(pairs, holm([pair["right"]["p"] for pair in pairs]), strict=True):
        pair["right"]["p_holm"] = corrected
    overviews = [
        {**_overview(name, run, seed), "differs": differs}
        for (name, run), differs in zip(named, differing(runs), strict=True)
    ]
    comparison: dict[str, Any] = rounded(
        {"runs": overviews, "best": _best(overviews, pairs), "warnings": warnings(runs), "pairs": pairs}
    )
    return comparison


def unique_names(paths: Sequence[Path]) -> list[str]:
    """The folders' names, with as many of their parents as it takes to tell them apart."""
    parts = [path.absolute().parts for path in paths]
    for length in range(1, max(map(len, parts)) + 1):
        names = ["/".join(of_one[-length:]) for of_one in parts]
        if len(set(names)) == len(names):
            return names
    raise UsageError("The same run is given twice.", hint="Give different folders.")


def differing(runs: Sequence[RunFolder]) -> list[dict[str, Any]]:
    """For each run its options and settings that differ from those of another run."""
    flat = [_options(run.manifest) for run in runs]
    keys = dict.fromkeys(key for of_one in flat for key in of_one)
    varied = [key for key in keys if any(of_one.get(key) != flat[0].get(key) for of_one in flat)]
    return [{key: of_one.get(key) for key in varied} for of_one in flat]


def _options(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Flat; a setting with the name of an option (`seed`) keeps its prefix."""
    settings: Mapping[str, Any] = manifest.get("settings", {})
    named = {f"settings.{key}" if key in manifest else key: value for key, value in settings.items()}
    return {key: value for key, value in {**manifest, **named}.items() if key not in _NO_OPTIONS}


_NO_OPTIONS = frozenset({"started", "versions", "settings", "dataset", "corpus", "prompts", "questions", "excluded"})


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


def _overview(name: str, run: RunFolder, seed: int) -> dict[str, Any]:
    records = _answerable(run)
    right = values_by_question(records, answered_rightly)
    spent = {what: values_by_question(run.records, of) for what, of in _SPENT.items()}
    return {
        "name": name,
        "mode": run.manifest.get("mode", ""),
        "backend": run.manifest.get("backend", ""),
        "judge": run.manifest.get("judge", ""),
        "n": len({record.id for record in records}),
        "right": mean(right) if right else None,
        "f1": mean(values_by_question(records, SCORES["f1"])) if records else None,
        "interval": list(mean_interval(right, seed=seed)) if right else None,
        **{what: mean(values) if values else None for what, values in spent.items()},
    }


_SPENT: dict[str, Measure] = {
    "calls": lambda record: record.spent.calls,
    "tokens": tokens,
    "seconds": lambda record: record.spent.seconds,
}


# --- pairs -----------------------------------------------------------------------------------


def _by_id(run: RunFolder) -> dict[str, list[QuestionRecord]]:
    """The judged answers to each answerable question."""
    held: defaultdict[str, list[QuestionRecord]] = defaultdict(list)
    for record in _answerable(run):
        if answered_rightly(record) is not None:
            held[record.id].append(record)
    return held


def _pair(first: tuple[str, RunFolder], second: tuple[str, RunFolder], seed: int) -> dict[str, Any] | None:
    """None where the two have no question in common."""
    before, after = _by_id(first[1]), _by_id(second[1])
    common = [question for question in before if question in after]
    if not common:
        return None
    right = [_scores(of_run, common, answered_rightly) for of_run in (before, after)]
    f1 = [_scores(of_run, common, SCORES["f1"]) for of_run in (before, after)]
    won = [question for question, score, other in zip(common, *right, strict=True) if other > score]
    lost = [question for question, score, other in zip(common, *right, strict=True) if other < score]
    same = [score for score, other in zip(*right, strict=True) if score == other]
    return {
        "first": first[0],
        "second": second[0],
        "n": len(common),
        "right": {**_difference(right, seed), "p": mcnemar(len(won), len(lost))},
        "f1": _difference(f1, seed),
        "won": won,
        "lost": lost,
        "both": sum(score > 0 for score in same),
        "neither": sum(score == 0 for score in same),
        "ratios": _ratios(first[1], second[1], set(common)),
    }


def _scores(of_run: dict[str, list[QuestionRecord]], questions: Sequence[str], measure: Measure) -> list[float]:
    """One value per question, in the order of `questions`."""
    return values_by_question((record for question in questions for record in of_run[question]), measure)


def _difference(values: Sequence[Sequence[float]], seed: int) -> dict[str, Any]:
    first, second = values
    difference, interval = paired_difference(first, second, seed=seed)
    return {"first": mean(first), "second": mean(second), "difference": difference, "interval": list(interval)}


def _ratios(first: RunFolder, second: RunFolder, questions: set[str]) -> dict[str, float | None]:
    ratios = {
        what: _ratio(_mean_of(first, questions, of), _mean_of(second, questions, of)) for what, of in _SPENT.items()
    }
    prices = [run.manifest.get("price") for run in (first, second)]
    cost = None
    if all(prices):
        cost = _ratio(*(_mean_of(run, questions, _dollars_of(run)) for run in (first, second)))
    return {**ratios, "cost": cost}


def _dollars_of(run: RunFolder) -> Measure:
    price = run.manifest["price"]
    return lambda record: dollars(record, (float(price[0]), float(price[1])))


def _mean_of(run: RunFolder, questions: set[str], measure: Measure) -> float:
    return mean(values_by_question((record for record in run.records if record.id in questions), measure))


def _ratio(first: float, second: float) -> float | None:
    return second / first if first else None


# --- the best run ----------------------------------------------------------------------------

SURE = 0.05
# A run is called as good only where its interval rules out that it answers so much less: a test on few questions finds
# no difference either.
_MARGIN = 0.1


def _best(runs: Sequence[Mapping[str, Any]], pairs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One entry for each set of runs that share questions, in the order of the runs; none for a run alone.

    Between equally accurate runs the cheaper one is best; upper and lower bounds are left out.
    """
    entries = []
    for names in _sets(runs, pairs):
        judged = [run for run in runs if run["name"] in names and run["right"] is not None and not bound(run)]
        if len(judged) < 2:
            continue
        winner = min(judged, key=lambda run: (-run["right"], *_cost_of(run)))
        level, untold = [winner], []
        for run in judged:
            against = _against(run["name"], winner["name"], pairs)
            if run is winner or against is None or against["p"] < SURE:  # itself, not comparable, or surely worse
                continue
            if against["low"] < -_MARGIN:
                untold.append(against)
            else:
                level.append(run)
        cheapest = min(level, key=_cost_of)
        entries.append(
            {
                "runs": [run["name"] for run in judged],
                "run": winner["name"],
                **{what: winner[what] for what in ("right", "calls", "seconds")},
                "cheapest": cheapest["name"],
                **{f"cheapest_{what}": cheapest[what] for what in ("right", "calls", "seconds")},
                "untold": untold,
            }
        )
    return entries


def bound(run: Mapping[str, Any]) -> str:
    """`upper bound` or `lower bound`; "" for a run that competes."""
    return BOUNDS.get(run["mode"], "")


def _cost_of(run: Mapping[str, Any]) -> tuple[float, float]:
    return run["calls"] or 0.0, run["seconds"] or 0.0


def _sets(runs: Sequence[Mapping[str, Any]], pairs: Sequence[Mapping[str, Any]]) -> list[set[str]]:
    """The names of runs that are joined by pairs, directly or not."""
    sets = [{str(run["name"])} for run in runs]
    for pair in pairs:
        group, other = (next(names for names in sets if pair[side] in names) for side in ("first", "second"))
        if group is not other:
            group |= other
            sets.remove(other)
    return sets


def _against(run: str, winner: str, pairs: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """How a run differs from the winner; None where they have no question in common."""
    pair = next((pair for pair in pairs if {pair["first"], pair["second"]} == {run, winner}), None)
    if pair is None:
        return None
    low, high = pair["right"]["interval"]
    if pair["first"] == run:
        low, high = -high, -low
    return {"run": run, "n": pair["n"], "low": low, "high": high, "p": pair["right"]["p_holm"]}
