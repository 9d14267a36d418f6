"""Wikitext -> Markdown: the text, infoboxes and tables that the HTML of the page would give, without a wiki.

Templates and links are rendered from the inside out, then the lines are parsed as MediaWiki does it. Everything runs in
linear time, whatever is opened and never closed.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from iterative_rag.errors import FetchError, MissingExtra
from iterative_rag.sources.dumps.blocks import blocks
from iterative_rag.sources.dumps.inline import LINK, Pieces, inline, known_tags, without_elements
from iterative_rag.sources.dumps.templates import MARKUP, expand
from iterative_rag.sources.html_tree import without_deep_tags, without_private
from iterative_rag.sources.wikipedia import page_markdown

EXTRA = "dumps"
MAX_CHARS = 2 * 1024 * 1024  # MediaWiki's own default limit for a page is 2 MiB
MAX_DEPTH = 20  # of templates and links within one another: anything deeper is dropped
_MAX_GROWTH = 20  # the HTML may have this many times the characters of its wikitext
# Namespaces whose links are not shown as text. A dump names its own as well.
HIDDEN_NAMESPACES = frozenset(["file", "image", "media", "category"])

_BRACKETS = re.compile(r"\{{2,}|\}{2,}|\[{2,}|\]{2,}")
_URL = re.compile(r"\s*[a-z]{3,10}://", re.IGNORECASE)
_LANGUAGE_LINK = re.compile(r"[a-z]{2,3}(?:-[a-z-]{2,12})?:(?=\S)")
_QUALIFIER = re.compile(r" \([^()]*\)$|,[^,]*$")
_SWITCH = re.compile(r"__[A-Z]{3,40}__")


def require_converters() -> None:
    """Raises MissingExtra, so that callers fail before they read the first page."""
    try:
        page_markdown.require_converters()
    except MissingExtra as error:
        raise MissingExtra(EXTRA) from error


def to_markdown(wikitext: str, title: str, hidden: Collection[str] = HIDDEN_NAMESPACES) -> str:
    """The page as Markdown, headed by its title. `hidden` are the namespaces (lower case) of files and categories.

    Raises MissingExtra, or FetchError for a page that is too large or expands to too much text.
    """
    require_converters()
    return page_markdown.to_markdown(to_html(wikitext, title, hidden), title)


def to_html(wikitext: str, title: str, hidden: Collection[str] = HIDDEN_NAMESPACES) -> str:
    """As much HTML as the converter of pages needs: paragraphs, lists, headings, tables, infoboxes."""
    if len(wikitext) > MAX_CHARS:
        raise FetchError(f"The page {title!r} is larger than the limit of {MAX_CHARS:,} characters.")
    pieces = Pieces(max_chars=_MAX_GROWTH * len(wikitext) + 100_000)
    text = _SWITCH.sub("", without_private(wikitext.replace("\r\n", "\n").replace("\r", "\n")))
    text = known_tags(without_elements(text, pieces))
    text = _Page(title, pieces, hidden).render(text)
    return without_deep_tags(without_private(pieces.expand(blocks(text))))


@dataclass(slots=True)
class _Opening:
    """A run of opening brackets that is not closed yet; its content begins at `parts[start]`."""

    bracket: str
    count: int
    start: int


class _Page:
    """Renders templates, parameters and links, innermost first: what contains them sees a mark, never their text."""

    def __init__(self, title: str, pieces: Pieces, hidden: Collection[str]) -> None:
        self._title = title
        self._pieces = pieces
        self._hidden = hidden
        self._parts: list[str] = []  # what has been rendered so far
        self._open: list[_Opening] = []
        self._unclosed = {"{": 0, "[": 0}

    def render(self, text: str) -> str:
        """The text without any double brackets: those that match nothing are dropped."""
        at = 0
        for run in _BRACKETS.finditer(text):
            self._parts.append(text[at : run.start()])
            at = run.end()
            bracket, count = run[0][0], len(run[0])
            if bracket in self._unclosed:
                self._push(bracket, count)
            else:
                self._close("{" if bracket == "}" else "[", count)
        return "".join([*self._parts, text[at:]])

    def _push(self, bracket: str, count: int) -> None:
        self._open.append(_Opening(bracket, count, len(self._parts)))
        self._unclosed[bracket] += 1

    def _close(self, bracket: str, count: int) -> None:
        while count >= 2 and self._unclosed[bracket]:
            opening = self._open.pop()
            self._unclosed[opening.bracket] -= 1
            if opening.bracket != bracket:
                continue  # it was never closed: its content belongs to what contains it
            width = min(count, opening.count, 3 if bracket == "{" else 2)
            source = "".join(self._parts[opening.start :])
            del self._parts[opening.start :]
            if opening.count - width >= 2:
                self._push(bracket, opening.count - width)
            if len(self._open) < MAX_DEPTH:
                self._parts.append(self._shown(bracket * width, source))
            count -= width
        if bracket == "{" and count == 1:
            self._parts.append("}")  # it may end a table

    def _shown(self, brackets: str, source: str) -> str:
        if brackets == "[[":
            return self._link(source)
        if brackets == "{{{":
            return source.partition("|")[2]
        text = expand(source, self._title)
        if not text or text in MARKUP:
            return text
        return self._pieces.put(blocks(text) if "\n" in text else inline(text))

    def _link(self, source: str) -> str:
        if _URL.match(source):
            return f"[[{source}]]"
        target, piped, label = source.partition("|")
        if "\n" in target:
            return source  # stray brackets around text
        target = " ".join(target.replace("_", " ").split())
        namespace = target.partition(":")[0].strip().lower() if ":" in target else ""
        if namespace in self._hidden or (not piped and _LANGUAGE_LINK.match(target)):
            return ""
        if not piped:
            label = target.removeprefix(":").removeprefix("#")
        elif not label.strip():
            label = _QUALIFIER.sub("", target.rpartition(":")[2])
        return self._pieces.put(inline(label.replace("\n", " ")), LINK)
