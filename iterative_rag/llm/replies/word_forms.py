"""Inflected words: whether a text has a word or a name of a value with another ending.

Stems are those of the text's language. A common word may have any ending; a name only those that names take in that
language, for a Berger is no Bergen and a Juana no Juan.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

from iterative_rag.text.folding import folded
from iterative_rag.text.languages import codes, is_function_word
from iterative_rag.text.patterns import lazy_pattern

# Shorter words have nothing left without their endings.
SHORTEST = 4
# What is added to a name that belongs to another thing.
_NAME_ENDINGS: Mapping[str, tuple[str, ...]] = {
    "da": ("s",), "de": ("s", "es"), "nl": ("s",), "nn": ("s",), "no": ("s",), "sv": ("s",),
}  # fmt: skip
# Languages that add endings of all kinds to a name.
_ADDING = frozenset({"az", "eu", "fi", "hu", "kk", "tr"})
# Languages whose adjectives decline within a name: "Kahles Horn", "am Kahlen Horn".
_ADJECTIVES: Mapping[str, tuple[str, ...]] = {"de": ("e", "em", "en", "er", "es")}

_WORD = lazy_pattern(r"\w+")


def stands_inflected(value: str, text: str, code: str) -> bool:
    """Whether the words of a value stand in a text of the language `code` one after the other, up to their endings."""
    wanted, said = _words(value), _words(text)
    while len(wanted) > 1 and code in codes() and is_function_word(folded(wanted[0]), code):
        wanted = wanted[1:]  # an article declines, too, into another word
    last = len(wanted) - 1
    return bool(wanted) and any(
        all(_matches(word, said[start + n], code, last=n == last) for n, word in enumerate(wanted))
        for start in range(len(said) - last)
    )


def has_form(word: str, said: Iterable[str], code: str, *, describing: bool) -> bool:
    """Whether one of these words is a form of another one, which may have lost an ending or got one; `describing`: it
    stands before a name, so it may be an adjective."""
    last = not describing
    return any(_matches(word, other, code, last=last) or _matches(other, word, code, last=last) for other in said)


def _matches(word: str, said: str, code: str, *, last: bool) -> bool:
    """Whether a word of a value is said with another ending; the last word of a name is no adjective."""
    plain, other = _lower(word, code), _lower(said, code)
    if plain == other:
        return True
    if min(len(plain), len(other)) < SHORTEST or any(letter.isdigit() for letter in plain + other):
        return False
    if not _stem(plain, code) or _stem(plain, code) != _stem(other, code):
        return False
    if word[0].islower():
        return True
    if not last and _same_base(plain, other, _ADJECTIVES.get(code, ())):
        return True
    added = other.removeprefix(plain) if other.startswith(plain) else ""
    return bool(added) and (code in _ADDING or added in _NAME_ENDINGS.get(code, ()))


def _same_base(plain: str, other: str, endings: Iterable[str]) -> bool:
    bases = [{word.removesuffix(ending) for ending in endings if word.endswith(ending)} for word in (plain, other)]
    return not bases[0].isdisjoint(bases[1])


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFC", text))


def _lower(word: str, code: str) -> str:
    from iterative_rag.retrieval.analysers import analyser

    return analyser(code).prepared(word).lower()


@lru_cache(maxsize=16384)
def _stem(word: str, code: str) -> tuple[int, ...]:
    """The stem of a word in lower case as the ids of its terms; () of a stop word."""
    from iterative_rag.retrieval.analysers import analyser

    return tuple(analyser(code).accented.embed_query(word).indices)
