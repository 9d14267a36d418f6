"""The corpora and backends that are served, each opened when it is first asked for and then shared by all runs."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence

from iterative_rag.app.factory import (
    STARTER_CORPUS,
    IterativeRAG,
    asked_names,
    corpora,
    corpus_name,
    known_names,
    open_corpus,
)
from iterative_rag.errors import CorpusNotFound, UsageError
from iterative_rag.index.indexed_corpus import IndexedCorpus
from iterative_rag.index.joint_corpus import JointCorpus
from iterative_rag.index.zim.zim_corpus import ZimCorpus
from iterative_rag.protocols import Corpus
from iterative_rag.registry import STRATEGIES
from iterative_rag.settings import Settings
from iterative_rag.storage.past_runs import PastRun

BUILTIN = "builtin"


class RagPool:
    """One `IterativeRAG` for each corpus and backend that was asked for. Safe to use from several threads.

    `backends` are what a request may choose, by public name: a spec, a LlamaIndex LLM or a ChatModel; the first is the
    default. Names that contain an address are never told to a client.
    """

    def __init__(
        self, settings: Settings, *, served: Sequence[str] = (), backends: Mapping[str, object] | None = None
    ) -> None:
        # A ZIM file is served by its name: a client can neither see a path nor name one.
        self.settings = settings.model_copy(update={"corpus": known_names(settings)})
        named = (known_names(settings.model_copy(update={"corpus": name})) for name in served)
        self._served = tuple(dict.fromkeys(named))
        self._llms = dict(backends) if backends else _configured(settings)
        self.backends = tuple(self._llms)
        self._lock = threading.Lock()
        self._open: dict[tuple[str, str], IterativeRAG] = {}

    @property
    def strategies(self) -> tuple[str, ...]:
        """Those that a backend which is offered can follow."""
        return tuple(dict.fromkeys(name for llm in self._llms for name in STRATEGIES.offered_with(llm)))

    @property
    def default_corpus(self) -> str:
        """The corpus that is asked where none is named; it may be several, whose names stand between commas."""
        return self._served[0] if self._served else corpus_name(self.settings)

    def corpora(self) -> list[str]:
        """The corpora that may be asked, each by itself or several at once, the default first. The starter corpus is
        indexed when it is first asked."""
        if self._served:
            return list(dict.fromkeys(part for name in self._served for part in self.parts(name)))
        names = [*self.parts(self.default_corpus), *corpora(self.settings.index).names(), STARTER_CORPUS]
        return list(dict.fromkeys(names))

    def parts(self, corpus: str) -> list[str]:
        """The corpora that a name stands for: itself, or those between its commas."""
        return asked_names(self.settings.model_copy(update={"corpus": corpus}))

    def served(self, corpus: str) -> str:
        """The corpus of that name, the default for "", or several whose names stand between commas. Raises
        CorpusNotFound for one that is not served."""
        if not corpus:
            return self.default_corpus
        known, parts = self.corpora(), self.parts(corpus)
        if missing := [name for name in parts or [corpus] if name not in known]:
            raise CorpusNotFound(
                f"There is no corpus {missing[0]!r} here.", hint=f"Served here: {', '.join(known[:10])}."
            )
        return ",".join(parts)

    def serves(self, run: PastRun) -> bool:
        """Whether a run of the past asked only corpora that are served here: no client is shown others."""
        return asked_only(run.corpus, self.corpora())

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
        opened = [self._of_one(part, backend) for part in self.parts(corpus)]
        if len(opened) == 1:
            return opened[0]
        # The pool keeps those open and closes them, so the joint one is not kept.
        return opened[0].over(JointCorpus([rag.corpus for rag in opened]), corpus=corpus)

    def _of_one(self, corpus: str, backend: str) -> IterativeRAG:
        if known := self._open.get((corpus, backend)):  # not kept waiting by one that is being opened
            return known
        with self._lock:
            if (known := self._open.get((corpus, backend))) is None:
                known = self._open[corpus, backend] = self._opened(corpus, backend)
            return known

    def check(self) -> None:
        """Raise CorpusNotFound if a corpus that is to be served is not there."""
        known = corpora(self.settings.index)
        for part in (part for name in self._served for part in self.parts(name) or [name]):
            if part != STARTER_CORPUS and part not in known.names():
                known.info(part)

    def corpus(self, name: str = "") -> IndexedCorpus | ZimCorpus:
        """One corpus, opened, whatever backend it was opened for; none is loaded for it. Of several that are the
        default it is the first. Raises UsageError where several are named."""
        parts = self.parts(self.served(name))
        if name and len(parts) > 1:
            raise UsageError(
                "Several corpora can be asked at once, but are searched and read one at a time.",
                hint=f"Name one of them: {', '.join(parts)}.",
            )
        name = parts[0]
        opened = next((rag for (known, _), rag in list(self._open.items()) if known == name), None)
        corpus = (opened or self.rag(name, BUILTIN if BUILTIN in self._llms else "")).corpus
        assert isinstance(corpus, IndexedCorpus | ZimCorpus), "only corpora of ours and ZIM files are served"
        return corpus

    def asked(self, corpus: str) -> Corpus:
        """What a run has asked, opened: one corpus, or several as one. Raises CorpusError."""
        opened = [self.corpus(part) for part in self.parts(self.served(corpus))]
        return opened[0] if len(opened) == 1 else JointCorpus(opened)

    def _opened(self, corpus: str, backend: str) -> IterativeRAG:
        beside = next((rag.corpus for (name, _), rag in self._open.items() if name == corpus), None)
        like = next((rag for (_, other), rag in self._open.items() if other == backend), None)
        if like is not None:  # the models are loaded once
            settings = like.settings.model_copy(update={"corpus": corpus})
            return like.over(beside or open_corpus(settings, like.embedder, like.store), corpus=corpus)
        settings = self.settings.model_copy(update={"corpus": corpus})
        return IterativeRAG.from_settings(settings, llm=self._llms[backend])

    def close(self) -> None:
        """Close all corpora and the cache. No run may be under way."""
        with self._lock:
            for rag in self._open.values():
                rag.close()
            self._open.clear()


def asked_only(corpus: str, served: Collection[str]) -> bool:
    """Whether the corpus that a run asked, or each of several, is among these."""
    return corpus in served or all(part in served for part in corpus.split(","))


def _configured(settings: Settings) -> dict[str, object]:
    """The backend of the settings, under a name without its address, and the built-in one."""
    from iterative_rag.llm.providers.model_choice import chosen

    spec, _ = chosen(settings.llm)
    if spec.kind == BUILTIN:
        return {BUILTIN: BUILTIN}
    return {f"{spec.kind}/{spec.model}": settings.llm, BUILTIN: BUILTIN}
