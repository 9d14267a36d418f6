"""Control characters and invisible ones, in one table for everything that is shown to people.

Escape sequences clear a screen or fake output, directional marks reverse a text, and invisible characters hide words
in it. Documents, replies and file names may contain all of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from iterative_rag.text.patterns import lazy_pattern

REPLACEMENT = "\ufffd"

_OTHER_LINE_BREAKS = ((0x0B, 0x0D), (0x85, 0x85), (0x2028, 0x2029))
_OBEYED = (
    (0x00, 0x08),  # C0 but tab and newline
    (0x0E, 0x1F),
    (0x7F, 0x84),  # DEL and C1
    (0x86, 0x9F),
    (0x202A, 0x202E),  # embedding and overriding of direction
    (0x2066, 0x2069),  # isolating of direction
    (0xD800, 0xDFFF),  # halves of characters
    (0xFFF9, 0xFFFB),  # annotations between lines
    (0xE0000, 0xE007F),  # tags, which spell words invisibly
)
# Unicode's Default_Ignorable_Code_Point without the above and without the variation selectors that emoji have.
_INVISIBLE = (
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x61C, 0x61C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x2060, 0x2065),
    (0x206A, 0x206F),
    (0x3164, 0x3164),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0080, 0xE0FFF),
)
_SHOWN_AS = ((_OTHER_LINE_BREAKS, " "), (_OBEYED, REPLACEMENT), (_INVISIBLE, ""))
_ANY = lazy_pattern(
    "[" + "".join(f"{chr(first)}-{chr(last)}" for ranges, _ in _SHOWN_AS for first, last in ranges) + "]"
)

_COLOURS = lazy_pattern(r"\x1b\[[0-9;?]*[A-Za-z]")


def visible(text: str) -> str:
    """The text made safe to print: tabs and newlines stay, other control characters are replaced or removed."""
    return _ANY.sub(lambda match: _shown_as(match[0]), text)


def without_controls(text: str) -> str:
    """The text without colours of a terminal, with a space for any other character that steers one: for what a user
    pastes, in which nothing is to be hidden from them."""
    return visible(_COLOURS.sub("", text)).replace(REPLACEMENT, " ")


def one_line(text: str) -> str:
    """`visible` text on one line, with single spaces."""
    return " ".join(visible(text).split())


def to_json(
    value: Any, *, indent: int | None = None, ascii_only: bool = False, default: Callable[[Any], Any] | None = None
) -> str:
    r"""JSON in which these characters are escaped (\u202e): it parses to the same text and is safe to print."""
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent, default=default)
    return _ANY.sub(lambda match: _escaped(match[0]), text)


def _shown_as(character: str) -> str:
    code = ord(character)
    return next(shown for ranges, shown in _SHOWN_AS if any(first <= code <= last for first, last in ranges))


def _escaped(character: str) -> str:
    return r"\u007f" if character == "\x7f" else json.dumps(character)[1:-1]  # json leaves DEL as it is


__all__ = ["REPLACEMENT", "one_line", "to_json", "visible", "without_controls"]
