"""Which of several runs over the same questions is best, and at which cost; `run_comparison.py` describes the keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SURE = 0.05


def best(runs: Sequence[Mapping[str, Any]], pairs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One entry for each set of runs that share questions, in the order of the runs; none for a run alone.

    `runs` and `pairs` are those of `compare`. Between equally accurate runs the cheaper one is best.
    """
    found = []
    for names in _sets(runs, pairs):
        judged = [run for run in runs if run["name"] in names and run["right"] is not None]
        if len(judged) < 2:
            continue
        winner = min(judged, key=lambda run: (-run["right"], *_cost(run)))
        level = [run for run in judged if run is winner or not _surely_differ(run["name"], winner["name"], pairs)]
        cheapest = min(level, key=_cost)
        found.append(
            {
                "runs": [run["name"] for run in judged],
                "run": winner["name"],
                **{what: winner[what] for what in ("right", "calls", "seconds")},
                "cheapest": cheapest["name"],
                **{f"cheapest_{what}": cheapest[what] for what in ("right", "calls", "seconds")},
            }
        )
    return found


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


def _surely_differ(one: str, other: str, pairs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the difference is significant; runs without a common question count as different."""
    pair = next((pair for pair in pairs if {pair["first"], pair["second"]} == {one, other}), None)
    return pair is None or pair["right"]["p_holm"] < SURE
