"""Indexes what a Python program gives: documents of ours or of LlamaIndex, files and folders."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from iterative_rag.app.factory.backends import make_embedder
from iterative_rag.app.factory.corpus_actions import STARTER_CORPUS, index_paths
from iterative_rag.errors import UsageError
from iterative_rag.settings import Settings

if TYPE_CHECKING:
    from iterative_rag.index.indexing_progress import Progress
    from iterative_rag.index.ingest import IngestReport
    from iterative_rag.protocols import Corpus


def index_documents(
    documents: Iterable[object],
    settings: Settings,
    *,
    corpus: str = "",
    embed_model: object | None = None,
    llm: object | None = None,
    replace: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> IngestReport:
    """What `IterativeRAG.index` does. `embed_model` is an object; the setting names any other embedder."""
    from iterative_rag.sources.given_documents import GivenDocuments

    if isinstance(documents, str | Path):
        documents = [documents]
    paths, given = [], []
    for one in documents:
        if isinstance(one, str | Path):
            paths.append(Path(one))
        else:
            given.append(one)
    return index_paths(
        paths,
        settings=settings,
        corpus=corpus or None,
        embedder=make_embedder(settings.embedder if embed_model is None else embed_model, settings),
        given=GivenDocuments(given) if given else None,
        adding=not replace,
        llm=llm,
        progress=progress,
    )


def written_corpus(corpus: Corpus) -> str:
    """The name of an open corpus that documents can be added to. Raises UsageError."""
    from iterative_rag.index.corpora import IndexedCorpus

    hint = "Name another: rag.index(documents, corpus='mine')"
    if not isinstance(corpus, IndexedCorpus):
        raise UsageError(f"The corpus {corpus.name!r} can only be read.", hint=hint)
    if corpus.name == STARTER_CORPUS:
        raise UsageError("The starter corpus keeps to its own articles.", hint=hint)
    return corpus.name
