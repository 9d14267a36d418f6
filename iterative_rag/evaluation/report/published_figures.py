"""Published figures of FRAMES, each with its source, and what sets a run of ours apart from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from iterative_rag.text.plurals import counted

Manifest = Mapping[str, Any]

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
