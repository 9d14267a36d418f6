"""Which of several runs over the same questions is best, and at which cost; `run_comparison.py` describes the keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from iterative_rag.evaluation.running.answer_modes import BOUNDS

SURE = 0.05
# A run is called as good only where its interval rules out that it answers so much less: a test on few questions finds
# no difference either.
_MARGIN = 0.1


def best(runs: Sequence[Mapping[str, Any]], pairs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One entry for each set of runs that share questions, in the order of the runs; none for a run alone.

    `runs` and `pairs` are those of `compare`. Between equally accurate runs the cheaper one is best; upper and lower
    bounds are left out.
    """
    found = []
    for names in _sets(runs, pairs):
        judged = [run for run in runs if run["name"] in names and run["right"] is not None and not bound(run)]
        if len(judged) < 2:
            continue
        winner = min(judged, key=lambda run: (-run["right"], *_cost(run)))
        level, untold = [winner], []
        for run in judged:
            against = _against(run["name"], winner["name"], pairs)
            if run is winner or against is None or against["p"] < SURE:  # itself, not comparable, or surely worse
                continue
            if against["low"] < -_MARGIN:
                untold.append(against)
            else:
                level.append(run)
        cheapest = min(level, key=_cost)
        found.append(
            {
                "runs": [run["name"] for run in judged],
                "run": winner["name"],
                **{what: winner[what] for what in ("right", "calls", "seconds")},
                "cheapest": cheapest["name"],
                **{f"cheapest_{what}": cheapest[what] for what in ("right", "calls", "seconds")},
                "untold": untold,
            }
        )
    return found


def bound(run: Mapping[str, Any]) -> str:
    """`upper bound` or `lower bound`; "" for a run that competes."""
    return BOUNDS.get(run["mode"], "")


def _cost(run: Mapping[str, Any]) -> tuple[float, float]:
    return run["calls"] or 0.0, run["seconds"] or 0.0


def _sets(runs: Sequence[Mapping[str, Any]], pairs: Sequence[Mapping[str, Any]]) -> list[set[str]]:
    """The names of runs that are joined by pairs, directly or not."""
    sets = [{str(run["name"])} for run in runs]
    for pair in pairs:
        one, other = (next(names for names in sets if pair[side] in names) for side in ("first", "second"))
        if one is not other:
            one |= other
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
