"""Reports and comparisons as Markdown, whose tables are also readable as plain text."""

from __future__ import annotations

import re

from iterative_rag.evaluation.report.report_tables import Report, Table, tables
from iterative_rag.evaluation.report.run_description import notes, what_was_run
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
