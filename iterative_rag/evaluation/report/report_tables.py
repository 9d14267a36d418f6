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

# Each answer has exactly one of these results; the names are also classes of the page's style sheet.
RESULTS = {
    "right": "right",
    "wrong": "wrong",
    "abstained": "abstained",
    "incomplete": "no answer before a cap",
    "fault": "error",
    "unjudged": "not judged",
}
_WITHOUT_ANSWER = {Outcome.ABSTAINED: "abstained", Outcome.INCOMPLETE: "incomplete", Outcome.FAULT: "fault"}


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

    def outcomes(self) -> list[tuple[str, str, int]]:
        """Key of RESULTS, its label and how many answers ended like this; without those that none did."""
        ended = Counter(map(result, self.run.records))
        return [(key, label, ended[key]) for key, label in RESULTS.items() if ended[key]]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text, nothing in them escaped. All columns but the first are figures. `intro` stands above the rows,
    `notes` below."""

    heading: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    intro: str = ""
    notes: Sequence[str] = ()


def tables(report: Report) -> list[Table]:
    """Every table of figures in the order in which they are read, without those that have no rows."""
    summary = report.summary
    made = (
        _accuracy(summary),
        _published(report),
        _failures(report),
        _groups("By reasoning type", summary["by_type"]),
        _groups("By the number of articles that are needed", summary["by_gold"]),
        _evidence(summary),
        _cost(summary),
        _calibration(summary),
    )
    return [table for table in made if table.rows]


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


def result(record: QuestionRecord) -> str:
    """A key of RESULTS. An abstention that was right is right."""
    right = answered_rightly(record)
    if right is None and (gave_answer(record) or record.right is None):
        return "unjudged"
    if right:
        return "right"
    return "wrong" if gave_answer(record) else _WITHOUT_ANSWER.get(record.outcome, "wrong")


def _accuracy(summary: Summary) -> Table:
    over = counted(summary["answerable"], "answerable question")
    intro = f"Over {over}, with 95 % intervals (percentile bootstrap over questions)."
    return Table("Accuracy", ("", "share", "95 %"), list(_shares(summary, SCORES)), intro)


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
    columns = ("system", "questions", "right", "95 %", "what it could read; source")
    figures = figures_beside(manifest)
    if not figures:
        return Table("", columns, ())
    asked = str(benchmark_of(manifest)["of"])
    rows: dict[tuple[str, ...], float] = {
        (figure.system, asked, percent(figure.share), NOTHING, f"{figure.pages}; {figure.source}"): figure.share
        for figure in figures
    }
    own = (f"{report.run.name} (this run)", str(summary["answerable"]), percent(summary["right"]))
    interval = percent_range(summary["intervals"].get("right"))
    rows[*own, interval, f"{manifest['mode']}, {manifest['backend']}"] = summary["right"] or 0.0
    return Table(
        "Beside published figures",
        columns,
        sorted(rows, key=lambda row: rows[row]),
        "Answered rightly; what each system could read, and the source of the figure.",
        differences(manifest),
    )


def _failures(report: Report) -> Table:
    lost = report.summary["by_cause"]
    total = sum(lost.values())
    ended = [(label, f"{amount:,}", NOTHING) for _, label, amount in report.outcomes()]
    causes = [(f"lost: {cause}", f"{amount:,}", percent(amount / total)) for cause, amount in lost.items()]
    intro = f"How {counted(report.summary['answers'], 'answer')} ended, and what lost those that are not right."
    return Table("Where it failed", ("", "answers", "of those lost"), [*ended, *causes], intro)


def _groups(heading: str, groups: Summary) -> Table:
    """No rows where everything falls into one."""
    rows = [
        (label, str(group["n"]), percent(group["right"]), percent_range(group["interval"]))
        for label, group in groups.items()
    ]
    return Table(heading, ("", "questions", "right", "95 %"), rows if len(rows) > 1 else ())


def _evidence(summary: Summary) -> Table:
    """From the shortlist to the citation: how many needed articles reach each stage."""
    abstention = summary["abstention"]
    declined = (
        ("abstentions that were right", abstention["precision"]),
        ("unanswerable questions abstained from", abstention["recall"]),
    )
    rows = [(label, percent(share), NOTHING) for label, share in declined if share is not None]
    return Table("Evidence", ("", "share", "95 %"), [*_shares(summary, EVIDENCE), *rows])


def _cost(summary: Summary) -> Table:
    rows = []
    for figure in SPENDING:
        amount, interval = summary[figure.key], summary["intervals"].get(figure.key, (None, None))
        rows.append((figure.label, number(amount["mean"]), " – ".join(map(number, interval)), number(amount["total"])))
    rows.append(("seconds, median", number(summary["seconds"]["median"]), "", ""))
    if summary["judging"]["calls"]:
        for name, total in summary["judging"].items():
            rows.append((f"{name} of the judge", number(total / summary["answers"]), "", number(total)))
    return Table("Cost", ("", "per answer", "95 %", "total"), rows)


def _calibration(summary: Summary) -> Table:
    heading, columns = "Calibration of the confidence", ("confidence", "answers", "mean confidence", "right")
    if not (figures := summary["calibration"]):
        return Table(heading, columns, ())
    rows = [
        (f"{row['low']:.1f} – {row['high']:.1f}", f"{row['n']:,}", percent(row["confidence"]), percent(row["right"]))
        for row in figures["bins"]
    ]
    intro = (
        f"An answer should be right as often as it says. Expected calibration error {number(figures['ece'])}, Brier "
        f"score {number(figures['brier'])}, over {counted(figures['n'], 'answer')}."
    )
    return Table(heading, columns, rows, intro)
