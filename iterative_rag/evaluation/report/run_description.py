"""What was run, the caveats of its figures, and the published figures of FRAMES beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from iterative_rag.text.control_characters import one_line
from iterative_rag.text.plurals import counted

Manifest = Mapping[str, Any]
Summary = Mapping[str, Any]

_FRAMES_PAPER = "Krishna et al. 2024, arXiv:2409.12941"
_ODS_PAPER = "Alzubi et al. 2025, arXiv:2503.20201"


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A share of all 824 questions that were answered rightly; `pages` is what the system could read."""

    system: str
    share: float
    pages: str
    source: str


FIGURES: Mapping[str, tuple[PublishedFigure, ...]] = {
    "frames": (
        PublishedFigure("DeepSeek-R1", 0.301, "none", _ODS_PAPER),
        PublishedFigure("Gemini 1.5 Pro", 0.408, "none", _FRAMES_PAPER),
        PublishedFigure("Gemini 1.5 Pro, BM25", 0.474, "4 articles found in Wikipedia", _FRAMES_PAPER),
        PublishedFigure("GPT-4o Search Preview", 0.656, "the live web", _ODS_PAPER),
        PublishedFigure("Gemini 1.5 Pro, searches in steps", 0.66, "articles found in Wikipedia", _FRAMES_PAPER),
        PublishedFigure("Gemini 1.5 Pro, oracle", 0.729, "the linked articles, given", _FRAMES_PAPER),
        PublishedFigure("Open Deep Search, DeepSeek-R1", 0.753, "the live web", _ODS_PAPER),
    )
}


def figures_beside(manifest: Manifest) -> tuple[PublishedFigure, ...]:
    """The published figures of the benchmark that was run; none for another dataset."""
    return FIGURES.get(str(benchmark_of(manifest).get("name", "")), ())


def benchmark_of(manifest: Manifest) -> Mapping[str, Any]:
    """What the manifest says about the benchmark; {} where none was run."""
    return manifest.get("benchmark") or {}


def differences(manifest: Manifest) -> list[str]:
    """What a reader has to know before comparing the run with the published figures; [] where none was run."""
    if not (about := benchmark_of(manifest)):
        return []
    held, others = about["pages_held"], max(0, about["documents"] - about["pages_held"])
    judge = manifest.get("judge")
    return [
        f"Questions: {about['asked']} of {about['of']} (subset {about['subset']}); the published figures are of all.",
        f"Pages: the corpus holds {held:,} of the {about['pages_needed']:,} that the questions link to, among "
        f"{counted(others, 'other document')}; the published systems search Wikipedia or the web, the oracle is given "
        "the pages.",
        f"Tables: {about['pages_with_tables']:,} of these {held:,} pages have one.",
        f"Judge: {judge}; the published figures have an LLM as judge, too, with other prompts."
        if judge
        else "Judge: none. An answer is right where rules match it with the accepted one, which is stricter than the "
        "LLMs that judged the published answers.",
    ]


# --- what was run ----------------------------------------------------------------------------


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
