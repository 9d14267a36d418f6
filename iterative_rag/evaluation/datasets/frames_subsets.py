"""Subsets of FRAMES by name: lists of ids that ship with the package, drawn before anything was measured.

A list holds the number of each question in the published file and a digest of its text: a file without numbers, or with
others, still gives the same questions. A list of one's own is a file of ids, one a line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import UsageError
from iterative_rag.evaluation.questions import Dataset
from iterative_rag.system.files import readable
from iterative_rag.text.markdown_rows import is_rule

if TYPE_CHECKING:
    from iterative_rag.evaluation.running.answer_modes import Examination
    from iterative_rag.index.corpora import IndexedCorpus
    from iterative_rag.index.zim.zim_corpus import ZimCorpus

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
    return {
        "name": "frames",
        "subset": subset,
        "of": QUESTIONS,
        "asked": len(exams),
        "documents": corpus.listing("", 0, 0)[1],
        "pages_needed": len(needed),
        "pages_held": len(needed - missing),
        "pages_with_tables": sum(has_table(corpus.document(document_id).text) for document_id in held),
    }


def has_table(text: str) -> bool:
    """Whether a Markdown table stands in a text."""
    return any("|" in line and is_rule(line) for line in text.splitlines())


def digest_of(text: str) -> str:
    """Identifies a question without its text, whatever its case, typography of spaces and punctuation."""
    plain = "".join(character for character in text.casefold() if character.isalnum())
    return hashlib.sha256(plain.encode()).hexdigest()[:12]


def _text_of(subset: str) -> str:
    if subset in _SHIPPED:
        file = resources.files("iterative_rag.evaluation.datasets").joinpath(_SHIPPED[subset])
        return file.read_text(encoding="utf-8")
    try:
        return readable(Path(subset).expanduser()).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"There is no subset {subset!r}.",
            hint=f"Use one of: {', '.join((*_SHIPPED, ALL))}; or a file with an id in each line.",
        ) from error
