"""A quote marked in the HTML of its document, wherever its words stand: in cells, in emphasis, in several blocks.

A Markdown parser does not tell which character of its output comes from which character of its input. So before each
letter and digit of the quote stands a character of private use while it is parsed: for the parser a letter like any
other, afterwards it says what belongs to the quote.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
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
# Where a sign would break the markup: character references, list numbers, what stands in angle brackets, and the
# addresses and labels of links.
_MARKUP = re.compile(
    r"&(?:#[0-9a-fA-Fx]{1,8}|[a-zA-Z][a-zA-Z0-9]{0,40});"
    r"|^(?:[ \t>*+-]|\d{1,9}[.)](?=\s))*\d{1,9}[.)](?=\s|$)"
    r"|<[a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^<>\s]{0,2000}>?"
    r"|<[^<>\s@]{1,200}@[^<>\s]{1,200}>"
    r"|\]\((?:[^()\n]|\([^()\n]*\)){0,2000}\)"
    r"|\]\[[^\]\n]{0,1000}\]"
    r"|^ {0,3}\[[^\]\n]{1,1000}\]:.*$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class MarkedHtml:
    """HTML with a quote in `<mark>` elements, the first of which has the id "quote". `marked`: the quote was found in
    what is shown; it is not where all of it is markup, such as the address of a link."""

    html: str
    marked: bool


def marked_markdown(text: str, start: int, end: int) -> MarkedHtml:
    """Markdown as sanitised HTML in which `text[start:end]` is marked, from its first letter on; nothing is where
    both are equal."""
    text = shown_as_is(text)
    kept = _markup_in(text, start, end)
    letters = [n for n in range(start, end) if text[n].isalnum() and n not in kept]
    pieces = [text[a:b] for a, b in pairwise([0, *letters, len(text)])]
    ending = escape(text[letters[-1] + 1 : end].rstrip(), quote=False) if letters else ""
    return _marked(markdown_html(_SIGN.join(pieces)), ending)


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


def _marked(html: str, ending: str) -> MarkedHtml:
    """Marks around all text from the first sign to the letter after the last, and the `ending` where it is shown. Space
    between blocks and cells gets none: an element there would not be valid."""
    parts = _TAG.split(html)  # tags are at the odd positions
    signs = sum(part.count(_SIGN) for part in parts[::2])
    written, seen, opening = [], 0, '<mark id="quote">'
    for n, part in enumerate(parts):
        here = 0 if n % 2 else part.count(_SIGN)
        if n % 2 or seen == signs or not (seen or here):
            written.append(part.replace(_SIGN, ""))
            continue
        begin = 0 if seen else part.index(_SIGN)
        seen += here
        stop = part.rindex(_SIGN) + 2 if seen == signs else len(part)
        stop += len(ending) if seen == signs and part.startswith(ending, stop) else 0
        before, quote, after = (piece.replace(_SIGN, "") for piece in (part[:begin], part[begin:stop], part[stop:]))
        if quote.strip() or (quote and "\n" not in quote):
            quote, opening = f"{opening}{quote}</mark>", "<mark>"
        written.append(before + quote + after)
    return MarkedHtml("".join(written), signs > 0)
