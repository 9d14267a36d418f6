"""Which documents to read for a need: one hybrid query each, the hits grouped into documents."""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.protocols import Corpus
from iterative_rag.types import Hit, Need, ShortlistedDocument

# Hits of one document that add to its score: a document that is about the need has several, a long one has many.
COUNTED_HITS = 3


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
    scored = [(sum(hit.score for hit in group[:COUNTED_HITS]), group) for group in by_document.values()]
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
