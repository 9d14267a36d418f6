"""The corpora and backends that are served, each opened when it is first asked for and then shared by all runs."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from iterative_rag.errors import CorpusNotFound, UsageError
from iterative_rag.factory import STARTER_CORPUS, IterativeRAG, corpora, corpus_name, open_corpus
from iterative_rag.past_runs import PastRun
from iterative_rag.protocols import Corpus
from iterative_rag.settings import Settings

BUILTIN = "builtin"


class RagPool:
    """One `IterativeRAG` for each corpus and backend that was asked for. Safe to use from several threads.

    `backends` are what a request may choose, by public name: a spec, a LlamaIndex LLM or a ChatModel; the first is the
    default. Names that contain an address are never told to a client.
    """

    def __init__(
        self, settings: Settings, *, served: Sequence[str] = (), backends: Mapping[str, object] | None = None
    ) -> None:
        self.settings = settings
        self._served = tuple(served)
        self._llms = dict(backends) if backends else _configured(settings)
        self._lock = threading.Lock()
        self._open: dict[tuple[str, str], IterativeRAG] = {}

    @property
    def backends(self) -> tuple[str, ...]:
        """The default first."""
        return tuple(self._llms)

    @property
    def default_corpus(self) -> str:
        return self._served[0] if self._served else corpus_name(self.settings)

    def corpora(self) -> list[str]:
        """The corpora that may be asked, the default first. The starter corpus is indexed when it is first asked."""
        if self._served:
            return list(self._served)
        return list(dict.fromkeys([self.default_corpus, *corpora(self.settings.index).names(), STARTER_CORPUS]))

    def served(self, corpus: str) -> str:
        """The corpus of that name, the default for "". Raises CorpusNotFound for one that is not served."""
        if not corpus:
            return self.default_corpus
        if corpus not in self.corpora():
            raise CorpusNotFound(f"There is no corpus {corpus!r} here.", hint="GET /api/corpora lists them.")
        return corpus

    def serves(self, run: PastRun) -> bool:
        """Whether a run of the past asked a corpus that is served here: no client is shown others."""
        return run.corpus in self.corpora()

    def backend(self, name: str) -> str:
        """The backend of that name, the default for "". Raises UsageError for one that is not offered."""
        if not name:
            return self.backends[0]
        if name not in self._llms:
            raise UsageError(f"There is no backend {name!r} here.", hint=f"Offered: {', '.join(self.backends)}.")
        return name

    def rag(self, corpus: str = "", backend: str = "") -> IterativeRAG:
        """What answers questions over a corpus. Opening it may take seconds. Raises CorpusError, LLMError."""
        corpus, backend = self.served(corpus), self.backend(backend)
        if known := self._open.get((corpus, backend)):  # not kept waiting by one that is being opened
            return known
        with self._lock:
            if (known := self._open.get((corpus, backend))) is None:
                known = self._open[corpus, backend] = self._opened(corpus, backend)
            return known

    def check(self, name: str) -> None:
        """Raise CorpusNotFound if there is no such corpus."""
        known = corpora(self.settings.index)
        if name != STARTER_CORPUS and name not in known.names():
            known.info(name)

    def corpus(self, name: str = "") -> Corpus:
        """A corpus, opened, whatever backend it was opened for; none is loaded for it."""
        name = self.served(name)
        if opened := next((rag.corpus for (known, _), rag in list(self._open.items()) if known == name), None):
            return opened
        return self.rag(name, BUILTIN if BUILTIN in self._llms else "").corpus

    def _opened(self, corpus: str, backend: str) -> IterativeRAG:
        beside = next((rag for (name, _), rag in self._open.items() if name == corpus), None)
        like = next((rag for (_, other), rag in self._open.items() if other == backend), None)
        if like is not None:  # the models are loaded once
            opened = (
                beside.corpus
                if beside
                else open_corpus(like.settings.model_copy(update={"corpus": corpus}), like.embedder, like.store)
            )
            return IterativeRAG(
                like.settings.model_copy(update={"corpus": corpus}),
                corpus=opened,
                backend=like.backend,
                cache=like.store,
                notice=like.notice,
                embedder=like.embedder,
            )
        settings = self.settings.model_copy(update={"corpus": corpus})
        return IterativeRAG.from_settings(settings, llm=self._llms[backend])

    def close(self) -> None:
        """Close all corpora and the cache. No run may be under way."""
        with self._lock:
            for rag in self._open.values():
                rag.close()
            self._open.clear()


def _configured(settings: Settings) -> dict[str, object]:
    """The backend of the settings, under a name without its address, and the built-in one."""
    from iterative_rag.llm.providers.model_choice import chosen

    spec, _ = chosen(settings.llm)
    if spec.kind == BUILTIN:
        return {BUILTIN: BUILTIN}
    return {f"{spec.kind}/{spec.model}": settings.llm, BUILTIN: BUILTIN}
