"""The paragraphs of a dataset as a corpus: indexed once, identified by their contents."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from iterative_rag.errors import UsageError
from iterative_rag.evaluation.questions import Dataset, Paragraph
from iterative_rag.settings import Settings
from iterative_rag.types import Document

if TYPE_CHECKING:
    from iterative_rag.index.indexing_progress import Progress
    from iterative_rag.protocols import Embedder

_NOT_IN_NAMES = re.compile(r"[^a-z0-9._-]+")
_LONGEST_STEM = 60


def paragraph_id(paragraph: Paragraph) -> str:
    """The id of the document made of a paragraph: the same title and text have the same one in every dataset."""
    return hashlib.sha256(f"{paragraph.title}\0{paragraph.text}".encode()).hexdigest()[:32]


def pool_name(dataset: Dataset) -> str:
    """The name of the corpus of all paragraphs: another file of the same name is another corpus."""
    stem = _NOT_IN_NAMES.sub("-", dataset.name.lower()).strip("-._")[:_LONGEST_STEM]
    return f"pool-{stem or 'questions'}-{dataset.digest[:8]}"


class Paragraphs:
    """A source of documents: every paragraph once, in the order of the dataset."""

    def __init__(self, dataset: Dataset) -> None:
        self._name = pool_name(dataset)
        self._distinct = {paragraph_id(one): one for question in dataset.questions for one in question.paragraphs}

    @property
    def root(self) -> str:
        """A name that is independent of the file's path: a moved file has the same paragraphs."""
        return self._name

    @property
    def total(self) -> int:
        return len(self._distinct)

    def documents(self) -> Iterator[Document]:
        for identity, paragraph in self._distinct.items():
            yield Document(identity, paragraph.title, paragraph.text, f"{self._name}#{identity}")


def pool(
    dataset: Dataset,
    settings: Settings,
    embedder: Embedder,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> str:
    """Index all paragraphs of the dataset as one corpus, unless they are indexed already; returns its name.

    Raises UsageError when the dataset brings none, CorpusError and EmbedderError as `ingest` does.
    """
    from iterative_rag.app.factory import corpora
    from iterative_rag.index.ingest import ingest

    source = Paragraphs(dataset)
    if not source.total:
        raise UsageError(
            f"The questions of {dataset.name} have no paragraphs.",
            hint="Name an indexed corpus: --corpus NAME (iterative-rag corpus lists them).",
        )
    name = pool_name(dataset)
    ingest(
        [source],
        corpora(settings.index),
        name,
        embedder,
        chunk_chars=settings.chunk_chars,
        chunk_overlap=settings.chunk_overlap,
        progress=progress,
    )
    return name
