"""The text of a document for reading: Markdown, or plain text page by page, parsed without raw HTML and sanitised, with
a quote marked in it wherever its words stand: in cells, in emphasis, in several blocks.

A Markdown parser does not tell which character of its output comes from which character of its input. So before each
letter and digit of the quote stands a character of private use while it is parsed: for the parser a letter like any
other, afterwards it says what belongs to the quote.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING

import nh3

from iterative_rag.text.control_characters import REPLACEMENT
from iterative_rag.text.text_blocks import unwrapped
from iterative_rag.types import Document
from iterative_rag.types.documents import web_link

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

_TAGS = {
    *(f"h{level}" for level in range(1, 7)),
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a", "span"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"a": {"href"}, "ol": {"start"}}
_CLASSES = {"span": {"image"}, "th": {"left", "center", "right"}, "td": {"left", "center", "right"}}
_EMPTY_HEADER = re.compile(r"<th( [^>]*)?></th>")


def markdown_html(text: str) -> str:
    """The sanitised HTML. A link leads to the web, or nowhere."""
    cleaned = nh3.clean(
        _parser().render(text),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        allowed_classes=_CLASSES,
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
    )
    # A header cell without text is announced by screen readers as a header of nothing.
    return _EMPTY_HEADER.sub(r"<td\1></td>", cleaned)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable(["html_block"])
    # Addresses are judged where a link is rendered.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    parser.add_render_rule("image", _image)
    parser.add_render_rule("link_open", _link)
    for cell in ("th_open", "td_open"):
        parser.add_render_rule(cell, _cell)
    return parser


def _image(self: RendererHTML, tokens: Sequence[Token], n: int, options: OptionsDict, env: EnvType) -> str:
    """Pictures are not loaded: what is said of them stands in their place."""
    said = self.renderInlineAsText(tokens[n].children, options, env)
    return f'<span class="image">{nh3.clean_text(said)}</span>'


def _link(self: RendererHTML, tokens: Sequence[Token], n: int, options: OptionsDict, env: EnvType) -> str:
    address = web_link(str(tokens[n].attrGet("href") or ""))
    tokens[n].attrs = {"href": address} if address else {}
    return self.renderToken(tokens, n, options, env)


def _cell(self: RendererHTML, tokens: Sequence[Token], n: int, options: OptionsDict, env: EnvType) -> str:
    """The alignment of a column as a class, since styles in the page are not allowed."""
    style = str(tokens[n].attrs.pop("style", ""))
    if style:
        tokens[n].attrSet("class", style.removeprefix("text-align:"))
    return self.renderToken(tokens, n, options, env)


# Characters that are shown at once: a long article is a hundred thousand.
_PART = 120_000
_PROSE = {".txt", ".text"}
_PLAIN = {*_PROSE, ".log", ".csv", ".tsv"}


@dataclass(frozen=True, slots=True)
class ArticleView:
    """A part of a document as HTML; `part` counts from 1. `marked`: the quote is marked in it."""

    html: str
    marked: bool
    part: int
    parts: int


def article_view(document: Document, start: int = 0, end: int = 0, *, part: int | None = None) -> ArticleView:
    """The part in which the quote `document.text[start:end]` begins, or the one of this number."""
    text = document.text
    start, end = (min(max(offset, 0), len(text)) for offset in (start, end))
    starts = _part_starts(document)
    number = part if part is not None and 1 <= part <= len(starts) else bisect_right(starts, start)
    begin = starts[number - 1]
    stop = starts[number] if number < len(starts) else len(text)
    quote = (min(max(start, begin), stop), max(min(end, stop), begin))
    suffix = PurePath(document.source).suffix.lower()
    if document.pages or suffix in _PROSE:
        text = unwrapped(text)
    if document.pages:
        shown = _pages(text, document.pages, begin, stop, quote)
    else:
        local = (quote[0] - begin, max(quote) - begin)
        shown = (marked_plain if suffix in _PLAIN else marked_markdown)(text[begin:stop], *local)
    return ArticleView(shown.html, shown.marked, number, len(starts))


def _part_starts(document: Document) -> list[int]:
    """Where the parts begin: at a page, or after an empty line."""
    text, starts = document.text, [0]
    breaks: Sequence[int] = document.pages
    while len(text) - starts[-1] > _PART:
        limit = starts[-1] + _PART
        if breaks:
            following = [offset for offset in breaks if starts[-1] < offset]
            within = [offset for offset in following if offset <= limit]
            cut = within[-1] if within else following[0] if following else len(text)
        else:
            cut = text.rfind("\n\n", starts[-1] + 1, limit) + 2
            cut = cut if cut > 1 else limit
        if cut >= len(text):
            break
        starts.append(cut)
    return starts


def _pages(text: str, pages: Sequence[int], begin: int, stop: int, quote: tuple[int, int]) -> MarkedHtml:
    """The pages from begin to stop, each under its number."""
    marked, sections = False, []
    for number, (first, following) in enumerate(zip(pages, [*pages[1:], len(text)], strict=True), start=1):
        first = 0 if number == 1 else first
        if first < begin or first >= stop:
            continue
        local = (max(quote[0], first) - first, min(quote[1], following) - first)
        shown = marked_plain(text[first:following], *(local if local[0] < local[1] else (0, 0)))
        html = shown.html.replace('<mark id="quote">', "<mark>", 1) if marked else shown.html
        marked = marked or shown.marked
        sections.append(f'<section class="sheet" id="page-{number}"><h2>Page {number}</h2>{html}</section>')
    return MarkedHtml("".join(sections), marked)


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
