"""What a run of a published benchmark rests on: its subset, the needed pages that the corpus holds, their tables.

Without these figures a share beside a published one misleads, so they stand in the manifest and in every report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from iterative_rag.evaluation.datasets.frames_subsets import QUESTIONS, ids_of, is_tabular, size_of
from iterative_rag.evaluation.questions import Dataset
from iterative_rag.text.markdown_rows import is_rule

if TYPE_CHECKING:
    from iterative_rag.evaluation.running.answer_modes import Examination
    from iterative_rag.index.corpora import IndexedCorpus


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A published benchmark, and the subset of it that is run (see `frames_subsets`)."""

    name: str
    subset: str

    def ids(self, dataset: Dataset) -> tuple[str, ...]:
        """The questions of the subset that the dataset holds. Raises UsageError where there is none."""
        return ids_of(dataset, self.subset)

    def about(self, dataset: Dataset, exams: Sequence[Examination], corpus: IndexedCorpus) -> dict[str, Any]:
        """Plain figures for the manifest; the same for the same questions and corpus."""
        needed = {title for exam in exams for title in exam.question.gold_titles}
        missing = {title for exam in exams for title in exam.missing_gold}
        held = {one for exam in exams for one in exam.gold}
        with_tables = {one for one in held if has_table(corpus.document(one).text)}
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
