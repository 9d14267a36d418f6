"""The tables of a report as text in rows and columns, which Markdown, the page and the terminal render alike; what was
run, and the caveats of its figures."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iterative_rag.evaluation.frames import FIGURES, Manifest, benchmark_of, differences
from iterative_rag.evaluation.records import Outcome, QuestionRecord
from iterative_rag.evaluation.run_folder import RunFolder
from iterative_rag.evaluation.summary import (
    EVIDENCE,
    SCORES,
    SPENDING,
    Figure,
    answered_rightly,
    gave_answer,
    summarise,
)
from iterative_rag.text.control_characters import one_line
from iterative_rag.text.plurals import counted

Summary = Mapping[str, Any]

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
        return cls(run, summarise(run.records, run.expected))

    def to_json(self) -> dict[str, Any]:
        """The summary; of a benchmark also its published figures and what sets the run apart from them."""
        manifest = self.run.manifest
        if not (about := benchmark_of(manifest)):
            return dict(self.summary)
        figures = [dataclasses.asdict(figure) for figure in FIGURES]
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
    if not (about := benchmark_of(manifest)):
        return Table("", columns, ())
    asked = str(about["of"])
    rows: dict[tuple[str, ...], float] = {
        (figure.system, asked, percent(figure.share), NOTHING, f"{figure.pages}; {figure.source}"): figure.share
        for figure in FIGURES
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


# --- what was run --------------------------------------------------------------------------------


def what_was_run(manifest: Manifest, summary: Summary) -> list[tuple[str, str]]:
    """The configuration of the run: label and value."""
    dataset, corpus = manifest["dataset"], manifest["corpus"]
    chosen = [counted(summary["n"], "question")]
    if manifest.get("repeat", 1) > 1:
        chosen.append(f"each {manifest['repeat']} times")
    if about := benchmark_of(manifest):
        chosen.append(f"subset {about['subset']}")
    chosen += [f"{name} {manifest[name]}" for name in ("limit", "sample") if manifest.get(name) is not None]
    told = [
        ("dataset", f"{dataset['name']} ({dataset['form']}, SHA-256 {str(dataset['digest'])[:12]})"),
        ("questions", "; ".join(chosen)),
        ("corpus", f"{corpus['name']} (fingerprint {str(corpus['fingerprint'])[:12]})"),
        ("mode", str(manifest["mode"])),
        ("backend", str(manifest["backend"])),
        ("judge", str(manifest.get("judge") or "none: rule-based scores only")),
        ("settings", _listed(manifest.get("settings", {}))),
        ("of these from the model's profile", _listed(manifest.get("profile") or {})),
        ("prompts", _listed(manifest.get("prompts", {}))),
        ("versions", _listed({"iterative-rag": manifest.get("code", ""), **manifest.get("versions", {})})),
        ("started", str(manifest.get("started", ""))),
    ]
    return [(label, one_line(value)) for label, value in told if value]


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items() if value not in ("", None))


def notes(manifest: Manifest, summary: Summary) -> list[str]:
    """Caveats that a reader has to know before trusting a figure."""
    lines = []
    if summary["expected"] is not None and summary["answers"] < summary["expected"]:
        lines.append(f"The run is not finished: {summary['answers']:,} of {counted(summary['expected'], 'answer')}.")
    if manifest.get("self_judged"):
        lines.append("The model judged its own answers, which favours it.")
    for key, what in (
        ("faults", "ended in an error and count as wrong"),
        ("unread", "did without documents that could not be read"),
        ("unjudged", "could not be judged and count as neither right nor wrong"),
    ):
        if summary[key]:
            lines.append(f"{counted(summary[key], 'answer')} {what}.")
    if manifest.get("excluded"):
        lines.append(f"{counted(manifest['excluded'], 'question')} left out: the corpus holds none of their articles.")
    if summary["retrieval"]["missing"]:
        lines.append(f"The corpus lacks {counted(summary['retrieval']['missing'], 'needed article')}.")
    return [one_line(line) for line in lines]
