"""What a run searches: a corpus by name or the paragraphs of the dataset, with its gold articles."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from iterative_rag.errors import UsageError
from iterative_rag.evaluation.gold_articles import GoldIndex, paragraph_id
from iterative_rag.evaluation.records import Dataset, Question
from iterative_rag.settings import Settings
from iterative_rag.types import Document

if TYPE_CHECKING:
    from iterative_rag.index.corpora import IndexedCorpus
    from iterative_rag.index.indexing_progress import Progress
    from iterative_rag.index.zim.zim_corpus import ZimCorpus
    from iterative_rag.protocols import Corpus, Embedder

OWN, POOLED = "own", "pooled"
_NOT_IN_NAMES = re.compile(r"[^a-z0-9._-]+")
_LONGEST_STEM = 60


class Scope:
    """An open corpus, which is to be closed, with its gold index. `own` scopes restrict each question to its
    paragraphs."""

    def __init__(self, corpus: IndexedCorpus | ZimCorpus, embedder: Embedder, gold: GoldIndex, *, own: bool) -> None:
        self.corpus, self.embedder = corpus, embedder
        self.gold, self._own = gold.resolve, own

    def own(self, question: Question) -> frozenset[str] | None:
        """The documents that this question may search; None for all."""
        return frozenset(map(paragraph_id, question.paragraphs)) if self._own else None

    def searched(self, question: Question) -> Corpus:
        """What this question may search."""
        within = self.own(question)
        return self.corpus if within is None else self.part(within)

    def part(self, document_ids: Collection[str]) -> Corpus:
        """A corpus of these documents only."""
        from iterative_rag.index.filters import CorpusPart
        from iterative_rag.index.zim.zim_corpus import ZimCorpus

        corpus = self.corpus
        return corpus.among(document_ids) if isinstance(corpus, ZimCorpus) else CorpusPart(corpus, document_ids)


def open_scope(
    name: str, dataset: Dataset, settings: Settings, *, progress: Callable[[Progress], None] | None = None
) -> Scope:
    """The corpus `name`; "own" and "pooled" are made of the dataset's paragraphs, indexed where they are not yet."""
    from iterative_rag.app.factory import cache, make_embedder, open_corpus
    from iterative_rag.index.corpora import IndexedCorpus

    embedder = make_embedder(settings.embedder, settings)
    searched = pool(dataset, settings, embedder, progress=progress) if name in (OWN, POOLED) else name
    corpus = open_corpus(settings.model_copy(update={"corpus": searched}), embedder, cache(settings))
    asked = {title for question in dataset.questions for title in question.gold_titles}
    entries = corpus.catalogue() if isinstance(corpus, IndexedCorpus) else corpus.catalogue(asked)
    return Scope(corpus, embedder, GoldIndex(entries), own=name == OWN)


# --- the paragraphs of a dataset as a corpus -------------------------------------------------


def pool_name(dataset: Dataset) -> str:
    """The name of the corpus of all paragraphs: another file of the same name is another corpus."""
    stem = _NOT_IN_NAMES.sub("-", dataset.name.lower()).strip("-._")[:_LONGEST_STEM]
    return f"pool-{stem or 'questions'}-{dataset.digest[:8]}"


class Paragraphs:
    """A source of documents: every paragraph once, in the order of the dataset. Its root is independent of the file's
    path: a moved file has the same paragraphs."""

    def __init__(self, dataset: Dataset) -> None:
        self._distinct = {
            paragraph_id(paragraph): paragraph for question in dataset.questions for paragraph in question.paragraphs
        }
        self.root, self.total = pool_name(dataset), len(self._distinct)

    def documents(self) -> Iterator[Document]:
        for identity, paragraph in self._distinct.items():
            yield Document(identity, paragraph.title, paragraph.text, f"{self.root}#{identity}")


def pool(
    dataset: Dataset, settings: Settings, embedder: Embedder, *, progress: Callable[[Progress], None] | None = None
) -> str:
    """Index all paragraphs of the dataset as one corpus, unless they are indexed already; returns its name.

    Raises UsageError where a question brings none, CorpusError and EmbedderError as `ingest` does.
    """
    from iterative_rag.app.factory import corpora
    from iterative_rag.index.ingest import ingest

    if not all(question.paragraphs for question in dataset.questions):
        raise UsageError(
            f"The questions of {dataset.name} have no paragraphs of their own.",
            hint="Name an indexed corpus: --corpus NAME (iterative-rag corpus lists them).",
        )
    name = pool_name(dataset)
    ingest(
        [Paragraphs(dataset)],
        corpora(settings.index),
        name,
        embedder,
        chunk_chars=settings.chunk_chars,
        chunk_overlap=settings.chunk_overlap,
        progress=progress,
    )
    return name
