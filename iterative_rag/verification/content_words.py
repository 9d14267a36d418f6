"""A text as words: which are names, which carry meaning, and when two of them are forms of one."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass
from functools import lru_cache

from iterative_rag.text.folding import folded
from iterative_rag.text.languages import is_function_word, language_of
from iterative_rag.text.mentions import mentions, single
from iterative_rag.text.names import shared_beginning
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.values import Mention, Quantity
from iterative_rag.verification.relation_words import relations

REACH = 12
_WORD = lazy_pattern(r"[^\W\d_]+")
_SENTENCE_START = lazy_pattern(r"(?:^|[.!?:…]\s+|[\n\"“„«¿¡(]\s*)$")
_OWN = lazy_pattern(r"['’]\s?$")
# Ranks in words up to this say no more than "first" and "second" do: they stay words.
_WORDED_RANK = 2
_SHORTEST_STEM, _LONGEST_ENDING = 4, 4


@dataclass(frozen=True, slots=True)
class Word:
    """`low` is folded; `large` says that it is written large, `first` that it would be there anyway (a sentence's
    first); `run` numbers the words of one name ("Oda Brenk"), -1 for what is none."""

    low: str
    start: int
    end: int
    large: bool
    first: bool
    run: int = -1


@dataclass(frozen=True, slots=True)
class Wording:
    """A text with its words and values, values masked out of the words. `code` is its language or ""."""

    text: str
    code: str
    words: tuple[Word, ...]
    values: tuple[Mention, ...]

    @property
    def lows(self) -> frozenset[str]:
        return frozenset(word.low for word in self.words)

    def meaning(self) -> list[Word]:
        """The words that are neither names nor function words."""
        return [word for word in self.words if word.run < 0 and not is_function_word(word.low, self.code)]

    def names(self) -> list[tuple[Word, ...]]:
        runs: dict[int, list[Word]] = {}
        for word in self.words:
            if word.run >= 0:
                runs.setdefault(word.run, []).append(word)
        return [tuple(run) for run in runs.values()]


@lru_cache(maxsize=4096)
def values(text: str, code: str) -> tuple[Mention, ...]:
    """The values of a text that a fact must bear out, left to right, a range by its ends.

    Not those in words that say hardly more than an article does ("one of them", "the first"), and none written large in
    a text: "Seven Sisters" is a name.
    """
    return tuple(one for one in single(mentions(text, code)) if not (one.worded and _is_word(one, text)))


def _is_word(mention: Mention, text: str) -> bool:
    if text[mention.start].isupper() and mention.start:
        return True
    value = mention.readings[0]
    if not isinstance(value, Quantity) or value.unit:
        return False
    return value.value <= _WORDED_RANK if value.ordinal else value.value == 1


@lru_cache(maxsize=4096)
def wording(text: str, code: str) -> Wording:
    found = values(text, code)
    words: list[Word] = []
    for match in _WORD.finditer(text):
        if any(value.start <= match.start() < value.end for value in found):
            continue
        low = folded(match[0])
        if low == "s" and _OWN.search(_before(text, match.start())):
            continue
        first = _SENTENCE_START.search(_before(text, match.start())) is not None
        words.append(Word(low, match.start(), match.end(), match[0][0].isupper(), first))
    return Wording(text, code, _with_names(text, words, code, {value.end for value in found}), found)


def _before(text: str, place: int) -> str:
    """The few characters before a place; what is cut off there does not look like the beginning of the text."""
    return text[:place] if place <= REACH else f"x{text[place - REACH : place]}"


def _with_names(text: str, words: list[Word], code: str, ends: Set[int]) -> tuple[Word, ...]:
    """Runs of words written large are names; a sentence's first word only where another large one follows it, and a
    German noun only where no article, adjective or number comes before it (`ends` are those of the values)."""
    named: list[Word] = []
    run = -1
    open_run = False
    months = language_of("").months
    for place, word in enumerate(words):
        after = words[place + 1] if place + 1 < len(words) else None
        before = words[place - 1] if place else None
        follows = (
            after is not None
            and after.large
            and not after.first
            and text[word.end : after.start] in (" ", "-", "’", "'", ". ")
        )
        joins = (
            open_run
            and before is not None
            and re.fullmatch(r"[\s.'’-]{1,2}", text[before.end : word.start]) is not None
        )
        name = word.large and (joins or not is_function_word(word.low, code)) and word.low not in months
        if name and word.first and not follows:
            name = False
        if name and word.first and is_function_word(word.low, code):
            name = False
        if name and code == "de" and not joins and before is not None:
            counted = ends & {word.start, word.start - 1}
            name = not _introduces(before, text[before.end : word.start]) and not counted
        if not name:
            open_run = False
            named.append(word)
            continue
        if not joins:
            run += 1
        open_run = True
        named.append(Word(word.low, word.start, word.end, word.large, word.first, run))
    return tuple(named)


_ARTICLES = frozenset(
    [
        "der",
        "die",
        "das",
        "des",
        "dem",
        "den",
        "ein",
        "eine",
        "einer",
        "eines",
        "einem",
        "einen",
        "kein",
        "keine",
        "zum",
        "zur",
        "im",
        "am",
        "vom",
        "beim",
        "sein",
        "seine",
        "seiner",
        "seinem",
        "seinen",
        "ihr",
        "ihre",
        "ihrer",
        "ihrem",
        "ihren",
        "diese",
        "dieser",
        "dieses",
        "diesem",
        "diesen",
        "als",
        "aus",
    ]
)


def _introduces(before: Word, between: str) -> bool:
    """Whether a German word that comes before one written large makes a common noun of it."""
    ends = before.low.endswith(("e", "en", "er", "es", "em")) and not before.large
    return not between.strip() and (before.low in _ARTICLES or (ends and len(before.low) > 4))


@lru_cache(maxsize=65536)
def alike(one: str, other: str) -> bool:
    """Whether two folded words are forms of one, or say the same relation."""
    if one == other:
        return True
    if _superlative(one) != _superlative(other):
        return False
    if relations(one) & relations(other):
        return True
    return _one_stem(one, other) or (_participle(one) != _participle(other) and _one_stem(_bare(one), _bare(other)))


def _one_stem(one: str, other: str) -> bool:
    shared, longest = shared_beginning(one, other), max(len(one), len(other))
    return shared >= _SHORTEST_STEM and longest - shared <= _LONGEST_ENDING and 5 * shared >= 3 * longest


def _participle(word: str) -> bool:
    """Whether a word has the form of a German participle ("geweiht", "entworfen" has not)."""
    return len(word) > 6 and word.startswith("ge") and word.endswith(("t", "en"))


def _bare(word: str) -> str:
    return word[2:] if _participle(word) else word


def _superlative(word: str) -> bool:
    return len(word) > 5 and word.endswith(("est", "ste", "sten", "ster", "stes", "stem", "issimo", "issima"))
