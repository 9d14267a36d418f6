"""Query correction: a need whose search fell short is searched for in several other ways, and the results are fused.

Multi-query retrieval with reciprocal rank fusion (Cormack et al., 2009), step-back prompting (Zheng et al., 2024), and
HyDE, hypothetical document embeddings (Gao et al., 2023).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from iterative_rag.protocols import Corpus
from iterative_rag.retrieval.shortlist import shortlist
from iterative_rag.types import Hit, Need, Rewording, ShortlistedDocument

RRF_K = 60
# Documents of each list that are fused, for each that is wanted: one that all lists rank low can still win.
DEPTH = 3

# What of a found document is still of use; None for nothing.
Unread: TypeAlias = Callable[[ShortlistedDocument], ShortlistedDocument | None]


def search_reworded(
    corpus: Corpus,
    need: Need,
    rewording: Rewording,
    documents: int,
    passages: int,
    unread: Unread = lambda entry: entry,
    known: int = 0,
) -> tuple[ShortlistedDocument, ...]:
    """The best `documents` of all searches of a rewording, each for `passages` hits, fused by reciprocal rank.

    `unread` leaves of each document what was not offered for reading before; `known` is how many documents were. The
    need's own words are not searched for again: beside them, a document in other words would have too little weight.
    The hypothetical passage counts by its dense ranks alone: its words are invented, and only its meaning resembles the
    text that is sought.
    """
    passage = rewording.passage.strip()
    others = dict.fromkeys(text for text in (*rewording.phrasings, rewording.broader) if text.strip())
    queries = [Need(text) for text in (*others, passage) if text and text != need.question]
    if not queries:
        return ()
    lists = shortlist(corpus, queries, documents=documents * DEPTH + known, passages=passages)
    if queries[-1].question == passage:
        lists[-1] = _by_meaning(lists[-1])
    left = [[entry for document in found if (entry := unread(document)) is not None] for found in lists]
    return _fused(left)[:documents]


def _by_meaning(found: Sequence[ShortlistedDocument]) -> tuple[ShortlistedDocument, ...]:
    """In the order of the best dense ranks, without those that only BM25 found; unchanged if the store has no ranks."""
    placed = [
        (min(ranks), entry)
        for entry in found
        if (ranks := [hit.dense_rank for hit in entry.hits if hit.dense_rank is not None])
    ]
    return tuple(entry for _, entry in sorted(placed, key=lambda item: item[0])) or tuple(found)


def _fused(lists: Sequence[Sequence[ShortlistedDocument]]) -> tuple[ShortlistedDocument, ...]:
    """Documents by the sum of 1 / (k + rank) over the lists, each with its hits in all lists."""
    scores: dict[str, float] = {}
    entries: dict[str, list[ShortlistedDocument]] = {}
    for found in lists:
        for rank, entry in enumerate(found, start=1):
            scores[entry.document_id] = scores.get(entry.document_id, 0.0) + 1 / (RRF_K + rank)
            entries.setdefault(entry.document_id, []).append(entry)
    order = sorted(scores, key=lambda document: (-scores[document], document))
    return tuple(
        replace(entries[document][0], score=scores[document], hits=_merged(entries[document])) for document in order
    )


def _merged(entries: Sequence[ShortlistedDocument]) -> tuple[Hit, ...]:
    """The hits of a document in several lists, each span once, best first."""
    best: dict[tuple[int, int], Hit] = {}
    for hit in (hit for entry in entries for hit in entry.hits):
        known = best.get((hit.start, hit.end))
        if known is None or known.score < hit.score:
            best[hit.start, hit.end] = hit
    return tuple(sorted(best.values(), key=lambda hit: (-hit.score, hit.start)))
