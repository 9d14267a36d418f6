"""Inflected words: whether a text has a word or a name of a value with another ending.

A common word may have any ending; a name only those that names take, for a Berger is no Bergen and a Juana no Juan.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from iterative_rag.text.comparing import same_name, shared_beginning
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import codes, is_function_word
from iterative_rag.text.patterns import lazy_pattern

# Shorter words have nothing left without their endings, and longer endings make another word.
SHORTEST, LONGEST_ENDING = 4, 3
# Languages whose adjectives decline within a name ("Kahles Horn", "am Kahlen Horn"), and those that add endings of all
# kinds to a name.
_ADJECTIVES = {"de": frozenset({"", "e", "em", "en", "er", "es", "m", "n", "r", "s"})}
_ADDING = frozenset({"az", "eu", "fi", "hu", "kk", "tr"})
_WORD = lazy_pattern(r"\w+")


def stands_inflected(value: str, text: str, code: str) -> bool:
    """Whether the words of a value stand in a text of the language `code` one after the other, up to their endings."""
    wanted, said = (_WORD.findall(unicodedata.normalize("NFC", words)) for words in (value, text))
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
    plain, other = folded(word), folded(said)
    if plain == other:
        return True
    shared = shared_beginning(plain, other)
    if shared < SHORTEST or any(letter.isdigit() for letter in plain + other):
        return False
    left, added = plain[shared:], other[shared:]
    if word[0].islower():
        return max(len(left), len(added)) <= LONGEST_ENDING
    declined = not last and _ADJECTIVES.get(code, frozenset()).issuperset((left, added))
    return declined or (code in _ADDING and not left) or (not left and same_name(plain, other))
