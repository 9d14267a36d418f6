"""The built-in reader as a reranker: how likely a passage answers the question by itself."""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.builtin.reading.span_reader import SpanReader


class ReaderReranker:
    """Implements protocols.Reranker. Costs nothing until the first passage; raises WeightsError where weights are
    missing."""

    def __init__(self, reader: SpanReader | None = None) -> None:
        self._reader = reader or SpanReader()

    @property
    def name(self) -> str:
        return self._reader.name

    def relevance(self, query: str, passages: Sequence[tuple[str, str]]) -> list[float]:
        return [reading.relevance for reading in self._reader.read_pairs(query, passages)]
