"""A quote marked in the HTML of its document, wherever its words stand: in cells, in emphasis, in several blocks.

A Markdown parser does not tell which character of its output comes from which character of its input. So before each
letter and digit of the quote stands a character of private use while it is parsed: for the parser a letter like any
other, afterwards it says what belongs to the quote.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape, unescape
from itertools import pairwise

from iterative_rag.serve.page.articles.markdown_html import markdown_html
from iterative_rag.text.control_characters import REPLACEMENT

_SIGN = "\U000f0000"
_TAG = re.compile(r'(<[^>"]*(?:"[^"]*"[^>"]*)*>)')
# What a browser obeys without showing it, and what could be taken for a sign; one character each, so that offsets stay.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f"
    "\U000f0000-\U0010ffff]"
)
# Where a sign would break the markup: character references, list numbers, and what stands in angle brackets.
_MARKUP = re.compile(
    r"&(?:#[0-9a-fA-Fx]{1,8}|[a-zA-Z][a-zA-Z0-9]{0,40});"
    r"|^(?:[ \t>*+-]|\d{1,9}[.)](?=\s))*\d{1,9}[.)](?=\s|$)"
    r"|<[a-zA-Z][a-zA-Z0-9+.-]{1,31}:"
    r"|<[^<>\s@]{1,200}@[^<>\s]{1,200}>",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class MarkedHtml:
    """HTML with a quote in `<mark>` elements, the first of which has the id "quote". `marked`: the quote was found in
    what is shown; it is not where all of it is markup, such as the address of a link."""

    html: str
    marked: bool


def marked_markdown(text: str, start: int, end: int) -> MarkedHtml:
    """Markdown as sanitised HTML in which `text[start:end]` is marked; nothing is where both are equal."""
    text = shown_as_is(text)
    kept = _markup_in(text, start, end)
    letters = [n for n in range(start, end) if text[n].isalnum() and n not in kept]
    pieces = [text[a:b] for a, b in pairwise([0, *letters, len(text)])]
    html = markdown_html(_SIGN.join(pieces), readable=lambda shown: shown.replace(_SIGN, ""))
    if not letters:
        return MarkedHtml(html, False)
    return _marked(html, text[start : letters[0] + 1], text[letters[-1] : end])


def marked_plain(text: str, start: int, end: int) -> MarkedHtml:
    """The text as it is, with the quote marked."""
    text = shown_as_is(text)
    before, quote, after = (escape(part, quote=False) for part in (text[:start], text[start:end], text[end:]))
    if not quote:
        return MarkedHtml(f"<pre>{before}{after}</pre>", False)
    return MarkedHtml(f'<pre>{before}<mark id="quote">{quote}</mark>{after}</pre>', True)


def shown_as_is(text: str) -> str:
    """The text, as long as before, without characters that steer a browser or could be taken for signs."""
    return _UNSEEN.sub(REPLACEMENT, text)


def _markup_in(text: str, start: int, end: int) -> set[int]:
    """The offsets from start to end that are part of the markup."""
    # Markup ends with its line, so no line before the quote matters.
    line = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end)
    matches = _MARKUP.finditer(text, line, len(text) if stop < 0 else stop)
    return {offset for markup in matches for offset in range(*markup.span())}


@dataclass(frozen=True, slots=True)
class _Place:
    """A character of the HTML: the part that it stands in, and its position there."""

    part: int
    at: int


def _marked(html: str, opening: str, ending: str) -> MarkedHtml:
    """Marks all text between the first and the last sign. `opening` is the quote to its first letter, `ending` from its
    last one on: other characters of them that are shown beside these letters belong to it, too."""
    # Tags are at the odd positions. Text is compared without character references.
    parts = [part if n % 2 else unescape(part) for n, part in enumerate(_TAG.split(html))]
    signed = [_Place(n, sign.start()) for n in range(0, len(parts), 2) for sign in re.finditer(_SIGN, parts[n])]
    if not signed:
        return MarkedHtml(html.replace(_SIGN, ""), False)
    signs_before_last = parts[signed[-1].part].count(_SIGN) - 1
    first, last = signed[0], _Place(signed[-1].part, signed[-1].at - signs_before_last)
    parts = [part.replace(_SIGN, "") for part in parts]
    if parts[first.part][first.at] == opening[-1]:
        first = _extended(parts, first, list(reversed(opening[:-1])), -1)
    if parts[last.part][last.at] == ending[0]:
        last = _extended(parts, last, list(ending[1:]), +1)
    return MarkedHtml(_with_marks(parts, first, last), True)


def _extended(parts: list[str], place: _Place, beside: list[str], step: int) -> _Place:
    """The place of the last of the characters `beside` that are shown next to it in this direction; the others are
    markup."""
    reached = place
    for character in beside:
        if character.isspace():
            continue
        following = _next(parts, place, step)
        if following is None:
            break
        if parts[following.part][following.at] == character:
            place = reached = following
    return reached


def _next(parts: list[str], place: _Place, step: int) -> _Place | None:
    """The next character that is no white space."""
    part, at = place.part, place.at + step
    while 0 <= part < len(parts):
        while part % 2 == 0 and 0 <= at < len(parts[part]):
            if not parts[part][at].isspace():
                return _Place(part, at)
            at += step
        part += step
        at = 0 if step > 0 else (len(parts[part]) - 1 if part >= 0 else 0)
    return None


def _with_marks(parts: list[str], first: _Place, last: _Place) -> str:
    """The HTML with marks around the text from first to last. Space between blocks and cells gets none: an element
    there would not be valid."""
    written = []
    opening = '<mark id="quote">'
    for n, part in enumerate(parts):
        if n % 2:
            written.append(part)
            continue
        begin = first.at if n == first.part else 0 if first.part < n <= last.part else len(part)
        stop = last.at + 1 if n == last.part else len(part) if first.part <= n < last.part else begin
        before, quote, after = (escape(piece, quote=False) for piece in (part[:begin], part[begin:stop], part[stop:]))
        if quote.strip() or (quote and "\n" not in quote):
            quote, opening = f"{opening}{quote}</mark>", "<mark>"
        written.append(before + quote + after)
    return "".join(written)
