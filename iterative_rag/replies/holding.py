"""What a model wrote, held against what it was shown: one that obeys a document is still bound to what that says."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import replace

from iterative_rag.types import Extract, Need, Window

# So many letters and digits of the instructions in a row are no coincidence; names of fields and examples are shorter.
STRETCH = 60

_WORD = re.compile(r"\w+")
_NAME_OR_NUMBER = re.compile(r"(?<=\s)[^\W\d_a-z]\w+|\d+")  # not the sentence's first word


def held(extract: Extract, need: Need, seen: Window) -> Extract:
    """The extract without a value that its quote and title do not bear out, and with its quote for a statement that
    names what neither the window nor the need does."""
    near = _words(extract.quote) | _words(seen.title)
    value = extract.value if _words(extract.value) <= near else ""
    shown = near | _words(seen.text) | _words(need.question)
    named = {word.casefold() for word in _NAME_OR_NUMBER.findall(_plain(extract.statement))}
    return replace(extract, value=value, statement=extract.statement if named <= shown else extract.quote)


def repeats(reply: object, told: str, stretch: int = STRETCH) -> bool:
    """Whether any text of a reply (strings, lists, mappings) holds a stretch of what the model was told."""
    letters = _letters(told)
    return any(
        said[at : at + stretch] in letters
        for said in map(_letters, _texts(reply))
        for at in range(len(said) - stretch + 1)
    )


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(_plain(text).casefold()))


def _letters(text: str) -> str:
    return "".join(letter for letter in _plain(text).casefold() if letter.isalnum())
