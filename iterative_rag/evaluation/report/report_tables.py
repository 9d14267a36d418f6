"""The tables of a report as text in rows and columns, which Markdown, the page and the terminal render alike."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from iterative_rag.evaluation.metrics.figures import EVIDENCE, SCORES, SPENDING, Figure, answered_rightly, gave_answer
from iterative_rag.evaluation.metrics.summary import summarise
from iterative_rag.evaluation.records import Outcome, QuestionRecord
from iterative_rag.evaluation.report.run_description import Summary, benchmark_of, differences, figures_beside
from iterative_rag.evaluation.running.run_folder import RunFolder
from iterative_rag.text.plurals import counted

NOTHING = "–"

_GROUPS = {
    "by_type": "By reasoning type",
    "by_gold": "By the number of articles that are needed",
    "by_word": "By the confidence in words",
}
# Each answer has exactly one of these results; the names are also classes of the page's style sheet.
RESULTS = {
    "right": "right",
    "wrong": "wrong",
    "abstained": "abstained",
    "incomplete": "no answer before a cap",
    "fault": "error",
    "unjudged": "not judged",
}


@dataclass(frozen=True, slots=True)
class Report:
    """A run with its summary."""

    run: RunFolder
    summary: Summary

    @classmethod
    def of(cls, run: RunFolder) -> Report:
        return cls(run, summarise(run))

    def to_json(self) -> dict[str, Any]:
        """The summary; of a benchmark also its published figures and what sets the run apart from them."""
        manifest = self.run.manifest
        if not (about := benchmark_of(manifest)):
            return dict(self.summary)
        figures = [dataclasses.asdict(figure) for figure in figures_beside(manifest)]
        return {**self.summary, "benchmark": {**about, "published": figures, "differences": differences(manifest)}}


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text, nothing in them escaped. All columns but the first are figures, unless `texts`. `intro` stands
    above the rows, `notes` below."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    intro: str = ""
    notes: tuple[str, ...] = ()
    texts: bool = False


def tables(report: Report) -> list[Table]:
    """Every table of figures in the order in which they are read, without those that have no rows."""
    made = (
        _accuracy(report),
        _published(report),
        _failures(report),
        *_groups(report),
        _evidence(report),
        _cost(report),
        _calibration(report),
    )
    return [table for table in made if table.rows]


def key_tables(report: Report) -> list[Table]:
    """What a terminal shows of them: accuracy, the published figures, where it failed."""
    return [table for table in (_accuracy(report), _published(report), _failures(report)) if table.rows]


# --- numbers as text -------------------------------------------------------------------------


def percent(share: float | None) -> str:
    return NOTHING if share is None else f"{100 * share:.1f}\u00a0%"


def percent_range(interval: Sequence[float] | None) -> str:
    return NOTHING if interval is None else f"{100 * interval[0]:.1f} – {100 * interval[1]:.1f}"


def number(value: float | None) -> str:
    """Three significant digits: 12,345 · 123 · 12.3 · 1.23."""
    if value is None:
        return NOTHING
    digits = 0 if value == int(value) or abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


# --- accuracy --------------------------------------------------------------------------------


def _accuracy(report: Report) -> Table:
    summary = report.summary
    over = counted(summary["answerable"], "answerable question")
    return Table(
        "Accuracy",
        ("", "share", "95 %"),
        tuple(_shares(summary, SCORES)),
        f"Over {over}, with 95 % intervals (percentile bootstrap over questions).",
    )


def _shares(summary: Summary, figures: Iterable[Figure]) -> Iterator[tuple[str, ...]]:
    """Label, value and interval of the figures that could be measured."""
    for figure in figures:
        value: Any = summary
        for part in figure.key.split("."):
            value = value[part]
        if value is not None:
            yield figure.label, percent(value), percent_range(summary["intervals"].get(figure.key))


def _published(report: Report) -> Table:
    """The published figures of the benchmark with the run among them, lowest first."""
    manifest, summary = report.run.manifest, report.summary
    rows = [
        (
            figure.share,
            (
                figure.system,
                str(benchmark_of(manifest)["of"]),
                percent(figure.share),
                NOTHING,
                f"{figure.pages}; {figure.source}",
            ),
        )
        for figure in figures_beside(manifest)
    ]
    if rows:
        ours = (
            f"{report.run.name} (this run)",
            str(summary["answerable"]),
            percent(summary["right"]),
            percent_range(summary["intervals"].get("right")),
            f"{manifest['mode']}, {manifest['backend']}",
        )
        rows.append((summary["right"] or 0.0, ours))
    return Table(
        "Beside published figures",
        ("system", "questions", "right", "95 %", "what it could read; source"),
        tuple(row for _, row in sorted(rows, key=lambda row: row[0])),
        "Answered rightly; what each system could read, and the source of the figure.",
        tuple(differences(manifest)),
    )


# --- failures --------------------------------------------------------------------------------


def result(record: QuestionRecord) -> str:
    """A key of RESULTS. An abstention that was right is right."""
    right = answered_rightly(record)
    if right is None and (gave_answer(record) or record.right is None):
        return "unjudged"
    if right:
        return "right"
    if gave_answer(record):
        return "wrong"
    return {Outcome.ABSTAINED: "abstained", Outcome.INCOMPLETE: "incomplete", Outcome.FAULT: "fault"}.get(
        record.outcome, "wrong"
    )


def outcomes(report: Report) -> list[tuple[str, str, int]]:
    """Key of RESULTS, its label and how many answers ended like this; without those that none did."""
    ended = Counter(map(result, report.run.records))
    return [(key, label, ended[key]) for key, label in RESULTS.items() if ended[key]]


def _failures(report: Report) -> Table:
    lost = report.summary["by_cause"]
    total = sum(lost.values())
    ended = [(label, f"{amount:,}", NOTHING) for _, label, amount in outcomes(report)]
    causes = [(f"lost: {cause}", f"{amount:,}", percent(amount / total)) for cause, amount in lost.items()]
    return Table(
        "Where it failed",
        ("", "answers", "of those lost"),
        (*ended, *causes),
        f"How {counted(report.summary['answers'], 'answer')} ended, and what lost those that are not right.",
    )


def _groups(report: Report) -> list[Table]:
    """A grouping in which everything falls into one row is left out."""
    return [
        Table(
            heading,
            ("", "questions", "right", "95 %"),
            tuple(
                (label, str(group["n"]), percent(group["right"]), percent_range(group["interval"]))
                for label, group in report.summary[key].items()
            ),
        )
        for key, heading in _GROUPS.items()
        if len(report.summary[key]) > 1
    ]


def lost(report: Report) -> Table:
    """The answers that are not right, unjudged ones too, in their own words."""
    rows = [
        (
            record.id,
            record.question,
            record.short_answer or record.text or record.fault or record.reason,
            record.answers[0] if record.answers else NOTHING,
            record.cause.value if record.cause else NOTHING,
        )
        for record in report.run.records
        if record.right is not True
    ]
    return Table("Not answered rightly", ("id", "question", "answer", "accepted", "cause"), tuple(rows), texts=True)


# --- evidence, cost, trust -------------------------------------------------------------------


def _evidence(report: Report) -> Table:
    """From the shortlist to the citation: how many needed articles reach each stage."""
    abstention = report.summary["abstention"]
    declined = (
        ("abstentions that were right", abstention["precision"]),
        ("unanswerable questions abstained from", abstention["recall"]),
    )
    rows = [(label, percent(share), NOTHING) for label, share in declined if share is not None]
    return Table("Evidence", ("", "share", "95 %"), (*_shares(report.summary, EVIDENCE), *rows))


def _cost(report: Report) -> Table:
    summary = report.summary
    rows = [
        (
            figure.label,
            number(summary[figure.key]["mean"]),
            " – ".join(map(number, summary["intervals"].get(figure.key, (None, None)))),
            number(summary[figure.key]["total"]),
        )
        for figure in SPENDING
    ]
    seconds, judging, answers = summary["seconds"], summary["judging"], max(1, summary["answers"])
    rows.append(("seconds, median", number(seconds["median"]), "", ""))
    rows.append(("seconds, 95th percentile", number(seconds["p95"]), "", ""))
    if judging["calls"]:
        rows += [
            (f"{key} of the judge", number(judging[key] / answers), "", number(judging[key]))
            for key in ("calls", "tokens")
        ]
    return Table("Cost", ("", "per answer", "95 %", "total"), tuple(rows))


def _calibration(report: Report) -> Table:
    figures = report.summary["calibration"] or {"ece": None, "brier": None, "n": 0, "bins": ()}
    rows = [
        (f"{row['low']:.1f} – {row['high']:.1f}", f"{row['n']:,}", percent(row["confidence"]), percent(row["right"]))
        for row in figures["bins"]
    ]
    return Table(
        "Calibration of the confidence",
        ("confidence", "answers", "mean confidence", "right"),
        tuple(rows),
        f"An answer should be right as often as it says. Expected calibration error {number(figures['ece'])}, Brier "
        f"score {number(figures['brier'])}, over {counted(figures['n'], 'answer')}.",
    )
