"""A quote marked in the HTML of its document, wherever its words stand: in cells, in emphasis, in several blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape, unescape

from iterative_rag.serve.page.articles.markdown_html import markdown_html
from iterative_rag.serve.page.articles.placeholders import Placeholders, with_placeholders, without_private
from iterative_rag.text.control_characters import REPLACEMENT

_TAG = re.compile(r'(<[^>"]*(?:"[^"]*"[^>"]*)*>)')
_PLACEHOLDER = re.compile("[\U000f0000-\U0010ffff]")
# What a browser obeys without showing it; one character each, so that offsets stay.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f]"
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
    places = with_placeholders(text, start, end)
    html = markdown_html(places.text, readable=places.restored)
    return _marked(html, places, start, end)


def marked_plain(text: str, start: int, end: int) -> MarkedHtml:
    """The text as it is, with the quote marked."""
    text = shown_as_is(text)
    before, quote, after = (escape(part, quote=False) for part in (text[:start], text[start:end], text[end:]))
    if not quote:
        return MarkedHtml(f"<pre>{before}{after}</pre>", False)
    return MarkedHtml(f'<pre>{before}<mark id="quote">{quote}</mark>{after}</pre>', True)


def shown_as_is(text: str) -> str:
    """The text, as long as before, without characters that steer a browser or could be taken for placeholders."""
    return without_private(_UNSEEN.sub(REPLACEMENT, text))


@dataclass(frozen=True, slots=True)
class _Place:
    """A character of the HTML: the part that it stands in, and its position there."""

    part: int
    at: int


def _marked(html: str, places: Placeholders, start: int, end: int) -> MarkedHtml:
    """Marks all text between the first and the last placeholder, and the signs of the quote beside them."""
    # Tags are at the odd positions. Text is compared without character references.
    parts = [part if n % 2 else unescape(part) for n, part in enumerate(_TAG.split(html))]
    found = [n for n in range(0, len(parts), 2) if _PLACEHOLDER.search(parts[n])]
    if not found:
        return MarkedHtml(places.restored(html), False)
    first = _Place(found[0], next(_PLACEHOLDER.finditer(parts[found[0]])).start())
    last = _Place(found[-1], list(_PLACEHOLDER.finditer(parts[found[-1]]))[-1].start())
    began, ended = (places.offset_of(parts[place.part][place.at]) for place in (first, last))
    assert began is not None
    assert ended is not None
    replaced = set(places.offsets)
    beside = [n for n in range(began - 1, start - 1, -1) if n not in replaced]
    first = _extended(parts, first, [places.source[n] for n in beside], -1)
    beside = [n for n in range(ended + 1, end) if n not in replaced]
    last = _extended(parts, last, [places.source[n] for n in beside], +1)
    return MarkedHtml(places.restored(_with_marks(parts, first, last)), True)


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
