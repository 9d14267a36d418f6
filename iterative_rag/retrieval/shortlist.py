"""Which documents to read for a need: one hybrid query for each need, its hits grouped by document."""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.protocols import Corpus
from iterative_rag.types import Hit, Need, ShortlistedDocument

# What the best rank in either half of the search (dense or BM25) adds to a document's fused score: a passage that one
# half ranks first is often the decisive one, even where the other half misses it. Many weak hits add nothing.
RANK_WEIGHT = 0.05
RANK_OFFSET = 3


def shortlist(
    corpus: Corpus, needs: Sequence[Need], *, documents: int, passages: int
) -> list[tuple[ShortlistedDocument, ...]]:
    """The best `documents` of each need, out of the best `passages` hits of its query."""
    found = corpus.search([need.question for need in needs], passages)
    return [_grouped(corpus, hits, documents) for hits in found]


def _grouped(corpus: Corpus, hits: Sequence[Hit], documents: int) -> tuple[ShortlistedDocument, ...]:
    by_document: dict[str, list[Hit]] = {}
    for hit in hits:
        by_document.setdefault(hit.document_id, []).append(hit)
    scored = [(_score(group), group) for group in by_document.values()]
    scored.sort(key=lambda item: (-item[0], item[1][0].document_id))
    return tuple(
        ShortlistedDocument(
            document_id=group[0].document_id,
            title=group[0].title,
            source=corpus.document(group[0].document_id).source,
            score=score,
            hits=tuple(group),
        )
        for score, group in scored[:documents]
    )


def _score(hits: Sequence[Hit]) -> float:
    ranks = [rank for hit in hits for rank in (hit.dense_rank, hit.sparse_rank) if rank is not None]
    best = max((1 / (RANK_OFFSET + rank) for rank in ranks), default=0.0)
    return hits[0].score + RANK_WEIGHT * best
