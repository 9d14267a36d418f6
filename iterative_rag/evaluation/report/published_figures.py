"""Published figures of FRAMES, each with its source, and what sets a run of ours apart from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.evaluation.report.report_tables import Report

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


def figures_beside(report: Report) -> tuple[PublishedFigure, ...]:
    """The published figures of the benchmark that was run; none for another dataset."""
    return FIGURES.get(str(benchmark_of(report).get("name", "")), ())


def benchmark_of(report: Report) -> Mapping[str, Any]:
    """What the manifest says about the benchmark; {} where none was run."""
    return report.run.manifest.get("benchmark") or {}


def differences(report: Report) -> list[str]:
    """What a reader has to know before comparing the run with the published figures; [] where none was run."""
    about = benchmark_of(report)
    if not about:
        return []
    return [_questions(about), _pages(about), _tables(about), _judge(report)]


def _questions(about: Mapping[str, Any]) -> str:
    asked, listed, of = about["asked"], about["in_subset"], about["of"]
    if asked == of:
        return f"Questions: all {of}, as published."
    subset = "" if about["subset"] == "all" else f" of the subset {about['subset']}"
    part = f"{asked} of the {listed}" if asked != listed else f"the {asked}"
    return f"Questions: {part}{subset}; the published figures are of all {of}."


def _pages(about: Mapping[str, Any]) -> str:
    held, needed = about["pages_held"], about["pages_needed"]
    said = f"Pages: the corpus holds {held:,} of the {needed:,} that the questions link to"
    if about["questions_lacking_pages"]:
        said += f" ({counted(about['questions_lacking_pages'], 'question lacks', 'questions lack')} one or more)"
    others = max(0, about["documents"] - held)
    return (
        f"{said}, among {counted(others, 'other document')}; the published systems search Wikipedia or the web, "
        "the oracle is given the pages."
    )


def _tables(about: Mapping[str, Any]) -> str:
    with_tables, held = about["pages_with_tables"], about["pages_held"]
    lacking = about["tabular_without_tables"]
    if not about["tabular"]:
        return f"Tables: {with_tables:,} of the {held:,} pages have one; no question asks of a table."
    asked = f"{counted(about['tabular'], 'question asks', 'questions ask')} of tables"
    if not with_tables:
        return f"Tables: none of the {held:,} pages has one (plain-text extracts), though {asked}."
    without = f", {lacking:,} of them without a table in any of their pages" if lacking else ""
    return f"Tables: {with_tables:,} of the {held:,} pages have one; {asked}{without}."


def _judge(report: Report) -> str:
    judge = report.run.manifest.get("judge")
    if judge:
        return f"Judge: {judge}; the published figures have an LLM as judge, too, with other prompts."
    return (
        "Judge: none. An answer is right where rules match it with the accepted one, which is stricter than the LLMs "
        "that judged the published answers."
    )
