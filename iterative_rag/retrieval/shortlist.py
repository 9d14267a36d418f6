"""Which documents to read for a need: one hybrid query for each need, its hits grouped by document."""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.protocols import Corpus
from iterative_rag.retrieval.need_words import plain_words, without_scaffolding
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
    lists = [
        sharpened(query, [_candidate(corpus, *one) for one in _grouped(hits)], documents, keep_tail=keep_tail)
        for query, hits in zip(queries, found, strict=True)
    ]
    return [_expected_first(corpus, need, listed, passages) for need, listed in zip(needs, lists, strict=True)]


def _expected_first(
    corpus: Corpus, need: Need, listed: tuple[ShortlistedDocument, ...], passages: int
) -> tuple[ShortlistedDocument, ...]:
    """The list, with the article first where a model expects the fact, if the corpus has it. Its title is searched for
    apart: in the query of the need it would bring whatever has the same words."""
    if not need.see:
        return listed
    title = plain_words(need.see)
    entries = (entry for entry in listed if plain_words(entry.title) == title)
    if (expected := next(entries, None)) is None:
        (hits,) = corpus.search([f"{need.see} {need.question}"], passages)
        groups = (one for one in _grouped(hits) if plain_words(one[1][0].title) == title)
        if (group := next(groups, None)) is None:
            return listed
        expected = _candidate(corpus, *group).entry
    others = [entry for entry in listed if entry.document_id != expected.document_id]
    return (expected, *others[: max(0, len(listed) - 1)])


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
