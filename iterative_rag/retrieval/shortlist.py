"""Which documents to read for a need: one hybrid query for each need, its hits grouped by document."""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.protocols import Corpus
from iterative_rag.retrieval.need_words import without_scaffolding
from iterative_rag.retrieval.sharpening import DocumentHits, sharpened
from iterative_rag.types import Hit, Need, ShortlistedDocument

# What the best rank in either half of the search (dense or BM25) adds to a document's fused score: a passage that one
# half ranks first is often the decisive one, even where the other half misses it. Many weak hits add nothing.
RANK_WEIGHT = 0.05
RANK_OFFSET = 3


def shortlist(
    corpus: Corpus,
    needs: Sequence[Need],
    *,
    documents: int,
    passages: int,
    sharpen: bool = False,
    keep_tail: bool = False,
) -> list[tuple[ShortlistedDocument, ...]]:
    """The best `documents` of each need, out of the best `passages` hits of its query.

    `sharpen`: the query is cut to what is asked, names and titles count more, and documents far below the best one are
    left out unless `keep_tail` (retrieval/sharpening.py).
    """
    if not sharpen:
        found = corpus.search([need.question for need in needs], passages)
        return [tuple(_candidate(corpus, *one).entry for one in _grouped(hits)[:documents]) for hits in found]
    queries = [without_scaffolding(need.question) for need in needs]
    found = corpus.search(queries, passages)
    return [
        sharpened(query, [_candidate(corpus, *one) for one in _grouped(hits)], documents, keep_tail=keep_tail)
        for query, hits in zip(queries, found, strict=True)
    ]


def _grouped(hits: Sequence[Hit]) -> list[tuple[float, list[Hit]]]:
    """The hits of each document with its score, best first."""
    by_document: dict[str, list[Hit]] = {}
    for hit in hits:
        by_document.setdefault(hit.document_id, []).append(hit)
    scored = [(_score(group), group) for group in by_document.values()]
    return sorted(scored, key=lambda item: (-item[0], item[1][0].document_id))


def _candidate(corpus: Corpus, score: float, hits: Sequence[Hit]) -> DocumentHits:
    document = corpus.document(hits[0].document_id)
    entry = ShortlistedDocument(document.id, hits[0].title, document.source, score, tuple(hits))
    return DocumentHits(entry, tuple(document.text[hit.start : hit.end] for hit in hits))


def _score(hits: Sequence[Hit]) -> float:
    ranks = [rank for hit in hits for rank in (hit.dense_rank, hit.sparse_rank) if rank is not None]
    best = max((1 / (RANK_OFFSET + rank) for rank in ranks), default=0.0)
    return hits[0].score + RANK_WEIGHT * best
