"""What a run searches: a corpus by name or the paragraphs of the dataset, with its gold articles."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from iterative_rag.errors import UsageError
from iterative_rag.evaluation.datasets.gold_articles import GoldIndex, read_redirects
from iterative_rag.evaluation.datasets.paragraph_pools import paragraph_id, pool
from iterative_rag.evaluation.questions import Dataset, Question
from iterative_rag.settings import Settings

if TYPE_CHECKING:
    from iterative_rag.index.corpora import IndexedCorpus
    from iterative_rag.index.indexing_progress import Progress
    from iterative_rag.protocols import Corpus, Embedder

OWN, POOLED = "own", "pooled"


class Scope:
    """An open corpus with its gold index; close it. `own` scopes restrict each question to its paragraphs."""

    def __init__(self, corpus: IndexedCorpus, embedder: Embedder, gold: GoldIndex, *, own: bool) -> None:
        self.corpus, self.embedder = corpus, embedder
        self._gold, self._own = gold, own

    @property
    def digest(self) -> str:
        return self.corpus.digest()

    def gold(self, question: Question) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The ids of the articles that the question needs, and the titles of those that the corpus lacks."""
        return self._gold.resolve(question)

    def own(self, question: Question) -> frozenset[str] | None:
        """The documents that this question may search; None for all."""
        return frozenset(map(paragraph_id, question.paragraphs)) if self._own else None

    def part(self, document_ids: Collection[str]) -> Corpus:
        """A corpus of these documents only."""
        from iterative_rag.index.corpus_subset import CorpusPart

        return CorpusPart(self.corpus, document_ids)

    def close(self) -> None:
        self.corpus.close()


def open_scope(
    name: str,
    dataset: Dataset,
    settings: Settings,
    redirects: Path | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> Scope:
    """The corpus `name`; "own" and "pooled" are made of the dataset's paragraphs, indexed where they are not yet."""
    from iterative_rag.app.factory import cache, make_embedder, open_corpus

    embedder = make_embedder(settings.embedder, settings)
    if name in (OWN, POOLED):
        if not all(question.paragraphs for question in dataset.questions):
            raise UsageError(
                f"The questions of {dataset.name} have no paragraphs of their own.",
                hint="Name an indexed corpus: --corpus NAME (iterative-rag corpus lists them).",
            )
        name_of_pool = pool(dataset, settings, embedder, progress=progress)
        settings = settings.model_copy(update={"corpus": name_of_pool})
    else:
        settings = settings.model_copy(update={"corpus": name})
    corpus = open_corpus(settings, embedder, cache(settings))
    return Scope(corpus, embedder, GoldIndex(corpus, read_redirects(redirects)), own=name == OWN)
