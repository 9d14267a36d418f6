"""Which documents may be read for a need: one hybrid query for each need, its hits grouped by document.

Of texts that repeat one another the best is listed, and the article where a model expects the fact comes first. Where
every document that is read costs a call, `likelihood` decides which of them are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from iterative_rag.protocols import Corpus
from iterative_rag.retrieval.need_words import is_titled, plain_words
from iterative_rag.text.folding import folded
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Hit, Need, ShortlistedDocument

# What the best rank in either half of the search (dense or BM25) adds to a document's fused score: a passage that one
# half ranks first is often the decisive one, even where the other half misses it. Many weak hits add nothing.
RANK_WEIGHT = 0.05
RANK_OFFSET = 3
# Of the words of two repeated texts this share is the same, and all their names and numbers are.
REPEATED = 0.9

_TOKEN = lazy_pattern(r"[^\W_]+")


def shortlist(
    corpus: Corpus, needs: Sequence[Need], *, documents: int, passages: int
) -> list[tuple[ShortlistedDocument, ...]]:
    """The best `documents` of each need, out of the best `passages` hits of its query."""
    results = corpus.search([need.question for need in needs], passages)
    lists = [tuple(islice(_distinct(corpus, _grouped(corpus, hits)), documents)) for hits in results]
    return [_expected_first(corpus, need, listed, passages) for need, listed in zip(needs, lists, strict=True)]


def _expected_first(
    corpus: Corpus, need: Need, listed: tuple[ShortlistedDocument, ...], passages: int
) -> tuple[ShortlistedDocument, ...]:
    """The list, with the article first where a model expects the fact, if the corpus has it. Its title is searched for
    apart: in the query of the need it would bring whatever has the same words."""
    if not need.see:
        return listed
    entries = [entry for entry in listed if is_titled(entry.title, need.see)]
    if not any(plain_words(entry.title) == plain_words(need.see) for entry in entries):
        (hits,) = corpus.search([f"{need.see} {need.question}"], passages)
        entries += _grouped(corpus, [hit for hit in hits if is_titled(hit.title, need.see)])
    if not entries:
        return listed
    expected = min(entries, key=lambda entry: plain_words(entry.title) != plain_words(need.see))
    others = [entry for entry in listed if entry.document_id != expected.document_id]
    return (expected, *others[: max(0, len(listed) - 1)])


def _grouped(corpus: Corpus, hits: Sequence[Hit]) -> Iterator[ShortlistedDocument]:
    """The documents of the hits with their scores, best first."""
    by_document: dict[str, list[Hit]] = {}
    for hit in hits:
        by_document.setdefault(hit.document_id, []).append(hit)
    for id_, own in sorted(by_document.items(), key=lambda item: (-_score(item[1]), item[0])):
        yield ShortlistedDocument(id_, own[0].title, corpus.document(id_).source, _score(own), tuple(own))


def _score(hits: Sequence[Hit]) -> float:
    ranks = [rank for hit in hits for rank in (hit.dense_rank, hit.sparse_rank) if rank is not None]
    best = max((1 / (RANK_OFFSET + rank) for rank in ranks), default=0.0)
    return hits[0].score + RANK_WEIGHT * best


def _distinct(corpus: Corpus, ranked: Iterable[ShortlistedDocument]) -> Iterator[ShortlistedDocument]:
    """The documents without those whose best text repeats that of a better one."""
    seen: list[tuple[frozenset[str], set[str]]] = []  # names and numbers as they are written, and all words, folded
    for entry in ranked:
        best = entry.hits[0]
        written = _TOKEN.findall(corpus.document(entry.document_id).text[best.start : best.end])
        names = frozenset(word for word in written if any(sign.isupper() or sign.isdigit() for sign in word))
        words = set(map(folded, written))
        alike = (other for telling, other in seen if telling == names)
        if words and any(len(words & other) >= REPEATED * len(words | other) for other in alike):
            continue
        seen.append((names, words))
        yield entry
