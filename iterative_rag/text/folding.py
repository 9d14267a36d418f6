"""Normalise text for comparison: lower case, no accents, plain dashes and apostrophes."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from iterative_rag.text.patterns import lazy_pattern

_DASHES, _APOSTROPHES, _PRIMES, _QUOTES = "‐‑‒–—―−", "’ʼʻ‘`´", "‚‛′", "“”„‟″«»"
# Dashes and quotation marks of any typography as those of a keyboard, for `str.translate`; nothing changes its place.
PLAIN_SIGNS = str.maketrans(
    {"＜": "<"}
    | {**dict.fromkeys(_DASHES, "-"), **dict.fromkeys(_APOSTROPHES + _PRIMES, "'"), **dict.fromkeys(_QUOTES, '"')}
)
# Letters that Unicode does not decompose.
_LETTERS = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ı": "i"}
_SIGNS = {
    **dict.fromkeys(_DASHES, "-"),
    **dict.fromkeys(_APOSTROPHES, "'"),
    **dict.fromkeys("\u00a0\u2007\u2009\u200a\u202f\t", " "),
}
# A non-breaking space groups the digits of a number: "12\u202f400".
_GROUPED = lazy_pattern(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_TABLE = str.maketrans(_LETTERS)
_SAME_LENGTH = str.maketrans({sign: plain for sign, plain in {**_LETTERS, **_SIGNS}.items() if len(plain) == 1})

# Signs that show nothing, joiners and variants of letters, of which a text is rid before it is indexed.
_VARIANTS = lazy_pattern(
    "[\u00ad\u200b-\u200d\u2060\ufeff]|[\ufb00-\ufb06]|[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]"
    "|[A-Za-z\u00c0-\u04ff][\u0300-\u036f]+"
)
# Scripts from Hebrew on, and emoji, are written with joiners.
_SHOWN_AS_NOTHING = "\u00ad\u200b\u2060\ufeff"
_JOINERS, _FIRST_JOINED = "\u200c\u200d", "\u0590"

_WORD = lazy_pattern(r"\w+")
# Only texts as short as words and names are cached.
_KEPT = 64


def readable(text: str) -> str:
    """The text as a reader sees it: without soft hyphens and other signs that show nothing, which part the words that
    are looked for; ligatures, full-width letters and decomposed ones as letters."""
    return text if text.isascii() else _VARIANTS.sub(_readable, text)


def _readable(match: re.Match[str]) -> str:
    sign = match[0]
    if sign in _JOINERS:
        before = match.string[max(0, match.start() - 1) : match.start()]
        return sign if before >= _FIRST_JOINED and unicodedata.category(before)[0] in "LMS" else ""
    if sign in _SHOWN_AS_NOTHING:
        return ""
    return unicodedata.normalize("NFC" if len(sign) > 1 else "NFKC", sign)


def folded(text: str) -> str:
    """Lower case without accents, with compatibility forms resolved ("ﬁ", "²"); punctuation is unchanged."""
    if text.isascii():
        return text.lower()
    return _kept(text) if len(text) <= _KEPT else _folded(text)


def _folded(text: str) -> str:
    text = unicodedata.normalize("NFKD", text.casefold().translate(_TABLE))
    return "".join(letter for letter in text if not unicodedata.combining(letter))


_kept = lru_cache(maxsize=65536)(_folded)


def folded_words(text: str) -> list[str]:
    """The words and numbers of a text, folded."""
    return _WORD.findall(folded(text))


def folded_in_place(text: str) -> str:
    """Lower case without accents, with plain dashes, apostrophes and spaces; every character keeps its offset."""
    text = _GROUPED.sub("'", text).translate(_SAME_LENGTH)
    return text.lower() if text.isascii() else "".join(map(_letter, text))


@lru_cache(maxsize=4096)
def _letter(letter: str) -> str:
    base = unicodedata.normalize("NFD", letter.lower())[:1]
    return letter if unicodedata.combining(base) else base


def plain_title(title: str) -> str:
    """The title of a page without underscores and superfluous white space, in Unicode's composed form."""
    return unicodedata.normalize("NFC", " ".join(title.replace("_", " ").split()))
