"""What the reading of a run works with, and how far it goes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Self

from iterative_rag.protocols import Cache, Corpus, Extractor, FactCheck, Vectors
from iterative_rag.retrieval.extract_cache import ExtractCache
from iterative_rag.retrieval.reading_memory import ReadingMemory
from iterative_rag.types import DocumentAtHand

# Documents and facts of a need, where sources are to corroborate or contradict each other.
CORROBORATING = 5


@dataclass(frozen=True, slots=True)
class ReaderSetup:
    """`on_hit` is called for every extraction that the cache had; each document is read within the context that
    `reading` gives for it.

    `metered`: the extractor's calls cost, so a need is read only as far as it is open, and a document is asked for all
    needs of a hop at once, in windows of `window_chars` characters. `least` is then how many documents are read for a
    need even if the first has its value; `documents_per_call` and `call_chars` bound the windows that share a call.
    `in_flight` is how many calls run at once. `memory` is what the run has read so far. `check` is asked
    about every fact.
    """

    corpus: Corpus
    extractor: Extractor
    cache: Cache
    fact_limit: int
    in_flight: int
    on_hit: Callable[[str], None]
    metered: bool = True
    least: int = 1
    window_chars: int = 4000
    documents_per_call: int = 1
    call_chars: int = 4000
    memory: ReadingMemory = field(default_factory=ReadingMemory)
    embed: Callable[[str], Vectors] | None = None
    check: FactCheck | None = None
    reading: Callable[[DocumentAtHand], AbstractContextManager[None]] = lambda document: nullcontext()

    @property
    def extract_cache(self) -> ExtractCache:
        return ExtractCache(self.cache, self.extractor, self.embed)

    def corroborating(self, *, limited: bool) -> Self:
        """The same reader, but it reads on after the first value for others that agree or contradict it; no further
        than its fact limit if the user has `limited` the facts."""
        limit = self.fact_limit if limited else max(CORROBORATING, self.fact_limit)
        return replace(self, fact_limit=limit, least=CORROBORATING)
