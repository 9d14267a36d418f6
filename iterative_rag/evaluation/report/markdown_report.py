"""A report as Markdown, whose tables are also readable as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from iterative_rag.evaluation.records import QuestionRecord
from iterative_rag.evaluation.report import report_tables
from iterative_rag.evaluation.report.formatting import NOTHING, number, percent, visible
from iterative_rag.evaluation.report.published_figures import differences
from iterative_rag.evaluation.report.report_tables import Report, Share
from iterative_rag.text.plurals import counted

# All of HTML, links, images, emphasis, code, tables and headings begins with one of these; so do bare addresses.
# An underscore inside a word and brackets that follow none are plain text: names stay readable in a terminal.
_MEANINGFUL = re.compile(r"([\\`*{}\[\]<>#|~!&@]|(?<!\w)_|_(?!\w)|:(?=//)|(?<=www)\.)")
_LONGEST = 200  # characters of a question or an answer in a table


def markdown(report: Report, *, figures_only: bool = False) -> str:
    """The report; `figures_only` leaves out every text of a question, an answer or an article."""
    parts = [f"# {escaped(report.run.name)}", *_opening(report), *_scores(report), *_published(report)]
    parts += _failures(report)
    for heading, rows in report_tables.groups(report):
        parts += [
            f"## {heading}",
            table(["", "questions", "right", "95 %"], [_share(row, with_n=True) for row in rows]),
        ]
    parts += [*_evidence(report), *_cost(report), *_calibration(report)]
    if not figures_only:
        parts += _lost(report)
    return "\n\n".join(parts) + "\n"


def escaped(text: str, limit: int | None = None) -> str:
    """Text escaped for Markdown, on one line."""
    return _MEANINGFUL.sub(r"\\\1", visible(text, limit))


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, texts: bool = False) -> str:
    """A table with its columns aligned: all but the first to the right, unless they are `texts`."""
    widths = [max(3, *(len(row[at]) for row in [headers, *rows])) for at in range(len(headers))]
    left = [texts or at == 0 for at in range(len(headers))]

    def line(cells: Sequence[str]) -> str:
        aligned = zip(cells, widths, left, strict=True)
        return (
            "| "
            + " | ".join(cell.ljust(width) if flush else cell.rjust(width) for cell, width, flush in aligned)
            + " |"
        )

    ruler = ["-" * (width + 2) if flush else "-" * (width + 1) + ":" for width, flush in zip(widths, left, strict=True)]
    return "\n".join([line(headers), "|" + "|".join(ruler) + "|", *map(line, rows)])


def _share(row: Share, *, with_n: bool = False) -> list[str]:
    label = f"**{escaped(row.label)}**" if row.here else escaped(row.label)
    return [label, *([str(row.n)] if with_n else []), row.shown, row.shown_interval]


def _opening(report: Report) -> Iterator[str]:
    yield "\n".join(f"- {label}: {escaped(value)}" for label, value in report_tables.what_was_run(report))
    if notes := report_tables.notes(report):
        yield "\n".join(f"> {escaped(note)}" for note in notes)


def _scores(report: Report) -> Iterator[str]:
    yield "## Accuracy"
    over = counted(report.summary["answerable"], "answerable question")
    yield f"Over {over}, with 95 % intervals (percentile bootstrap over questions)."
    yield table(["", "share", "95 %"], [_share(row) for row in report_tables.scores(report)])
    if rows := report_tables.beside(report):
        yield "Answered rightly, from the floor to the ceiling:"
        cells = [[*_share(row, with_n=True), escaped(row.note)] for row in rows]
        yield table(["run", "questions", "right", "95 %", "mode, backend"], cells)
    if report.agreement is not None:
        yield "Agreement of the judge with given verdicts:"
        yield table(["", "value"], [[escaped(label), value] for label, value in report_tables.agreement(report)])


def _published(report: Report) -> Iterator[str]:
    if rows := report_tables.published(report):
        yield "## Beside published figures"
        cells = [[*_share(row, with_n=True), escaped(row.note)] for row in rows]
        yield table(["system", "questions", "right", "95 %", "what it could read; source"], cells)
        yield "What differs:"
        yield "\n".join(f"- {escaped(line)}" for line in differences(report))


def _failures(report: Report) -> Iterator[str]:
    yield "## Where it failed"
    ended = ", ".join(f"{amount:,} {label}" for _, label, amount in report_tables.outcomes(report))
    yield f"{counted(report.summary['answers'], 'answer')}: {ended or 'none yet'}."
    if rows := report_tables.causes(report):
        yield table(
            ["cause", "answers", "share"], [[cause, f"{amount:,}", percent(share)] for cause, amount, share in rows]
        )


def _evidence(report: Report) -> Iterator[str]:
    if rows := report_tables.evidence(report):
        yield "## Evidence"
        yield table(["", "share", "95 %"], [_share(row) for row in rows])


def _cost(report: Report) -> Iterator[str]:
    yield "## Cost"
    yield table(["", "per answer", "95 %", "total"], report_tables.spending(report))


def _calibration(report: Report) -> Iterator[str]:
    figures = report.summary["calibration"]
    if figures is None:
        return
    yield "## Calibration of the confidence"
    yield (
        f"Expected calibration error {number(figures['ece'])}, Brier score {number(figures['brier'])}, "
        f"over {counted(figures['n'], 'answer')}."
    )
    rows = [
        [f"{row['low']:.1f} – {row['high']:.1f}", f"{row['n']:,}", percent(row["confidence"]), percent(row["right"])]
        for row in figures["bins"]
    ]
    yield table(["confidence", "answers", "mean confidence", "right"], rows)


def _lost(report: Report) -> Iterator[str]:
    yield "## Not answered rightly"
    rows = [_lost_row(record) for record in report_tables.lost(report)]
    yield table(["id", "question", "answer", "accepted", "cause"], rows, texts=True) if rows else "None."


def _lost_row(record: QuestionRecord) -> list[str]:
    given = record.short_answer or record.text or record.fault or record.reason
    accepted = record.answers[0] if record.answers else NOTHING
    texts = (record.id, record.question, given, accepted, record.cause.value if record.cause else NOTHING)
    return [escaped(text, _LONGEST) for text in texts]
