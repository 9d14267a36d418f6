"""The text of a document for reading: Markdown, or plain text page by page, with a quote marked in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from iterative_rag.serve.page.articles.highlighting import MarkedHtml, marked_markdown, marked_plain
from iterative_rag.text.text_blocks import unwrapped
from iterative_rag.types import Document

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
    start, end = _within(start, len(text)), _within(end, len(text))
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


def _within(offset: int, length: int) -> int:
    return min(max(offset, 0), length)


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
