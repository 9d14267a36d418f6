"""The tables of a report as values, which Markdown and HTML both render."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iterative_rag.evaluation.metrics.per_question import answered_rightly, gave_answer
from iterative_rag.evaluation.metrics.run_comparison import unique_names, warnings
from iterative_rag.evaluation.records import Outcome, QuestionRecord
from iterative_rag.evaluation.report.formatting import dollars, number, percent, percent_range
from iterative_rag.evaluation.report.published_figures import benchmark_of, figures_beside
from iterative_rag.evaluation.running.run_folder import RunFolder
from iterative_rag.text.plurals import counted

Summary = Mapping[str, Any]

# From the lowest baseline to the upper bound.
_MODES = ("closed-book", "naive", "iterative", "oracle")
_SCORES = {
    "right": "answered rightly",
    "judge": "called correct by the judge",
    "em": "exact match",
    "f1": "F1 of the words",
    "contains": "holds an accepted answer",
    "value": "same number, date or yes/no",
}
_GROUPS = {
    "by_type": "By reasoning type",
    "by_gold": "By the number of articles that are needed",
    "by_hops": "By the hops that were made",
    "by_word": "By the confidence in words",
}


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its interval; `n` says of how many, `here` marks the reported run among others."""

    label: str
    value: float | None
    interval: Sequence[float] | None = None
    n: int | None = None
    note: str = ""
    here: bool = False

    @property
    def shown(self) -> str:
        return percent(self.value)

    @property
    def shown_interval(self) -> str:
        return percent_range(self.interval)


@dataclass(frozen=True, slots=True)
class Report:
    """A run with its summary, and the runs it is compared with."""

    run: RunFolder
    summary: Summary
    siblings: tuple[tuple[RunFolder, Summary], ...] = ()
    agreement: Mapping[str, Any] | None = None


def what_was_run(report: Report) -> list[tuple[str, str]]:
    """The configuration of the run: label and value."""
    manifest = report.run.manifest
    dataset, corpus = manifest["dataset"], manifest["corpus"]
    asked = counted(report.summary["n"], "question")
    if manifest.get("repeat", 1) > 1:
        asked += f", each {manifest['repeat']} times"
    chosen = [f"subset {benchmark_of(report)['subset']}"] if benchmark_of(report) else []
    chosen += [f"{name} {manifest[name]}" for name in ("limit", "sample") if manifest.get(name) is not None]
    if manifest.get("sample") is not None:
        chosen.append(f"seed {manifest.get('seed', 0)}")
    chosen += [f"types {', '.join(manifest['types'])}"] if manifest.get("types") else []
    return [
        ("dataset", f"{dataset['name']} ({dataset['form']}, SHA-256 {str(dataset['digest'])[:12]})"),
        ("questions", "; ".join([asked, *chosen])),
        ("corpus", f"{corpus['name']} (fingerprint {str(corpus['fingerprint'])[:12]})"),
        ("mode", str(manifest["mode"])),
        ("backend", str(manifest["backend"])),
        ("judge", str(manifest.get("judge") or "none: rule-based scores only")),
        ("settings", _listed(manifest.get("settings", {}))),
        *_from_profile(manifest),
        ("prompts", _listed(manifest.get("prompts", {}))),
        ("versions", _listed({"iterative-rag": manifest.get("code", ""), **manifest.get("versions", {})})),
        ("started", str(manifest.get("started", ""))),
    ]


def _from_profile(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The settings that came from the model's profile: where the mode lets it choose."""
    profiled = manifest.get("profile")
    return [("of these from the model's profile", _listed(profiled))] if profiled else []


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items() if value not in ("", None)) or "none"


