"""Sharpens the shortlist of a need: names count, repeated texts take one place, lists come late, noise is left out.

For LLM backends, where every document read is a call. Weights and limits were chosen on
one half of look-ups of MuSiQue, PopQA and TimeQA, by the recall of their articles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from iterative_rag.retrieval.need_words import CAPITAL_NOUNS, holds_words, names_in, plain_words
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import language
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import ShortlistedDocument

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
_DISAMBIGUATOR = lazy_pattern(r"\s*\([^)]*\)\s*$")
_TOKEN = lazy_pattern(r"[^\W_]+")


@dataclass(frozen=True)
class DocumentHits:
    """A document with the texts of its hits, best first."""

    entry: ShortlistedDocument
    texts: tuple[str, ...]

    @cached_property
    def title(self) -> str:
        return plain_words(self.entry.title)

    @cached_property
    def name(self) -> str:
        """The title without what tells it from its namesakes: "Mercury" of "Mercury (planet)"."""
        return plain_words(_DISAMBIGUATOR.sub("", self.entry.title))

    @cached_property
    def words(self) -> str:
        """What names are looked for in."""
        return "  ".join([self.title, *map(plain_words, self.texts)])

    @cached_property
    def is_list(self) -> bool:
        return bool(_LIST_TITLE.match(folded(self.entry.title)))

    @cached_property
    def tokens(self) -> tuple[frozenset[str], frozenset[str]]:
        """The words of the best hit, and those of them that are names or numbers."""
        words = _TOKEN.findall(self.texts[0] if self.texts else "")
        telling = frozenset(word for word in words if any(sign.isupper() or sign.isdigit() for sign in word))
        return frozenset(map(folded, words)), telling


def sharpened(
    question: str, candidates: Sequence[DocumentHits], most: int, *, keep_tail: bool = False
) -> tuple[ShortlistedDocument, ...]:
    """At most `most` documents, best first, with their sharpened scores; also those far below the best one if
    `keep_tail`."""
    names = names_in(question)
    scored = _scored(question, names, candidates)
    distinct = list(_distinct(scored))
    late = [one for one in distinct if one.is_list][LISTS_FIRST:]
    ranked = [one for one in distinct if one not in late] + late
    kept = ranked if keep_tail else _without_tail(question, names, ranked)
    return tuple(one.entry for one in kept[:most])


def _scored(question: str, names: Sequence[str], candidates: Sequence[DocumentHits]) -> list[DocumentHits]:
    """The candidates with what titles and names add to their scores, best first."""
    asked, doubtful = plain_words(question), language(question) in CAPITAL_NOUNS
    held = {name: [holds_words(one.words, name) for one in candidates] for name in names}
    full = {name for name in names if " " in name and not doubtful}
    worth = {name: (1.0 if name in full else ONE_WORD) / max(1, sum(held[name])) ** 0.5 for name in names}
    scored = []
    for place, one in enumerate(candidates):
        score = one.entry.score + NAME_WEIGHT * sum(worth[name] for name in names if held[name][place])
        if (" " in one.name and holds_words(asked, one.name)) or any(holds_words(name, one.name) for name in names):
            score += TITLE_WEIGHT
        scored.append(replace(one, entry=replace(one.entry, score=score)))
    return sorted(scored, key=lambda one: (-one.entry.score, one.entry.document_id))


def _distinct(candidates: Sequence[DocumentHits]) -> Iterator[DocumentHits]:
    """The candidates without those whose best text repeats that of a better one."""
    seen: list[tuple[frozenset[str], frozenset[str]]] = []
    for one in candidates:
        words, telling = one.tokens
        if words and any(
            telling == other_telling and len(words & other) >= REPEATED * len(words | other)
            for other, other_telling in seen
        ):
            continue
        seen.append((words, telling))
        yield one


def _without_tail(question: str, names: Sequence[str], ranked: Sequence[DocumentHits]) -> Sequence[DocumentHits]:
    if not names or len(question.split()) > MOST_WORDS or len(ranked) <= FEWEST:
        return ranked
    if not all(holds_words(ranked[0].words, name) for name in names):
        return ranked
    least = LEAST_SHARE * ranked[0].entry.score
    return [one for place, one in enumerate(ranked) if place < FEWEST or one.entry.score >= least]
