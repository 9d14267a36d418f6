"""BM25 as sparse vectors, the same for every store."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from iterative_rag.retrieval.analysers import ENGLISH, Analyser, analyser

Sparse = tuple[list[int], list[float]]  # indices and values

# What a term counts that one way of analysing a word gives and another does not.
_HALF = 0.5


def bm25_document(text: str, language: str = ENGLISH) -> Sparse:
    """Term weights of a passage of a document in this language; the store multiplies them by the inverse document
    frequency."""
    own = analyser(language)
    prepared = own.prepared(text)
    vector = own.plain.embed_document(prepared)
    if own.accented is own.plain or prepared.isascii():
        return vector.indices, vector.values
    spelt = own.accented.embed_document(prepared)
    weights = dict(zip(vector.indices, vector.values, strict=True))
    weights |= zip(spelt.indices, spelt.values, strict=True)
    return list(weights), list(weights.values())


@lru_cache(maxsize=1024)
def bm25_query(text: str, languages: tuple[str, ...] = (ENGLISH,)) -> Sparse:
    """The terms of a query over documents in these languages, each of weight 1 or less; empty when it holds only stop
    words.

    Each language analyses it, because a name may stand in a document of any; stop words of the language of the query
    are left out of all.
    """
    if languages == (ENGLISH,):
        english = analyser(ENGLISH)
        vector = english.plain.embed_query(english.prepared(text))
        return vector.indices, vector.values
    from iterative_rag.text import spoken_language

    told = spoken_language.language_of_text(text)
    asked_in = analyser(ENGLISH if told == spoken_language.ENGLISH else told) if told else None
    weights: dict[int, float] = {}
    for code in languages:
        for index, weight in _terms(text, analyser(code), asked_in).items():
            weights[index] = max(weight, weights.get(index, 0.0))
    return list(weights), list(weights.values())


def bm25_order(
    query: str, passages: Sequence[Mapping[int, float]], languages: tuple[str, ...] = (ENGLISH,)
) -> list[int]:
    """The numbers of the passages that hold words of the query, best first, by BM25 with the document frequencies of
    these passages, which are given as the weights of their terms."""
    weights = dict(zip(*bm25_query(query, languages), strict=True))
    rows = [weights.keys() & passage.keys() for passage in passages]
    frequencies = Counter(term for row in rows for term in row)
    rarity = {
        term: weights[term] * math.log(1 + (len(rows) - count + 0.5) / (count + 0.5))
        for term, count in frequencies.items()
    }
    scores = [sum(rarity[term] * passage[term] for term in row) for row, passage in zip(rows, passages, strict=True)]
    return sorted((number for number, score in enumerate(scores) if score > 0), key=lambda number: -scores[number])


def _terms(text: str, own: Analyser, asked_in: Analyser | None) -> dict[int, float]:
    words = own.prepared(text).split()
    words = [word for word in words if not own.drops(word) and not (asked_in and asked_in.drops(word))]
    prepared = " ".join(words)
    plain = {*own.plain.embed_query(prepared).indices}
    spelt = {*own.accented.embed_query(prepared).indices}
    # A word whose accents lead to another stem counts half in either spelling, hence once where both match.
    return {index: 1.0 if index in plain and index in spelt else _HALF for index in plain | spelt}