def notes(report: Report) -> list[str]:
    """Caveats that a reader has to know before trusting a figure."""
    summary, manifest = report.summary, report.run.manifest
    lines = []
    if summary["expected"] is not None and summary["answers"] < summary["expected"]:
        lines.append(f"The run is not finished: {summary['answers']:,} of {counted(summary['expected'], 'answer')}.")
    if manifest.get("self_judged"):
        lines.append("The model may have judged its own answers (--allow-self-judge), which favours it.")
    if summary["faults"]:
        lines.append(f"{counted(summary['faults'], 'answer')} ended in an error and count as wrong.")
    if summary["unread"]:
        lines.append(f"{counted(summary['unread'], 'answer')} did without documents that could not be read.")
    if endings := summary["by_ending"]:
        said = ", ".join(f"{count:,} {ending.replace('_', ' ')}" for ending, count in endings.items())
        lines.append(f"{counted(sum(endings.values()), 'question')} not answered: {said}.")
    if summary["unjudged"]:
        lines.append(
            f"{counted(summary['unjudged'], 'answer')} could not be judged and count as neither right nor wrong."
        )
    if manifest.get("excluded"):
        lines.append(f"{counted(manifest['excluded'], 'question')} left out: the corpus holds none of their articles.")
    if summary["retrieval"]["missing"]:
        lines.append(f"The corpus lacks {counted(summary['retrieval']['missing'], 'needed article')}.")
    if report.siblings:
        lines += [line for line in warnings([report.run, *(run for run, _ in report.siblings)]) if "differ" in line]
    return lines


def scores(report: Report) -> list[Share]:
    summary = report.summary
    return [
        Share(label, summary[name], summary["intervals"].get(name), summary["answerable"])
        for name, label in _SCORES.items()
        if summary[name] is not None
    ]


def beside(report: Report) -> list[Share]:
    """The share answered rightly by this run and the others, from baseline to upper bound; empty alone."""
    if not report.siblings:
        return []
    runs = [(report.run, report.summary), *report.siblings]
    names = unique_names([run.path for run, _ in runs])
    rows = [
        Share(
            name,
            summary["right"],
            summary["intervals"].get("right"),
            summary["answerable"],
            note=f"{run.manifest['mode']}, {run.manifest['backend']}",
            here=run is report.run,
        )
        for name, (run, summary) in zip(names, runs, strict=True)
    ]
    modes = [str(run.manifest["mode"]) for run, _ in runs]
    ranks = [_MODES.index(mode) if mode in _MODES else len(_MODES) for mode in modes]
    return [row for _, row in sorted(zip(ranks, rows, strict=True), key=lambda pair: pair[0])]


def published(report: Report) -> list[Share]:
    """The published figures of the benchmark with the run among them, lowest first; empty for another dataset."""
    figures = figures_beside(report)
    if not figures:
        return []
    summary = report.summary
    rows = [
        Share(figure.system, figure.share, n=benchmark_of(report)["of"], note=f"{figure.pages}; {figure.source}")
        for figure in figures
    ]
    ours = Share(
        report.run.name,
        summary["right"],
        summary["intervals"].get("right"),
        summary["answerable"],
        note=f"this run: {report.run.manifest['mode']}, {report.run.manifest['backend']}",
        here=True,
    )
    return sorted([*rows, ours], key=lambda row: row.value or 0.0)


def groups(report: Report) -> list[tuple[str, list[Share]]]:
    """Heading and rows; a grouping in which everything falls into one row is left out."""
    grouped = []
    for key, heading in _GROUPS.items():
        rows = [
            Share(label, group["right"], group["interval"], group["n"]) for label, group in report.summary[key].items()
        ]
        if len(rows) > 1:
            grouped.append((heading, rows))
    return grouped


# Each answer has exactly one of these results; the names are also classes of the page's style sheet.
RESULTS = {
    "right": "right",
    "wrong": "wrong",
    "abstained": "abstained",
    "incomplete": "no answer before a cap",
    "fault": "error",
    "unjudged": "not judged",
}


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
    counted = Counter(map(result, report.run.records))
    return [(key, label, counted[key]) for key, label in RESULTS.items() if counted[key]]


def causes(report: Report) -> list[tuple[str, int, float]]:
    """Cause, answers, and their share of all answers that were lost."""
    lost = report.summary["by_cause"]
    total = sum(lost.values())
    return [(cause, amount, amount / total) for cause, amount in lost.items()]


