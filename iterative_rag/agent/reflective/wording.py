"""A text as words: which are names, which carry meaning, and when two of them are forms of one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from iterative_rag.agent.reflective.languages import MONTHS, folded, is_function_word
from iterative_rag.agent.reflective.relations import relations
from iterative_rag.agent.reflective.values import Value, values
from iterative_rag.patterns import lazy_pattern

REACH = 12
_WORD = lazy_pattern(r"[^\W\d_]+")
_SENTENCE_START = lazy_pattern(r"(?:^|[.!?:…]\s+|[\n\"“„«¿¡(]\s*)$")
_COUNTED = lazy_pattern(r"\d\s?$")
_OWN = lazy_pattern(r"['’]\s?$")
# Endings that a name may take on: "Einsteins", "Brenk's", "Vienne" is none of them.
_NAME_ENDINGS = ("s", "es", "en", "n", "ens", "ns")
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
    values: tuple[Value, ...]

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
    return Wording(text, code, _with_names(text, words, code), found)


def _before(text: str, place: int) -> str:
    """The few characters before a place; what is cut off there does not look like the beginning of the text."""
    return text[:place] if place <= REACH else f"x{text[place - REACH : place]}"


def _with_names(text: str, words: list[Word], code: str) -> tuple[Word, ...]:
    """Runs of words written large are names; a sentence's first word only where another large one follows it, and a
    German noun only where no article or adjective comes before it."""
    named: list[Word] = []
    run = -1
    open_run = False
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
        name = word.large and (joins or not is_function_word(word.low, code)) and word.low not in MONTHS
        if name and word.first and not follows:
            name = False
        if name and word.first and is_function_word(word.low, code):
            name = False
        if name and code == "de" and not joins and before is not None:
            name = not _introduces(before, text[before.end : word.start]) and not _COUNTED.search(
                _before(text, word.start)
            )
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
def same_name(one: str, other: str) -> bool:
    """Whether two folded words are one name, endings aside."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) >= _SHORTEST_STEM and long.startswith(short):
        return long[len(short) :] in _NAME_ENDINGS
    if short and "\u0370" <= short[0] <= "\u052f":  # Greek and Cyrillic names are inflected
        shared = _shared(one, other)
        return shared >= 3 and len(one) - shared <= 2 and len(other) - shared <= 2
    return False


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
    shared, longest = _shared(one, other), max(len(one), len(other))
    return shared >= _SHORTEST_STEM and longest - shared <= _LONGEST_ENDING and 5 * shared >= 3 * longest


def _participle(word: str) -> bool:
    """Whether a word has the form of a German participle ("geweiht", "entworfen" has not)."""
    return len(word) > 6 and word.startswith("ge") and word.endswith(("t", "en"))


def _bare(word: str) -> str:
    return word[2:] if _participle(word) else word


def _superlative(word: str) -> bool:
    return len(word) > 5 and word.endswith(("est", "ste", "sten", "ster", "stes", "stem", "issimo", "issima"))


def _shared(one: str, other: str) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
