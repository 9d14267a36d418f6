"""Opens what is asked: a corpus of ours, several of them, or a collection that LlamaIndex or another program wrote."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from iterative_rag.app.factory.backends import make_embedder, make_reranker
from iterative_rag.errors import CorpusHeld, CorpusMismatch, CorpusNotFound, NothingWithin, UsageError
from iterative_rag.protocols import BUILTIN
from iterative_rag.settings import Settings, home

if TYPE_CHECKING:
    from iterative_rag.index.collections.collection_corpus import OpenedCorpus
    from iterative_rag.index.corpora import Corpora, IndexedCorpus
    from iterative_rag.index.joint_corpus import JointCorpus
    from iterative_rag.index.zim.zim_corpus import ZimCorpus
    from iterative_rag.protocols import Cache, Corpus, Embedder
    from iterative_rag.types import Within

DEFAULT_CORPUS = "default"
STARTER_CORPUS = "starter"
_indexing = threading.Lock()
# Indexing the starter corpus takes seconds, longer on a busy machine.
_STARTER_SECONDS = 300.0


def corpora(index: str = "local") -> Corpora:
    """All corpora, with their vectors at `index`, the value of that setting."""
    from iterative_rag.index.corpora import Corpora
    from iterative_rag.index.vector_store import places_at

    return Corpora(home() / "corpora", place_of=places_at(index))


def starter_corpus_path() -> Path:
    """The starter articles: package data of an installed package, `input_wikipedia/` in a checkout."""
    package = Path(__file__).resolve().parents[2]
    installed = package / "starter_corpus"
    return installed if installed.is_dir() else package.parent / "input_wikipedia"


def corpus_name(settings: Settings) -> str:
    """The corpus to use: the one named, else 'default' if it exists, else the starter corpus."""
    if settings.corpus:
        return settings.corpus
    return DEFAULT_CORPUS if DEFAULT_CORPUS in corpora().names() else STARTER_CORPUS


def open_to_read(
    settings: Settings,
    embedder: Embedder | None = None,
    kept: Cache | None = None,
    *,
    rerank: object | None = None,
    store: object | None = None,
) -> OpenedCorpus | JointCorpus | ZimCorpus:
    """The corpus of the settings, or the collection that their `index` names and no corpus of ours wrote. `store` is a
    vector store or an index of LlamaIndex, which is opened instead.

    Raises what `open_asked` does, and UsageError for a store that cannot be opened.
    """
    if store is None and not names_collection(settings):
        return open_asked(settings, embedder, kept, rerank=rerank)
    from iterative_rag.index.collections.collection_client import collection_of, foreign_collection
    from iterative_rag.index.collections.collection_corpus import CollectionCorpus
    from iterative_rag.index.server.server_address import parse_address

    collection = foreign_collection(parse_address(settings.index)) if store is None else collection_of(store)
    if collection is None:
        return open_asked(settings, embedder, kept, rerank=rerank)
    with ExitStack() as stack:
        stack.callback(collection.close)
        corpus = CollectionCorpus(
            collection,
            embedder or make_embedder(settings.embedder, settings, kept),
            cache=kept,
            reranker=make_reranker(settings, kept, rerank),
        )
        stack.pop_all()
    return corpus


def names_collection(settings: Settings) -> bool:
    """Whether the settings name a collection and no corpus of ours, so that the collection itself may be meant."""
    if not settings.index.lower().startswith(("qdrant://", "qdrants://")):
        return False
    from iterative_rag.index.server.server_address import parse_address

    collection = parse_address(settings.index).collection
    return bool(collection) and (
        not settings.corpus or (settings.corpus == collection and collection not in corpora().names())
    )


def open_asked(
    settings: Settings, embedder: Embedder | None = None, kept: Cache | None = None, *, rerank: object | None = None
) -> IndexedCorpus | JointCorpus | ZimCorpus:
    """The corpus to ask: one, or several whose names stand between commas. Raises CorpusMismatch where they were made
    with different embedders, and what `open_corpus` raises."""
    from iterative_rag.index.joint_corpus import JointCorpus

    names = asked_names(settings)
    if len(names) < 2:
        return open_corpus(settings, embedder, kept, rerank=rerank)
    embedder = embedder or make_embedder(settings.embedder, settings, kept)
    with ExitStack() as opened:
        parts = []
        for name in names:
            chosen = settings.model_copy(update={"corpus": name})
            try:
                part = open_corpus(chosen, embedder, kept, rerank=rerank)
            except CorpusMismatch as error:
                told = f"{error} Corpora that are asked together need the same embedder."
                raise CorpusMismatch(told, hint=error.hint) from error
            opened.callback(part.close)
            parts.append(part)
        opened.pop_all()
    return JointCorpus(parts)


def asked_names(settings: Settings) -> list[str]:
    """The corpora that are asked: the names between commas, each once, unless a corpus or file has the whole name."""
    name = corpus_name(settings)
    if "," not in name or name in corpora(settings.index).names() or Path(name).is_file():
        return [name]
    return list(dict.fromkeys(part.strip() for part in name.split(",") if part.strip()))


def known_names(settings: Settings) -> str:
    """The corpora that the settings name, ZIM files among them by their names; "" where they name none.

    Raises CorpusNotFound for a file that is not there.
    """
    known = corpora(settings.index)
    return ",".join(map(known.known, asked_names(settings))) if settings.corpus else ""


def open_corpus(
    settings: Settings, embedder: Embedder | None = None, kept: Cache | None = None, *, rerank: object | None = None
) -> IndexedCorpus | ZimCorpus:
    """Open the corpus to search and read; the starter corpus is indexed when it is first asked, and again when a newer
    package brings another encoder or another layout of the index."""
    name = corpus_name(settings)
    embedder = embedder or make_embedder(settings.embedder, settings, kept)
    held, reranker = corpora(settings.index), make_reranker(settings, kept, rerank)
    if file := held.open_file(name, embedder, cache=kept, reranker=reranker):
        return file
    opened = partial(held.open, name, embedder, cache=kept, reranker=reranker)
    try:
        return opened()
    except CorpusNotFound:
        if name != STARTER_CORPUS:
            raise
    except CorpusMismatch:
        # Unknown while another process rebuilds it.
        made_by = held.info(name).embedder or BUILTIN
        ours = made_by.startswith(BUILTIN) and embedder.name.startswith(BUILTIN)
        if name != STARTER_CORPUS or not ours:
            raise
    with _indexing:
        return _starter_corpus(settings, embedder, opened)


def _starter_corpus(settings: Settings, embedder: Embedder, opened: Callable[[], IndexedCorpus]) -> IndexedCorpus:
    """Index and open the starter corpus, or wait for the process that is indexing it."""
    from iterative_rag.app.factory.corpus_actions import index_paths

    deadline = time.monotonic() + _STARTER_SECONDS
    while True:
        try:
            index_paths([starter_corpus_path()], settings=settings, corpus=STARTER_CORPUS, embedder=embedder)
            return opened()
        except CorpusHeld:
            if time.monotonic() > deadline:
                raise
        with suppress(CorpusNotFound, CorpusMismatch):
            return opened()


@contextmanager
def for_one_run(corpus: Corpus, within: Sequence[Within] = ()) -> Iterator[Corpus]:
    """The corpus pinned to its present generation: documents that a run has found stay readable. With `within`, that
    part of it. Raises NothingWithin."""
    from iterative_rag.index.corpora import IndexedCorpus
    from iterative_rag.index.filters import CorpusWithin

    if isinstance(corpus, IndexedCorpus):
        with closing(corpus.pinned()) as pinned:
            yield CorpusWithin(pinned, within) if any(within) else pinned
        return
    from iterative_rag.index.collections.collection_corpus import CollectionCorpus, only_as_a_whole
    from iterative_rag.index.joint_corpus import JointCorpus
    from iterative_rag.index.zim.zim_corpus import ZimCorpus

    if isinstance(corpus, ZimCorpus):
        corpus = corpus.for_one_run()
        yield corpus.within(within) if any(within) else corpus
    elif isinstance(corpus, CollectionCorpus):
        if any(within):
            raise only_as_a_whole(corpus.name)
        with closing(corpus.pinned()) as whole:
            yield whole
    elif isinstance(corpus, JointCorpus):
        with _joint_for_one_run(corpus, within) as parts:
            yield parts
    elif any(within):
        raise UsageError("Only a whole corpus can be asked within a part of it.", hint="Leave out the part.")
    else:
        yield corpus


@contextmanager
def _joint_for_one_run(corpus: JointCorpus, within: Sequence[Within]) -> Iterator[Corpus]:
    """Those corpora that have anything within the part. Raises the NothingWithin of the first where none has."""
    from iterative_rag.index.joint_corpus import JointCorpus

    with ExitStack() as opened:
        parts, empty = [], []
        for part in corpus.parts:
            try:
                parts.append(opened.enter_context(for_one_run(part, within)))
            except NothingWithin as error:
                empty.append(error)
        if not parts:
            raise empty[0]
        yield JointCorpus(parts)
