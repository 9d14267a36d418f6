"""Subsets of FRAMES by name: lists of ids that ship with the package, drawn before anything was measured.

A list holds the number of each question in the published file and a digest of its text: a file without numbers, or with
others, still gives the same questions. `scripts/draw_frames_subset.py` draws one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import UsageError
from iterative_rag.evaluation.questions import Dataset, Question
from iterative_rag.system.files import readable
from iterative_rag.text.markdown_rows import is_rule

if TYPE_CHECKING:
    from iterative_rag.evaluation.running.answer_modes import Examination
    from iterative_rag.index.corpora import IndexedCorpus

ALL = "all"
QUESTIONS = 824  # of the published benchmark
_SHIPPED = {"60": "frames_60.tsv"}
SUBSETS = (*_SHIPPED, ALL)


def ids_of(dataset: Dataset, subset: str) -> tuple[str, ...]:
    """The ids that the questions of a subset have in this dataset, in its order; `subset` is a name or a file of ids.

    Raises UsageError for an unknown subset, and where the dataset holds none of its questions.
    """
    if subset == ALL:
        return tuple(question.id for question in dataset.questions)
    listed = _listed(subset)
    by_digest = {digest for _, digest in listed if digest}
    by_id = {number for number, digest in listed if not digest}
    ids = tuple(
        question.id for question in dataset.questions if digest_of(question.text) in by_digest or question.id in by_id
    )
    if not ids:
        raise UsageError(
            f"The dataset {dataset.name} holds no question of the subset {subset}.",
            hint="Give the published file (--questions), or --subset all.",
        )
    return ids


def size_of(dataset: Dataset, subset: str) -> int:
    """How many questions the subset has, whether or not the dataset holds them."""
    return len(dataset.questions) if subset == ALL else len(_listed(subset))


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A published benchmark, and the subset of it that is run."""

    name: str
    subset: str

    def ids(self, dataset: Dataset) -> tuple[str, ...]:
        """The questions of the subset that the dataset holds. Raises UsageError where there is none."""
        return ids_of(dataset, self.subset)

    def about(self, dataset: Dataset, exams: Sequence[Examination], corpus: IndexedCorpus) -> dict[str, Any]:
        """What a run rests on, for the manifest: its subset, the needed pages that the corpus holds, their tables.

        Without these figures a share beside a published one misleads.
        """
        needed = {title for exam in exams for title in exam.question.gold_titles}
        missing = {title for exam in exams for title in exam.missing_gold}
        held = {document_id for exam in exams for document_id in exam.gold}
        with_tables = {document_id for document_id in held if has_table(corpus.document(document_id).text)}
        tabular = [exam for exam in exams if is_tabular(exam.question)]
        return {
            "name": self.name,
            "subset": self.subset,
            "of": QUESTIONS,
            "in_subset": size_of(dataset, self.subset),
            "asked": len(exams),
            "documents": len(corpus.titles()),
            "pages_needed": len(needed),
            "pages_held": len(needed - missing),
            "questions_lacking_pages": sum(bool(exam.missing_gold) for exam in exams),
            "pages_with_tables": len(with_tables),
            "tabular": len(tabular),
            "tabular_without_tables": sum(not with_tables.intersection(exam.gold) for exam in tabular),
        }


def has_table(text: str) -> bool:
    """Whether a Markdown table stands in a text."""
    return any("|" in line and is_rule(line) for line in text.splitlines())


def digest_of(text: str) -> str:
    """Identifies a question without its text, whatever its case, typography of spaces and punctuation."""
    plain = "".join(character for character in text.casefold() if character.isalnum())
    return hashlib.sha256(plain.encode()).hexdigest()[:12]


def is_tabular(question: Question) -> bool:
    """Whether the benchmark says that the question asks of a table."""
    return any("tabular" in kind.casefold() for kind in question.types)


def _listed(subset: str) -> Sequence[tuple[str, str]]:
    """Id and digest ("" where the list has none) of each question of the subset."""
    lines = [line.split("#")[0].split() for line in _text_of(subset).splitlines()]
    return [(line[0], line[1] if len(line) > 1 else "") for line in lines if line]


def _text_of(subset: str) -> str:
    if subset in _SHIPPED:
        file = resources.files("iterative_rag.evaluation.datasets").joinpath(_SHIPPED[subset])
        return file.read_text(encoding="utf-8")
    try:
        return readable(Path(subset).expanduser()).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{subset} is no list of ids: it is not UTF-8.", hint="Write an id in each line.") from error
    except OSError as error:
        raise UsageError(
            f"There is no subset {subset!r}.",
            hint=f"Use one of: {', '.join(SUBSETS)}; or a file with an id in each line.",
        ) from error
