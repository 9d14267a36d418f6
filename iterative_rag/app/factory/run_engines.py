"""The engine of each run: its strategy with its roles, its reader, and the web where that is allowed."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iterative_rag.app.factory.backends import builtin_grader, fact_check
from iterative_rag.builtin.networks import usable_cores
from iterative_rag.engine.strategies import RunComponents, build
from iterative_rag.retrieval.document_reader import DocumentReader
from iterative_rag.retrieval.reading_memory import ReadingMemory
from iterative_rag.settings.choices import AUTO

if TYPE_CHECKING:  # most runs do not need all of these, and importing them takes time
    from iterative_rag.engine.budget import RunBudget
    from iterative_rag.engine.correction.web_search import WebSearch
    from iterative_rag.engine.driver import Engine
    from iterative_rag.engine.run_state import RunState
    from iterative_rag.protocols import Backend, Cache, Corpus, Embedder, Extractor, Grader, Roles
    from iterative_rag.retrieval.known_facts import KnownFacts
    from iterative_rag.settings import Settings
    from iterative_rag.types import Revision


@dataclass(frozen=True, slots=True)
class RunEngines:
    """Builds engines from what the runs of one `IterativeRAG` have in common."""

    settings: Settings
    backend: Backend
    cache: Cache
    embedder: Embedder | None

    def engine(
        self,
        strategy: str,
        budget: RunBudget,
        corpus: Corpus,
        revision: Revision | None = None,
        *,
        single: bool = False,
    ) -> Engine:
        """The engine of one run. `single`: one look-up of the question is known to do. Raises UsageError."""
        roles = self._roles(budget, corpus, single=single)
        grader = roles.grader
        if self.settings.grader != "backend":
            grader = builtin_grader(self.settings, self.cache)
        web: WebSearch | None = None
        if self.settings.web:
            corpus, web = self._with_web(corpus, roles, grader)
        return build(
            strategy,
            RunComponents(
                corpus,
                self._reader(corpus, roles.extractor, budget),
                roles,
                grader,
                budget,
                self.settings,
                self.backend.metered,
                web,
                self._known(corpus, roles.extractor),
                _begin(revision, corpus),
            ),
        )

    def _roles(self, budget: RunBudget, corpus: Corpus, *, single: bool) -> Roles:
        backend = self.backend
        for name in ("with_names_of", "with_languages_of"):  # what a backend may take from the corpus
            if taking := getattr(backend, name, None):
                backend = taking(corpus)
        roles: Roles = backend.roles(budget)
        if not single:
            return roles
        from iterative_rag.engine.given_analysis import SingleLookUp
        from iterative_rag.engine.stated_answer import StatedAnswer

        roles = dataclasses.replace(roles, analyst=SingleLookUp(roles.analyst))
        if self.settings.answer_language in (AUTO, "en"):
            roles = dataclasses.replace(roles, answerer=StatedAnswer(roles.answerer))
        return roles

    def _with_web(self, corpus: Corpus, roles: Roles, grader: Grader) -> tuple[Corpus, WebSearch | None]:
        """The corpus with room for web pages, and the search that fills it."""
        from iterative_rag.app.factory.web_access import web_searcher
        from iterative_rag.engine.correction.overlay_corpus import OverlayCorpus

        overlay = OverlayCorpus(corpus)
        metered = self.backend.metered and self.settings.grader == "backend"
        return overlay, web_searcher(self.settings, overlay, roles.rewriter, grader, metered=metered)

    def _reader(self, corpus: Corpus, extractor: Extractor, budget: RunBudget) -> DocumentReader:
        settings = self.settings
        embed = self.embedder.embed_query if self._reuses_by_meaning() and self.embedder else None
        return DocumentReader(
            corpus,
            extractor,
            cache=self.cache,
            fact_limit=settings.fact_limit,
            in_flight=self._in_flight(),
            on_hit=budget.cache_hit,
            metered=self.backend.metered,
            window_chars=settings.window_chars,
            documents_per_call=settings.documents_per_call,
            call_chars=getattr(self.backend, "call_chars", settings.window_chars),
            memory=ReadingMemory(embed),
            embed=embed,
            check=fact_check(self.cache),
            reading=budget.reading,
        )

    def _known(self, corpus: Corpus, extractor: Extractor) -> KnownFacts | None:
        if not self._reuses_by_meaning():
            return None
        from iterative_rag.retrieval.known_facts import KnownFacts

        return KnownFacts(self.cache, corpus, extractor.fingerprint, fact_check(self.cache))

    def _in_flight(self) -> int:
        """Windows read at the same time: as many as the user sets, else as many as the server works on at once. The
        built-in models gain nothing beyond the cores: they would only read windows that are no longer needed."""
        wanted = self.settings.calls_in_flight
        if self.backend.metered and "calls_in_flight" not in self.settings.model_fields_set:
            return getattr(self.backend, "calls_at_once", None) or wanted
        return wanted if self.backend.metered else min(wanted, usable_cores())

    def _reuses_by_meaning(self) -> bool:
        """Where reading costs nothing there is nothing to save, and every window is read in the words of its need."""
        return self.backend.metered and self.settings.cache and self.settings.reuse == "meaning"


def _begin(revision: Revision | None, corpus: Corpus) -> RunState | None:
    """Where a run begins that goes on from an edit. Raises UsageError for one that cannot be made."""
    if revision is None:
        return None
    from iterative_rag.engine.revision import revised_state

    return revised_state(revision, corpus)
