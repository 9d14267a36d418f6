"""Reports and comparisons as Markdown, whose tables are also readable as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iterative_rag.evaluation.answer_modes import BOUNDS
from iterative_rag.evaluation.report_tables import (
    Report,
    Table,
    notes,
    number,
    percent,
    percent_range,
    tables,
    what_was_run,
)
from iterative_rag.text.control_characters import one_line

# All of HTML, links, images, emphasis, code, tables and headings begins with one of these; so do bare addresses.
# An underscore inside a word and brackets that follow none are plain text: names stay readable in a terminal.
_MEANINGFUL = re.compile(r"([\\`*{}\[\]<>#|~!&@]|(?<!\w)_|_(?!\w)|:(?=//)|(?<=www)\.)")
_LONGEST = 200  # characters of a text in a table


def markdown(report: Report) -> str:
    """The figures of the report, without any text of a question, an answer or an article: those are on the page."""
    manifest, summary = report.run.manifest, report.summary
    parts = [
        f"# {escaped(report.run.name)}",
        "\n".join(f"- {label}: {escaped(value)}" for label, value in what_was_run(manifest, summary)),
        "\n".join(f"> {escaped(note)}" for note in notes(manifest, summary)),
        *map(_section, tables(report)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(table: Table) -> str:
    parts = [f"## {table.heading}", escaped(table.intro), table_text(table)]
    parts.append("\n".join(f"- {escaped(note)}" for note in table.notes))
    return "\n\n".join(part for part in parts if part)


def escaped(text: str, limit: int = 2000) -> str:
    """Text escaped for Markdown, on one line."""
    line = one_line(text)
    return _MEANINGFUL.sub(r"\\\1", line if len(line) <= limit else line[: limit - 1].rstrip() + "…")


def table_text(table: Table) -> str:
    """The rows with their columns aligned: all but the first to the right."""
    rows = [table.columns, *(tuple(escaped(cell, _LONGEST) for cell in row) for row in table.rows)]
    widths = [max(3, *(len(row[at]) for row in rows)) for at in range(len(table.columns))]
    ruler = ["-" * (width + 2) if at == 0 else "-" * (width + 1) + ":" for at, width in enumerate(widths)]
    lines = []
    for row in rows:
        first, *others = zip(row, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([lines[0], f"|{'|'.join(ruler)}|", *lines[1:]])


# --- comparisons ---------------------------------------------------------------------------------


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
