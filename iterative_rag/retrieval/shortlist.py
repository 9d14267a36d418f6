"""Which documents to read for a need: one hybrid query for each need, its hits grouped by document.

For LLM backends, where every document read is a call, the list is sharpened: names count, repeated texts take one
place, lists come late, noise is left out. Weights and limits were chosen on one half of the
questions whose gold articles are known, and measured on the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from iterative_rag.protocols import Corpus
from iterative_rag.retrieval.need_words import (
    ADDITION,
    CAPITAL_NOUNS,
    holds_words,
    is_titled,
    names_in,
    plain_words,
    without_scaffolding,
)
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import language
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Hit, Need, ShortlistedDocument

# What the best rank in either half of the search (dense or BM25) adds to a document's fused score: a passage that one
# half ranks first is often the decisive one, even where the other half misses it. Many weak hits add nothing.
RANK_WEIGHT = 0.05
RANK_OFFSET = 3
# What the document of a name's own title gets.
TITLE_WEIGHT = 0.003
# What a name of the need that stands in a document gets, divided by the root of the documents that it stands in; a name
# of one word says less.
NAME_WEIGHT, ONE_WORD = 0.016, 0.3
# Documents of less than this share of the best score are left out where the best one holds all names of a need of at
# most so many words. Longer questions ask about several documents. Some documents are always kept.
LEAST_SHARE, MOST_WORDS, FEWEST = 0.5, 16, 3
# Pages of the kind "List of ..." that come before prose.
LISTS_FIRST = 2
# Of the words of two repeated texts this share is the same, and all their names and numbers are.
REPEATED = 0.9

_LIST_TITLE = lazy_pattern(
    r"(?:lists?|index|outline|timeline|glossary|catalogue) of\b|liste(?: der| des| de|n)?\b|listas? de\b|elenco\b|"
    r"lijst van\b|.*\((?:disambiguation|begriffsklarung|homonymie|desambiguacion|disambigua)\)$"
)
_TOKEN = lazy_pattern(r"[^\W_]+")


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
    left out unless `keep_tail`.
    """
    if not sharpen:
        results = corpus.search([need.question for need in needs], passages)
        return [tuple(candidate.entry for candidate in _candidates(corpus, hits, documents)) for hits in results]
    queries = [without_scaffolding(need.question) for need in needs]
    results = corpus.search(queries, passages)
    lists = [
        _sharpened(query, _candidates(corpus, hits), documents, keep_tail=keep_tail)
        for query, hits in zip(queries, results, strict=True)
    ]
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
        entries += [
            named.entry for named in _candidates(corpus, [hit for hit in hits if is_titled(hit.title, need.see)])
        ]
    if not entries:
        return listed
    expected = min(entries, key=lambda entry: plain_words(entry.title) != plain_words(need.see))
    others = [entry for entry in listed if entry.document_id != expected.document_id]
    return (expected, *others[: max(0, len(listed) - 1)])


def _candidates(corpus: Corpus, hits: Sequence[Hit], most: int | None = None) -> list[_Candidate]:
    """The documents of the hits with their scores, best first."""
    by_document: dict[str, list[Hit]] = {}
    for hit in hits:
        by_document.setdefault(hit.document_id, []).append(hit)
    candidates = []
    for document_id in sorted(by_document, key=lambda id_: (-_score(by_document[id_]), id_))[:most]:
        document, own = corpus.document(document_id), tuple(by_document[document_id])
        entry = ShortlistedDocument(document.id, own[0].title, document.source, _score(own), own)
        candidates.append(_Candidate(entry, tuple(document.text[hit.start : hit.end] for hit in own)))
    return candidates


def _score(hits: Sequence[Hit]) -> float:
    ranks = [rank for hit in hits for rank in (hit.dense_rank, hit.sparse_rank) if rank is not None]
    best = max((1 / (RANK_OFFSET + rank) for rank in ranks), default=0.0)
    return hits[0].score + RANK_WEIGHT * best


# --- sharpening ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Candidate:
    """A document with the texts of its hits, best first."""

    entry: ShortlistedDocument
    texts: tuple[str, ...]

    @cached_property
    def name(self) -> str:
        """The title without what tells it from its namesakes: "Mercury" of "Mercury (planet)"."""
        return plain_words(ADDITION.sub("", self.entry.title))

    @cached_property
    def words(self) -> str:
        """What names are looked for in."""
        return "  ".join(map(plain_words, (self.entry.title, *self.texts)))

    @cached_property
    def is_list(self) -> bool:
        return bool(_LIST_TITLE.match(folded(self.entry.title)))

    @cached_property
    def tokens(self) -> tuple[frozenset[str], frozenset[str]]:
        """The words of the best hit, and those of them that are names or numbers."""
        words = _TOKEN.findall(self.texts[0] if self.texts else "")
        telling = frozenset(word for word in words if any(sign.isupper() or sign.isdigit() for sign in word))
        return frozenset(map(folded, words)), telling


def _sharpened(
    question: str, candidates: Sequence[_Candidate], most: int, *, keep_tail: bool = False
) -> tuple[ShortlistedDocument, ...]:
    """At most `most` documents, best first, with their sharpened scores; also those far below the best one if
    `keep_tail`."""
    names = names_in(question)
    scored = _scored(question, names, candidates)
    distinct = list(_distinct(scored))
    late = [candidate for candidate in distinct if candidate.is_list][LISTS_FIRST:]
    ranked = [candidate for candidate in distinct if candidate not in late] + late
    kept = ranked if keep_tail else _without_tail(question, names, ranked)
    return tuple(candidate.entry for candidate in kept[:most])


def _scored(question: str, names: Sequence[str], candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """The candidates with what titles and names add to their scores, best first."""
    asked, doubtful = plain_words(question), language(question) in CAPITAL_NOUNS
    held = {name: [holds_words(candidate.words, name) for candidate in candidates] for name in names}
    full = {name for name in names if " " in name and not doubtful}
    worth = {name: (1.0 if name in full else ONE_WORD) / max(1, sum(held[name])) ** 0.5 for name in names}
    scored = []
    for index, candidate in enumerate(candidates):
        score = candidate.entry.score + NAME_WEIGHT * sum(worth[name] for name in names if held[name][index])
        if (" " in candidate.name and holds_words(asked, candidate.name)) or any(
            holds_words(name, candidate.name) for name in names
        ):
            score += TITLE_WEIGHT
        scored.append(replace(candidate, entry=replace(candidate.entry, score=score)))
    return sorted(scored, key=lambda candidate: (-candidate.entry.score, candidate.entry.document_id))


def _distinct(candidates: Sequence[_Candidate]) -> Iterator[_Candidate]:
    """The candidates without those whose best text repeats that of a better one."""
    seen: list[tuple[frozenset[str], frozenset[str]]] = []
    for candidate in candidates:
        words, telling = candidate.tokens
        if words and any(
            telling == other_telling and len(words & other) >= REPEATED * len(words | other)
            for other, other_telling in seen
        ):
            continue
        seen.append((words, telling))
        yield candidate


def _without_tail(question: str, names: Sequence[str], ranked: Sequence[_Candidate]) -> Sequence[_Candidate]:
    if not names or len(question.split()) > MOST_WORDS or len(ranked) <= FEWEST:
        return ranked
    if not all(holds_words(ranked[0].words, name) for name in names):
        return ranked
    least = LEAST_SHARE * ranked[0].entry.score
    return [candidate for rank, candidate in enumerate(ranked) if rank < FEWEST or candidate.entry.score >= least]
