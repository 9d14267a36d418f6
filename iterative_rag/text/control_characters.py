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

_OTHER_LINE_BREAKS = "\x0b-\r\x85\u2028\u2029"
# C0 but tab and newline, DEL and C1; embedding, overriding and isolating of direction; halves of characters;
# annotations between lines; tags, which spell words invisibly.
_OBEYED = (
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f"
)
# Unicode's Default_Ignorable_Code_Point without the above and without the variation selectors that emoji have.
_INVISIBLE = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"
    "\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e0fff"
)
_ANY = lazy_pattern(f"(?P<line_break>[{_OTHER_LINE_BREAKS}])|(?P<obeyed>[{_OBEYED}])|[{_INVISIBLE}]")
_SHOWN_AS = {"line_break": " ", "obeyed": REPLACEMENT}

_COLOURS = lazy_pattern(r"\x1b\[[0-9;?]*[A-Za-z]")


def visible(text: str) -> str:
    """The text made safe to print: tabs and newlines stay, other control characters are replaced or removed."""
    return _ANY.sub(lambda match: _SHOWN_AS.get(match.lastgroup or "", ""), text)


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
    text = text.replace("\x7f", r"\u007f")  # which json leaves as it is
    return _ANY.sub(lambda match: json.dumps(match[0])[1:-1], text)
