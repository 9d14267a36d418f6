"""Characters of a quote that can be found again after Markdown was rendered.

A Markdown parser does not tell which character of its output comes from which character of its input. So each letter
and digit of the quote is replaced before parsing by a character of its own from the private use planes of Unicode. For
the parser it is a letter like any other; afterwards it says which character of the source stands where.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_PLANES = (range(0xF0000, 0xFFFFE), range(0x100000, 0x10FFFE))
_PRIVATE = re.compile("[\U000f0000-\U0010ffff]")
_CAPACITY = sum(map(len, _PLANES))

# Where a letter or digit is part of the markup, which a private character would break: character references, list
# numbers, and what stands in angle brackets.
_MARKUP = re.compile(
    r"&(?:#[0-9a-fA-Fx]{1,8}|[a-zA-Z][a-zA-Z0-9]{0,40});"
    r"|^(?:[ \t>*+-]|\d{1,9}[.)](?=\s))*\d{1,9}[.)](?=\s|$)"
    r"|<[a-zA-Z][a-zA-Z0-9+.-]{1,31}:"
    r"|<[^<>\s@]{1,200}@[^<>\s]{1,200}>",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Placeholders:
    """A text in which a quote is written in placeholders; the nth of them stands for `source[offsets[n]]`."""

    text: str
    source: str
    offsets: Sequence[int] = ()
    _back: dict[int, str] = field(default_factory=dict)

    def offset_of(self, character: str) -> int | None:
        """The offset that a placeholder stands for; None for any other character."""
        code = ord(character)
        if code < _PLANES[0].start:
            return None
        return self.offsets[_number(code)]

    def restored(self, text: str) -> str:
        """The text with the characters of the source in place of the placeholders."""
        return text.translate(self._back)


def without_private(text: str) -> str:
    """The text, as long as before, without characters that could be taken for placeholders."""
    return _PRIVATE.sub("\ufffd", text)


def with_placeholders(text: str, start: int, end: int) -> Placeholders:
    """`text` must contain no private characters (`without_private`)."""
    kept = _markup_in(text, start, end)
    offsets = [n for n in range(start, end) if text[n].isalnum() and n not in kept]
    if len(offsets) > _CAPACITY:  # what is marked is all between the first and the last of them
        offsets = offsets[: _CAPACITY // 2] + offsets[-(_CAPACITY // 2) :]
    characters = list(text)
    back = {}
    for number, offset in enumerate(offsets):
        code = _code(number)
        back[code] = text[offset]
        characters[offset] = chr(code)
    return Placeholders("".join(characters), text, offsets, back)


def _markup_in(text: str, start: int, end: int) -> set[int]:
    """The offsets from start to end that are part of the markup."""
    # Markup ends with its line, so no line before the quote matters.
    line = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end)
    stop = len(text) if stop < 0 else stop
    kept: set[int] = set()
    for found in _MARKUP.finditer(text, line, stop):
        kept.update(range(*found.span()))
    return kept


def _code(number: int) -> int:
    first, second = _PLANES
    return first[number] if number < len(first) else second[number - len(first)]


def _number(code: int) -> int:
    first, second = _PLANES
    return code - first.start if code < first.stop else len(first) + code - second.start
