"""A comparison as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iterative_rag.evaluation.metrics.run_comparison import bound
from iterative_rag.evaluation.report.formatting import (
    NOTHING,
    number,
    percent,
    percent_range,
    points,
    points_range,
    probability,
)
from iterative_rag.evaluation.report.markdown_report import escaped, table

_IDS_SHOWN = 20


def comparison(result: Mapping[str, Any]) -> str:
    """The result of `compare`: the runs, each against the first, and the other pairs."""
    first = result["runs"][0]["name"]
    against = [pair for pair in result["pairs"] if pair["first"] == first]
    others = [pair for pair in result["pairs"] if pair["first"] != first]
    parts = ["\n".join(f"> {escaped(warning)}" for warning in result["warnings"])] if result["warnings"] else []
    parts += [_runs(result["runs"])]
    parts += ["\n".join(_best(best) for best in result["best"])] if result["best"] else []
    if against:
        parts += [f"Against {escaped(first)}, on the questions that both answered (points, p by McNemar's exact test):"]
        parts += [_pairs(against, [pair["second"] for pair in against]), *_won_and_lost(against)]
    if others:
        names = [f"{pair['first']} → {pair['second']}" for pair in others]
        parts += ["The other pairs:", _pairs(others, names)]
    if len(result["pairs"]) > 1:
        parts += [f"Holm: corrected for {len(result['pairs'])} pairs."]
    return "\n\n".join(parts) + "\n"


def _runs(runs: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        [
            escaped(run["name"]) + (f" ({bound(run)})" if bound(run) else ""),
            str(run["n"]),
            percent(run["right"]),
            percent_range(run["interval"]),
            percent(run["f1"]),
            *(number(run[what]) for what in ("calls", "tokens", "seconds")),
        ]
        for run in runs
    ]
    shown = table(["run", "questions", "right", "95 %", "F1", "calls", "tokens", "seconds"], rows)
    differing = [(run["name"], run["differs"]) for run in runs if run["differs"]]
    told = [
        f"- {escaped(name)}: {escaped(', '.join(f'{key} {value}' for key, value in differs.items()))}"
        for name, differs in differing
    ]
    return "\n\n".join([shown, "\n".join(told)]) if told else shown


def _best(best: Mapping[str, Any]) -> str:
    """`Best: full, 34.2 % right at 0 calls and 1.2 s an answer. Cheapest that is not surely worse: ...`; `Most right`
    where there are too few questions to call it best."""
    untold = best["untold"]
    said = f"{'Most right' if untold else 'Best'}: {escaped(best['run'])}, "
    said += _at_cost(best["right"], best["calls"], best["seconds"])
    if best["cheapest"] != best["run"]:
        cheaper = _at_cost(best["cheapest_right"], best["cheapest_calls"], best["cheapest_seconds"])
        said += f". Cheapest that is not surely worse: {escaped(best['cheapest'])}, {cheaper}"
    elif not untold:
        said += "; none that is cheaper comes near it"
    for run in untold:
        said += f". Too few questions to tell ({run['n']}) whether {escaped(run['run'])} is as good: "
        said += f"{_apart(run['low'])} to {_apart(run['high'])} (95 %), p {probability(run['p'])}"
    return f"{said}."


def _apart(difference: float) -> str:
    """`-0.25` as `25 points worse`."""
    apart = f"{100 * abs(difference):.0f}"
    return "equal" if apart == "0" else f"{apart} points {'worse' if difference < 0 else 'better'}"


def _at_cost(right: float, calls: float | None, seconds: float | None) -> str:
    return f"{percent(right)} right at {number(calls)} calls and {number(seconds)} s an answer"


def _pairs(pairs: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    headers = [
        "run",
        "n",
        "right",
        "95 %",
        "p",
        "Holm",
        "won",
        "lost",
        "F1",
        "95 %",
        "calls",
        "tokens",
        "seconds",
        "cost",
    ]
    rows = [
        [
            escaped(name),
            str(pair["n"]),
            points(pair["right"]["difference"]),
            points_range(pair["right"]["interval"]),
            probability(pair["right"]["p"]),
            probability(pair["right"]["p_holm"]),
            str(len(pair["won"])),
            str(len(pair["lost"])),
            points(pair["f1"]["difference"]),
            points_range(pair["f1"]["interval"]),
            *(_times(pair["ratios"][what]) for what in ("calls", "tokens", "seconds", "cost")),
        ]
        for name, pair in zip(names, pairs, strict=True)
    ]
    return table(headers, rows)


def _times(ratio: float | None) -> str:
    return NOTHING if ratio is None else f"× {number(ratio)}"


def _won_and_lost(pairs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    lines = [
        f"- {escaped(pair['second'])} {what}: {_ids(pair[what])}"
        for pair in pairs
        for what in ("won", "lost")
        if pair[what]
    ]
    if lines:
        yield "\n".join(lines)


def _ids(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _IDS_SHOWN} more" if len(ids) > _IDS_SHOWN else ""
    return ", ".join(escaped(question_id, 60) for question_id in ids[:_IDS_SHOWN]) + more
