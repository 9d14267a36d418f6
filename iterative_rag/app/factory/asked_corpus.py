"""What is asked: a corpus, or several, with the settings and who plays the roles; and how documents come into it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial, update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, cast

from iterative_rag.app.factory.backends import make_embedder
from iterative_rag.app.factory.corpus_actions import index_paths, written_corpus
from iterative_rag.app.factory.opening import for_one_run
from iterative_rag.errors import UsageError
from iterative_rag.settings import Settings, load_settings
from iterative_rag.storage.output import parts_as_text
from iterative_rag.types import Document, Hit, Within

if TYPE_CHECKING:
    from iterative_rag.index.indexed_corpus import IndexedCorpus
    from iterative_rag.index.indexing_progress import Progress
    from iterative_rag.index.ingest import IngestReport
    from iterative_rag.index.joint_corpus import JointCorpus
    from iterative_rag.protocols import Backend, Cache, Corpus, Embedder

Owner = TypeVar("Owner")
P = ParamSpec("P")
R = TypeVar("R")


class class_or_object(Generic[Owner, P, R]):
    """Called on the class, the method gets None for `self`."""

    def __init__(self, method: Callable[Concatenate[Owner | None, P], R]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, instance: Owner | None, owner: type[Owner]) -> Callable[P, R]:
        bound = partial(self._method, instance)
        update_wrapper(bound, self._method)
        return bound


class AskedCorpus:
    """The open corpus of an `IterativeRAG`, and what is done with it without asking a question."""

    def __init__(
        self,
        settings: Settings,
        *,
        corpus: Corpus,
        backend: Backend,
        cache: Cache,
        notice: str = "",
        embedder: Embedder | None = None,
        within: tuple[Within, ...] = (),
    ) -> None:
        """`embedder` compares needs in other words, where what was extracted may be reused for them. Questions are kept
        to the part of the corpus that is `within` all of these, and within that of the settings."""
        self.embedder = embedder
        self.within = within
        self.settings = settings
        self.corpus = corpus
        self.backend = backend
        self.notice = notice
        self.store = cache

    @class_or_object
    def index(
        self: AskedCorpus | None,
        /,
        documents: Iterable[object],
        *,
        corpus: str = "",
        embed_model: object | None = None,
        replace: bool = False,
        settings: Settings | None = None,
        progress: Callable[[Progress], None] | None = None,
        **overrides: Any,
    ) -> IngestReport:
        """Add documents to a corpus, or bring those that have changed up to date; a new corpus is made.

        `documents` are `Document`s, documents or nodes of LlamaIndex, and paths of files and folders. Called on an
        object, its own corpus and embedder are used unless others are named, and it finds the new documents at once.
        Called on the class, the corpus is that of the settings, else `default`; `embed_model` is what
        `from_settings` takes, and the corpus is opened with the same. Documents that were given in an
        earlier call stay, or go with `replace`; a file that is no longer in its folder goes.

        Raises UsageError, SettingsError, CorpusError or EmbedderError.
        """
        from iterative_rag.sources.given_documents import GivenDocuments

        if isinstance(embed_model, str):
            overrides["embedder"], embed_model = embed_model, None
        settings = settings or (self.settings if self else None)
        settings = settings.model_copy(update=overrides) if settings else load_settings(overrides, given_in="the call")
        if self is not None:
            corpus = corpus or written_corpus(self.corpus)
            embed_model = embed_model if embed_model or "embedder" in overrides else self.embedder
        everything = [documents] if isinstance(documents, str | Path) else list(documents)
        given = [document for document in everything if not isinstance(document, str | Path)]
        return index_paths(
            [Path(path) for path in everything if isinstance(path, str | Path)],
            settings=settings,
            corpus=corpus or None,
            embedder=make_embedder(settings.embedder if embed_model is None else embed_model, settings),
            given=GivenDocuments(given) if given else None,
            adding=not replace,
            progress=progress,
        )

    def over(self, corpus: Corpus, /, *, within: Within | None = None, **overrides: Any) -> Self:
        """The same backend and cache over another corpus, or a subset of this one, optionally with other settings.
        `within` narrows the part of it that is asked."""
        settings = self.settings.model_copy(update=overrides)
        return type(self)(
            settings,
            corpus=corpus,
            backend=self.backend,
            cache=self.store,
            notice=self.notice,
            embedder=self.embedder,
            within=(*self.within, within) if within else self.within,
        )

    def titles(self) -> list[str]:
        """The titles of all documents of the corpus, or of those that are asked together, sorted.

        Raises UsageError for a corpus that does not list them.
        """
        return self._indexed().titles()

    def among(self, *titles: str) -> Self:
        """The same over the documents of these titles alone, as long as this one is open.

        Raises CorpusError for a title that no document has, which names the nearest ones.
        """
        from iterative_rag.index.filters import CorpusPart
        from iterative_rag.index.indexed_corpus import IndexedCorpus

        whole = self._indexed()
        chosen = {document.id for title in titles for document in whole.find(title)}
        return self.over(CorpusPart(whole, chosen) if isinstance(whole, IndexedCorpus) else whole.among(chosen))

    @property
    def lists_titles(self) -> bool:
        """Whether the corpus, or one of those that are asked together, lists its documents."""
        from iterative_rag.index.indexed_corpus import IndexedCorpus
        from iterative_rag.index.joint_corpus import JointCorpus

        corpus = self.corpus
        return isinstance(corpus, IndexedCorpus) or (isinstance(corpus, JointCorpus) and corpus.lists)

    def _indexed(self) -> IndexedCorpus | JointCorpus:
        if self.lists_titles:
            return cast("IndexedCorpus | JointCorpus", self.corpus)
        raise UsageError("This corpus does not list its documents.", hint="Index them: iterative-rag index PATH")

    def search(self, query: str, limit: int = 10) -> list[tuple[Hit, Document]]:
        """The best passages of one search, each with its document, without any LLM: `document.text[hit.start:hit.end]`.

        Raises CorpusError, EmbedderError, or NothingWithin.
        """
        with for_one_run(self.corpus, self.parts) as corpus:
            hits = corpus.search([query], limit)[0]
            documents = {document_id: corpus.document(document_id) for document_id in {hit.document_id for hit in hits}}
        return [(hit, documents[hit.document_id]) for hit in hits]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the corpus and the cache."""
        self.corpus.close()
        self.store.close()

    @property
    def parts(self) -> tuple[Within, ...]:
        """What every question is kept within."""
        return tuple(dict.fromkeys(part for part in (self.settings.within, *self.within) if part))

    def used_settings(self) -> dict[str, Any]:
        """The settings of a run, as its trace and answer tell them."""
        used = self.settings.model_dump() | {"corpus": self.corpus.name, "backend": self.backend.name}
        used |= {"within_where": "; ".join(self.settings.within_where), "given": sorted(self.settings.given)}
        return used | ({"within": parts_as_text(self.parts)} if self.parts else {})
