"""A comparison as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iterative_rag.evaluation.report.markdown_report import escaped, table_text
from iterative_rag.evaluation.report.report_tables import Table, number, percent, percent_range
from iterative_rag.evaluation.running.answer_modes import BOUNDS

_IDS_SHOWN = 20


def comparison(result: Mapping[str, Any]) -> str:
    """The result of `compare`: warnings, the runs, the best of them, and every pair."""
    parts = [
        "\n".join(f"> {escaped(warning)}" for warning in result["warnings"]),
        table_text(_runs(result["runs"])),
        "\n".join(escaped(_best(best)) for best in result["best"]),
        "Each pair on the questions that both answered (points; p by McNemar's exact test, corrected by Holm for "
        f"{len(result['pairs'])} pairs):",
        table_text(_pairs(result["pairs"])),
        "\n".join(_won_and_lost(result["pairs"])),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _runs(runs: Sequence[Mapping[str, Any]]) -> Table:
    rows = [
        (
            f"{run['name']} ({BOUNDS[run['mode']]})" if run["mode"] in BOUNDS else run["name"],
            str(run["n"]),
            percent(run["right"]),
            percent_range(run["interval"]),
            percent(run["f1"]),
            *(number(run[what]) for what in ("calls", "tokens", "seconds")),
        )
        for run in runs
    ]
    return Table("", ("run", "questions", "right", "95 %", "F1", "calls", "tokens", "seconds"), tuple(rows))


def _best(best: Mapping[str, Any]) -> str:
    """`Best: full, 34.2 % right at 9 calls and 1.2 s an answer. Too few questions to tell it from ...`"""
    said = f"Best: {best['run']}, {_at_cost(best)}."
    for run in best["level"]:
        said += f" Too few questions to tell it from {run['run']}, {_at_cost(run)} ({run['n']}, p {_p(run['p'])})."
    return said


def _at_cost(run: Mapping[str, Any]) -> str:
    return f"{percent(run['right'])} right at {number(run['calls'])} calls and {number(run['seconds'])} s an answer"


def _pairs(pairs: Sequence[Mapping[str, Any]]) -> Table:
    rows = [
        (
            f"{pair['first']} → {pair['second']}",
            str(pair["n"]),
            *_points(pair["right"]),
            _p(pair["right"]["p"]),
            _p(pair["right"]["p_holm"]),
            str(len(pair["won"])),
            str(len(pair["lost"])),
            *_points(pair["f1"]),
        )
        for pair in pairs
    ]
    return Table("", ("runs", "n", "right", "95 %", "p", "Holm", "won", "lost", "F1", "95 %"), tuple(rows))


def _points(difference: Mapping[str, Any]) -> tuple[str, str]:
    """A difference of shares in percentage points, and its interval."""
    low, high = difference["interval"]
    return f"{100 * difference['difference']:+.1f}", f"{100 * low:+.1f} … {100 * high:+.1f}"


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _won_and_lost(pairs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for pair in pairs:
        for what in ("won", "lost"):
            if ids := pair[what]:
                more = f" and {len(ids) - _IDS_SHOWN} more" if len(ids) > _IDS_SHOWN else ""
                shown = ", ".join(escaped(question, 60) for question in ids[:_IDS_SHOWN])
                yield f"- {escaped(pair['first'])} → {escaped(pair['second'])}, {what}: {shown}{more}"