def evidence(report: Report) -> list[Share]:
    """From the shortlist to the citation: how many needed articles reach each stage."""
    summary = report.summary
    intervals, retrieval, cited = summary["intervals"], summary["retrieval"], summary["citations"]
    rows = []
    for stage, label in (("listed", "shortlisted"), ("read", "read"), ("facts", "gave a fact")):
        for kind, what in (("recall", "needed articles"), ("all_found", "questions with all of theirs")):
            share = retrieval[stage][kind]
            rows.append(Share(f"{what}: {label}", share, intervals.get(f"retrieval.{stage}.{kind}"), retrieval["n"]))
    rows = [rows[0], rows[2], rows[4], rows[1], rows[3], rows[5]]
    names = {
        "precision": "cited articles that are needed",
        "recall": "needed articles that are cited",
        "verified": "answers whose every quote stands in its article",
    }
    rows += [Share(label, cited[name], intervals.get(f"citations.{name}")) for name, label in names.items()]
    abstention, steps = summary["abstention"], summary["trajectories"]
    rows += [
        Share("abstentions that were right", abstention["precision"]),
        Share("unanswerable questions abstained from", abstention["recall"], n=abstention["unanswerable"]),
    ]
    if steps is not None:
        rows += [
            Share(label, steps[name], intervals.get(f"trajectories.{name}"), steps["n"])
            for name, label in _STEPS.items()
        ]
    if (courses := summary["courses"]) is not None:
        label, interval = "runs that took an allowed course", intervals.get("courses.allowed")
        rows.append(Share(label, courses["allowed"], interval, courses["n"]))
    return [row for row in rows if row.value is not None]


_STEPS = {
    "exact": "expected steps, in order and nothing else",
    "in_order": "expected steps, in order",
    "any_order": "expected steps, in any order",
    "subset": "nothing beside the expected steps",
    "found": "expected steps that were found",
}


_SPENT = {"calls": "LLM calls", "tokens": "tokens", "cache_hits": "cache hits", "seconds": "seconds"}


def spending(report: Report) -> list[tuple[str, str, str, str]]:
    """What, mean per answer, its interval, total."""
    summary = report.summary
    rows = []
    for key, label in _SPENT.items():
        interval = _range(summary["intervals"].get(key))
        rows.append((label, number(summary[key]["mean"]), interval, number(summary[key]["total"])))
    if summary["cost"] is not None:
        cost = summary["cost"]
        low, high = summary["intervals"].get("cost", (None, None))
        rows.append(("cost", dollars(cost["mean"]), f"{dollars(low)} – {dollars(high)}", dollars(cost["total"])))
        if cost["right"] is not None:
            rows.append(("cost of a right answer", dollars(cost["right"]), "", ""))
    seconds = summary["seconds"]
    rows += [
        ("seconds, median", number(seconds["median"]), "", ""),
        ("seconds, 95th percentile", number(seconds["p95"]), "", ""),
    ]
    judging, answers = summary["judging"], max(1, summary["answers"])
    if judging["calls"]:
        for key in ("calls", "tokens"):
            rows.append((f"{key} of the judge", number(judging[key] / answers), "", number(judging[key])))
    return rows


def _range(interval: Sequence[float] | None) -> str:
    low, high = interval or (None, None)
    return f"{number(low)} – {number(high)}"


_AGREEMENT = {
    "n": "answers compared",
    "raw": "equal verdicts",
    "kappa": "Cohen's kappa",
    "both_correct": "correct to both",
    "both_incorrect": "incorrect to both",
    "only_judge": "correct to the judge alone",
    "only_given": "correct to the given verdict alone",
    "unjudged": "not judged",
    "ungiven": "without a given verdict",
    "unknown": "given for unknown questions",
}


def agreement(report: Report) -> list[tuple[str, str]]:
    """How far the judge agrees with given verdicts; empty without any."""
    figures = report.agreement
    if figures is None:
        return []
    shown = {name: percent(figures[name]) if name == "raw" else number(figures[name]) for name in _AGREEMENT}
    shown["kappa"] += f" ({_range(figures['interval'])})"
    return [(label, shown[name]) for name, label in _AGREEMENT.items()]


def lost(report: Report) -> list[QuestionRecord]:
    """The answers that are not right, unjudged ones too."""
    return [record for record in report.run.records if record.right is not True]
