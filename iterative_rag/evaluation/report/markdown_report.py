"""Reports and comparisons as Markdown, whose tables are also readable as plain text."""

from __future__ import annotations

import re

from iterative_rag.evaluation.report.report_tables import Report, Table, lost, tables
from iterative_rag.evaluation.report.run_description import notes, what_was_run
from iterative_rag.text.control_characters import one_line

# All of HTML, links, images, emphasis, code, tables and headings begins with one of these; so do bare addresses.
# An underscore inside a word and brackets that follow none are plain text: names stay readable in a terminal.
_MEANINGFUL = re.compile(r"([\\`*{}\[\]<>#|~!&@]|(?<!\w)_|_(?!\w)|:(?=//)|(?<=www)\.)")
_LONGEST = 200  # characters of a text in a table


def markdown(report: Report, *, figures_only: bool = False) -> str:
    """The report; `figures_only` leaves out every text of a question, an answer or an article."""
    parts = [f"# {escaped(report.run.name)}"]
    parts.append(
        "\n".join(f"- {label}: {escaped(value)}" for label, value in what_was_run(report.run.manifest, report.summary))
    )
    if caveats := notes(report.run.manifest, report.summary):
        parts.append("\n".join(f"> {escaped(note)}" for note in caveats))
    parts += [_section(table) for table in tables(report)]
    if not figures_only:
        parts.append(_section(lost(report)))
    return "\n\n".join(parts) + "\n"


def _section(table: Table) -> str:
    parts = [f"## {table.heading}", escaped(table.intro), table_text(table)]
    parts.append("\n".join(f"- {escaped(note)}" for note in table.notes))
    return "\n\n".join(part for part in parts if part)


def escaped(text: str, limit: int = 2000) -> str:
    """Text escaped for Markdown, on one line."""
    line = one_line(text)
    return _MEANINGFUL.sub(r"\\\1", line if len(line) <= limit else line[: limit - 1].rstrip() + "…")


def table_text(table: Table) -> str:
    """The rows with their columns aligned: all but the first to the right, unless they are `texts`."""
    if not table.rows:
        return "None."
    rows = [table.columns, *(tuple(escaped(cell, _LONGEST) for cell in row) for row in table.rows)]
    widths = [max(3, *(len(row[at]) for row in rows)) for at in range(len(table.columns))]
    left = [table.texts or at == 0 for at in range(len(table.columns))]
    ruler = ["-" * (width + 2) if flush else "-" * (width + 1) + ":" for width, flush in zip(widths, left, strict=True)]
    lines = []
    for row in rows:
        aligned = zip(row, widths, left, strict=True)
        lines.append(" | ".join(cell.ljust(width) if flush else cell.rjust(width) for cell, width, flush in aligned))
    drawn = [f"| {line} |" for line in lines]
    return "\n".join([drawn[0], "|" + "|".join(ruler) + "|", *drawn[1:]])
