"""Replace number words by digits: "one hundred and five" becomes 105, "twenty-first" 21st, "two thirds" 0.666667.

text2num reads the words; its languages are those of `languages.codes()`. Scale words from a million on are kept where
they round a number ("ten million" becomes "10 million"), since they show how exact it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from iterative_rag.text.folding import folded_in_place
from iterative_rag.text.languages import Language, codes, language_of
from iterative_rag.text.patterns import LETTERS, lazy_pattern

_TOKEN = lazy_pattern(r"[^\W\d_]+|\d+|\s+|[^\w\s]|_")
_VULGAR = lazy_pattern(r"(?:(?P<whole>(?<![\d./,])\d+)\s?)?(?P<part>[¼-¾⅐-⅞])")
_SLASHED = lazy_pattern(
    r"(?<![\w/.,])(?:(?P<whole>\d{1,3})[ -])?(?P<count>[1-9])/(?P<part>2|3|4|5|6|8|10)(?![\w/.,]*\d)(?!\w)"
)
# The context of words that are not numbers: "pour cent", and "second" as a unit; and how far back to look.
_REACH = 16
# More are no count, and too many for a fraction of one.
_MOST_DIGITS = 15
_OF_HUNDRED = lazy_pattern(r"\b(?:per|pour|por)\s")
_UNIT_BEFORE = lazy_pattern(r"(?:\d|\bper|\ba|\beach|\bevery)[\s-]*$")


# Two hyphens are a dash as typewriters have it; a space in place of the second keeps every offset.
_TYPED_DASH = lazy_pattern(r"(?<!-)--(?!-)")
_RANK = lazy_pattern(r"(\d{1,4})(?:st|nd|rd|th)")


@dataclass(frozen=True, slots=True)
class Digits:
    """A text with digits for number words. `at[n]` is the offset in the original of character `n`, and `at[-1]` its
    length; `worded` holds the offsets in `text` of what was a number word."""

    text: str
    at: tuple[int, ...]
    worded: frozenset[int]


class Places:
    """The parts of a text that are taken: later finds must not overlap earlier ones."""

    def __init__(self, length: int) -> None:
        self._taken = bytearray(length)

    def take(self, start: int, end: int) -> bool:
        """Take `text[start:end]`; returns False, taking nothing, if a part of it is already taken."""
        if self._taken.find(1, start, end) >= 0:
            return False
        self._taken[start:end] = b"\1" * (end - start)
        return True


class _Change(NamedTuple):
    start: int
    end: int
    written: str


class _Token:
    """A token in the form that text2num expects."""

    def __init__(self, text: str, start: int, *, number: bool) -> None:
        self.start, self._text, self._number = start, text, number

    def text(self) -> str:
        return self._text

    def nt_separated(self, _previous: object) -> bool:
        return False

    def not_a_number_part(self) -> bool:
        return not self._number


def with_digits(text: str, code: str) -> Digits:
    """The text, folded in place, with digits for every number word; in an unknown language, for English ones."""
    plain = _TYPED_DASH.sub("- ", folded_in_place(text))
    known = language_of(code if code in codes() else "en")
    taken = Places(len(plain))
    found = (*_fractions(plain, known), *_words(text, plain, known))
    return _applied(plain, sorted(change for change in found if taken.take(change.start, change.end)))


@lru_cache(maxsize=65536)
def rank(word: str, code: str) -> int | None:
    """The rank that a word stands for: 3 for "third" and "3rd", 25 for "twenty-fifth"; None for any other word."""
    match = _RANK.fullmatch(with_digits(word, code).text)
    return int(match[1]) if match else None


def _applied(plain: str, changes: list[_Change]) -> Digits:
    parts: list[str] = []
    at: list[int] = []
    worded: set[int] = set()
    position = 0
    for change in changes:
        parts.append(plain[position : change.start])
        at += range(position, change.start)
        worded.add(len(at))
        parts.append(change.written)
        at += [change.start] * len(change.written)
        position = change.end
    at += range(position, len(plain) + 1)
    return Digits("".join([*parts, plain[position:]]), tuple(at), frozenset(worded))


@cache
def _in_words(code: str) -> tuple[re.Pattern[str], ...]:
    """How a language writes fractions and the like in words. The first is a cheap test for words of which one is in
    every text that the others match."""
    known = language_of(code)
    dozens = [word for word, size in known.scales.items() if size == 12]
    part, scale, article, dozen, word, rank = (
        "|".join(sorted(words, key=len, reverse=True)) or "(?!)"
        for words in (known.parts, known.scales, known.articles, dozens, known.words, known.ordinals)
    )
    half, and_a_half = "|".join(known.half or {"half"}), "|".join(known.and_a_half)
    of = r"\s+(?:of|de|del|des|der|van|di|do|da)\b|\s*(?:$|[.,;:!?)])"
    patterns = (
        "|".join([part, half, word, rank, dozen, *known.and_a_half]),
        # "two and a half", "dreieinhalb", "dos y media"
        rf"(?<![\w.,-])(?P<count>\d+|[^\W\d_]+?)[\s-]*(?:{and_a_half})(?!\w)",
        # "two thirds", "a quarter", "3 fifths"
        rf"(?<![\w.,-])(?P<many>\d|[^\W\d_]+)[\s-]+(?P<part>{part})(?!\w)(?P<of>{of})?",
        # "half a million"
        rf"(?<!\w)(?:(?:{article})\s+)?(?:{half})\s*(?:(?:{article})\s+)?(?P<scale>{scale})(?!\w)",
        # "a dozen", "anderthalb", and ranks that text2num does not read
        rf"(?<![\w-])(?:(?P<rank>{rank})(?!-)|(?P<word>{word})|(?:{article})\s+(?:{dozen}))(?!\w)",
    )
    return tuple(map(re.compile, patterns))


def _fractions(plain: str, known: Language) -> Iterator[_Change]:
    for match in _VULGAR.finditer(plain):
        yield _change(match, float(match["whole"] or 0) + unicodedata.numeric(match["part"]))
    for match in _SLASHED.finditer(plain):
        if int(match["count"]) < int(match["part"]):
            yield _change(match, float(match["whole"] or 0) + int(match["count"]) / int(match["part"]))
    hints, halves, parts, half_scales, wholes = _in_words(known.code)
    if not known.parts or not hints.search(plain):
        return
    for match in halves.finditer(plain):
        if (count := _small(match["count"], known)) is not None:
            yield _change(match, count + 0.5)
    joined = tuple(f" {word} " for word in known.conjunctions)
    for match in parts.finditer(plain):
        count, part = _small(match["many"], known), known.parts[match["part"]]
        article = match["many"] in known.articles
        if part == 2 and plain.endswith(joined, 0, match.start()):
            continue  # "two hours and a half" is read where its unit is
        if count is not None and count < part and (not article or part == 2 or match["of"] is not None):
            yield _Change(match.start(), match.end("part"), f"{count / part:.6g}")
    for match in half_scales.finditer(plain):
        yield _Change(match.start(), match.start("scale"), "0.5 ")
    for match in wholes.finditer(plain):
        if match["rank"]:
            yield _Change(match.start(), match.end(), f"{known.ordinals[match['rank']]}th")
        else:
            yield _change(match, known.words.get(match["word"] or "", 12.0))


def _change(match: re.Match[str], value: float) -> _Change:
    return _Change(match.start(), match.end(), f"{value:.6g}")


def _small(word: str, known: Language) -> int | None:
    """A count in digits or in one word; an article counts one."""
    if word.isdecimal():
        return int(word) if len(word) <= _MOST_DIGITS else None
    if word in known.articles:
        return 1
    from text_to_num import text2num

    try:
        return int(text2num(word, known.code))
    except ValueError:
        return None


def _words(text: str, plain: str, known: Language) -> Iterator[_Change]:
    from text_to_num import find_numbers

    source = plain if known.code == "en" else text
    if not any(_is_number(word, known.code) for word in LETTERS.findall(source)):
        return
    no_hundreds = {match.end() for match in _OF_HUNDRED.finditer(plain)}
    tokens = [
        _Token(match[0], match.start(), number=not (match[0].isdigit() or match.start() in no_hundreds))
        for match in _TOKEN.finditer(source)
    ]
    for number in find_numbers(tokens, known.code, threshold=0.0):
        first, last = tokens[number.start], tokens[number.end - 1]
        start, end = first.start, last.start + len(last.text())
        words = folded_in_place(text[start:end])
        if number.end - number.start == 1 and words in known.scales:
            if article := _follows(_article(known.code), plain, start):
                scale, begin = known.scales[words], start - len(article[0])
                yield _Change(begin, start, "1 ") if scale >= 1e6 else _Change(begin, end, f"{scale:.0f}")
            continue
        if words == "o" or (words == "second" and _follows(_UNIT_BEFORE, plain, start)):
            continue  # the initial of "O'Malley" is no zero
        if number.value == 1 and not number.is_ordinal and (known.code != "en" or words != "one"):
            continue
        yield _Change(start, end, _written(number.value, words, known, ordinal=number.is_ordinal))


@lru_cache(maxsize=65536)
def _is_number(word: str, code: str) -> bool:
    """Whether a word alone is a number. Most sentences hold none, and asking once for each word is faster."""
    from text_to_num import find_numbers

    return bool(find_numbers([_Token(word, 0, number=True)], code, threshold=0.0))


def _follows(pattern: re.Pattern[str], plain: str, end: int) -> re.Match[str] | None:
    """The match that ends right at `end`."""
    return pattern.search(plain[max(0, end - _REACH) : end])


@cache
def _article(code: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(language_of(code).articles)})\s+$")


def _written(value: float, words: str, known: Language, *, ordinal: bool) -> str:
    if ordinal:
        return f"{value:.0f}th"
    last = words.split()[-1] if " " in words else ""
    scale = known.scales.get(last, 1.0)
    if scale >= 1e6 and value % scale == 0:
        return f"{value / scale:.0f} {last}"
    return f"{value:.6f}".rstrip("0").rstrip(".")
