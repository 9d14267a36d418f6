"""FRAMES: its subsets by name, what a run over it rests on, and the published figures beside it.

A subset is a list of ids that ships with the package, drawn before anything was measured. It holds the number of
each question in the published file and a digest of its text: a file without numbers, or with others, still gives the
same questions. A list of one's own is a file of ids, one a line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import UsageError
from iterative_rag.evaluation.records import Dataset
from iterative_rag.system.files import readable
from iterative_rag.text.markdown_rows import is_rule
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.evaluation.answer_modes import Examination
    from iterative_rag.index.corpora import IndexedCorpus
    from iterative_rag.index.zim.zim_corpus import ZimCorpus

Manifest = Mapping[str, Any]

ALL = "all"
QUESTIONS = 824  # of the published benchmark
_SHIPPED = {"60": "frames_60.tsv"}


def ids_of(dataset: Dataset, subset: str) -> tuple[str, ...]:
    """The ids that the questions of a subset have in this dataset, in its order; `subset` is a name or a file of ids.

    Raises UsageError for an unknown subset, and where the dataset holds none of its questions.
    """
    if subset == ALL:
        return tuple(question.id for question in dataset.questions)
    listed = [line.split("#")[0].split() for line in _text_of(subset).splitlines()]
    digests = {line[1] for line in listed if len(line) > 1}
    numbers = {line[0] for line in listed if len(line) == 1}
    ids = tuple(
        question.id for question in dataset.questions if digest_of(question.text) in digests or question.id in numbers
    )
    if not ids:
        raise UsageError(
            f"The dataset {dataset.name} holds no question of the subset {subset}.",
            hint="Give the published file (--questions), or --subset all.",
        )
    return ids


def rests_on(subset: str, exams: Sequence[Examination], corpus: IndexedCorpus | ZimCorpus) -> dict[str, Any]:
    """What a run rests on, for the manifest: without these figures a share beside a published one misleads."""
    needed = {title for exam in exams for title in exam.question.gold_titles}
    missing = {title for exam in exams for title in exam.missing_gold}
    held = {document_id for exam in exams for document_id in exam.gold}
    pages = (corpus.document(document_id).text.splitlines() for document_id in held)
    return {
        "name": "frames",
        "subset": subset,
        "of": QUESTIONS,
        "asked": len(exams),
        "documents": corpus.listing("", 0, 0)[1],
        "pages_needed": len(needed),
        "pages_held": len(needed - missing),
        "pages_with_tables": sum(any("|" in line and is_rule(line) for line in lines) for lines in pages),
    }


def digest_of(text: str) -> str:
    """Identifies a question without its text, whatever its case, typography of spaces and punctuation."""
    plain = "".join(character for character in text.casefold() if character.isalnum())
    return hashlib.sha256(plain.encode()).hexdigest()[:12]


def _text_of(subset: str) -> str:
    if subset in _SHIPPED:
        file = resources.files("iterative_rag.evaluation").joinpath(_SHIPPED[subset])
        return file.read_text(encoding="utf-8")
    try:
        return readable(Path(subset).expanduser()).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"There is no subset {subset!r}.",
            hint=f"Use one of: {', '.join((*_SHIPPED, ALL))}; or a file with an id in each line.",
        ) from error


# --- the published figures -----------------------------------------------------------------------

_FRAMES_PAPER = "Krishna et al. 2024, arXiv:2409.12941"
_ODS_PAPER = "Alzubi et al. 2025, arXiv:2503.20201"


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A share of all 824 questions that were answered rightly; `pages` is what the system could read."""

    system: str
    share: float
    pages: str
    source: str


FIGURES = (
    PublishedFigure("DeepSeek-R1", 0.301, "none", _ODS_PAPER),
    PublishedFigure("Gemini 1.5 Pro", 0.408, "none", _FRAMES_PAPER),
    PublishedFigure("Gemini 1.5 Pro, BM25", 0.474, "4 articles found in Wikipedia", _FRAMES_PAPER),
    PublishedFigure("GPT-4o Search Preview", 0.656, "the live web", _ODS_PAPER),
    PublishedFigure("Gemini 1.5 Pro, searches in steps", 0.66, "articles found in Wikipedia", _FRAMES_PAPER),
    PublishedFigure("Gemini 1.5 Pro, oracle", 0.729, "the linked articles, given", _FRAMES_PAPER),
    PublishedFigure("Open Deep Search, DeepSeek-R1", 0.753, "the live web", _ODS_PAPER),
)


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
