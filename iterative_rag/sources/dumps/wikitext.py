"""Wikitext -> Markdown: the same text, infoboxes and tables that the HTML of the page would give, without a wiki.

wikitextparser finds templates, functions and links: at 7.5 MB/s where mwparserfromhell does 0.7, and 4,000 unclosed
templates take it 0.04 s instead of over 8. It is under the GPL, hence an extra; only `_spans` knows it. Tables are read
line by line, as MediaWiki does it: the cells of the one cost quadratic time, the other takes unclosed tables for prose.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from iterative_rag.errors import FetchError, MissingExtra
from iterative_rag.sources.dumps.blocks import blocks
from iterative_rag.sources.dumps.inline import (
    LINK,
    Store,
    inline,
    known_tags,
    not_too_deep,
    without_elements,
    without_private,
)
from iterative_rag.sources.dumps.templates import MARKUP, expand_function, expand_template
from iterative_rag.sources.wikipedia import page_markdown

EXTRA = "dumps"
# MediaWiki itself stores no page of more than 2 MiB unless it is told to.
MOST_CHARS = 2 * 1024 * 1024
MOST_DEPTH = 20  # of templates and links within one another: what is deeper is left out
_MOST_GROWTH = 20  # times the wikitext's length that its HTML may have
# Namespaces whose links show something else than their text. A dump names its own beside these.
NOT_LINKS = frozenset(["file", "image", "media", "category"])

_BRACES = re.compile(r"\{{2,}|\}{2,}|\[{2,}|\]{2,}")
# Most links are as plain as this: taking them out first spares the parser half of its work.
_PLAIN_LINK = re.compile(r"\[\[([^\[\]{}|<>\n:#=]{1,255})(?:\|([^\[\]{}|<>\n=*#:;]{1,500}))?\]\]")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z-]{2,12})?:(?=\S)")
_IN_BRACKETS = re.compile(r" \([^()]*\)$|,[^,]*$")
_SWITCH = re.compile(r"__[A-Z]{3,40}__")


def require_parsers() -> None:
    """Raises MissingExtra: better before the first page is read than after it."""
    try:
        import wikitextparser  # type: ignore[import-untyped]  # noqa: F401

        page_markdown.require_converters()
    except (ImportError, MissingExtra) as error:
        raise MissingExtra(EXTRA) from error


def to_markdown(wikitext: str, title: str, not_links: Collection[str] = NOT_LINKS) -> str:
    """The page as Markdown, beginning with its title. `not_links` are namespaces (lower case) of files and categories.

    Raises MissingExtra, or FetchError for a page that is too large or too tangled to be converted.
    """
    require_parsers()
    return page_markdown.to_markdown(to_html(wikitext, title, not_links), title)


def to_html(wikitext: str, title: str, not_links: Collection[str] = NOT_LINKS) -> str:
    """As much HTML as the converter of pages needs: paragraphs, lists, headings, tables, infoboxes."""
    if len(wikitext) > MOST_CHARS:
        raise FetchError(f"The page {title!r} is larger than the limit of {MOST_CHARS:,} characters.")
    store = Store(most_chars=_MOST_GROWTH * len(wikitext) + 100_000)
    text = _SWITCH.sub("", without_private(wikitext.replace("\r\n", "\n").replace("\r", "\n")))
    text = _PLAIN_LINK.sub(_label, known_tags(without_elements(text, store)))
    text = balanced(text)
    text = _Page(title, store, not_links).rendered(text)
    return not_too_deep(without_private(store.expanded(blocks(text))))


def _label(link: re.Match[str]) -> str:
    return link[0] if link[2] and link[2].isspace() else link[2] or link[1].replace("_", " ").strip()


# --- braces and brackets ---------------------------------------------------------------------


class _Mark(NamedTuple):
    start: int
    end: int
    letter: str


def balanced(text: str) -> str:
    """Without braces and brackets that match nothing, and without what stands deeper than MOST_DEPTH.

    In one pass over the text, so that the parser, whose passes are as many as the levels, cannot run away.
    """
    removed: list[tuple[int, int]] = []
    opened: list[_Mark] = []
    waiting = {"{": 0, "[": 0}
    for run in _BRACES.finditer(text):
        letter, start, end = run[0][0], run.start(), run.end()
        if letter in "{[":
            opened.append(_Mark(start, end, letter))
            waiting[letter] += 1
            continue
        letter = "{" if letter == "}" else "["
        while end - start >= 2 and waiting[letter]:
            mark = opened.pop()
            waiting[mark.letter] -= 1
            if mark.letter != letter:
                removed.append((mark.start, mark.end))
                continue
            count = min(end - start, mark.end - mark.start, 3 if letter == "{" else 2)
            if len(opened) >= MOST_DEPTH:
                removed.append((mark.end - count, start + count))
            start += count
            left = mark.end - mark.start - count
            if left >= 2:
                opened.append(_Mark(mark.start, mark.start + left, letter))
                waiting[letter] += 1
            elif left:
                removed.append((mark.start, mark.start + left))
        if start < end and not (letter == "{" and end - start == 1):
            removed.append((start, end))
    removed += [(mark.start, mark.end) for mark in opened]
    return _without(text, removed)


def _without(text: str, removed: list[tuple[int, int]]) -> str:
    kept: list[str] = []
    at = 0
    for start, end in sorted(removed):
        if end > at:
            kept.append(text[at : max(at, start)])
            at = end
    return "".join([*kept, text[at:]])


# --- templates, functions and links ----------------------------------------------------------


@dataclass(slots=True)
class _Node:
    """A template, function, parameter or link that is being put together; `at` is how far its text was taken."""

    kind: str
    at: int
    end: int
    parts: list[str] = field(default_factory=list)


class _Page:
    """Renders what stands innermost first: what holds it sees a mark in its place, never its text."""

    def __init__(self, title: str, store: Store, not_links: Collection[str]) -> None:
        self.title = title
        self.store = store
        self.not_links = not_links

    def rendered(self, text: str) -> str:
        opened = [_Node("page", 0, len(text))]
        for start, end, kind in _spans(text):
            while opened[-1].end <= start:
                self._close(opened, text)
            above = opened[-1]
            if end <= above.end:
                above.parts.append(text[above.at : start])
                above.at = end
                opened.append(_Node(kind, start, end))
        while len(opened) > 1:
            self._close(opened, text)
        return "".join([*opened[0].parts, text[opened[0].at :]])

    def _close(self, opened: list[_Node], text: str) -> None:
        node = opened.pop()
        source = "".join([*node.parts, text[node.at : node.end]])
        opened[-1].parts.append(self._shown(node.kind, source))

    def _shown(self, kind: str, source: str) -> str:
        if kind == "link":
            return self._link(source[2:-2])
        if kind == "parameter":
            return source[3:-3].partition("|")[2]
        said = expand_function(source[2:-2], self.title) if kind == "function" else expand_template(source[2:-2])
        if not said or said in MARKUP:
            return said
        return self.store.put(blocks(said) if "\n" in said else inline(said))

    def _link(self, source: str) -> str:
        target, piped, label = source.partition("|")
        target = " ".join(target.replace("_", " ").split())
        space = target.partition(":")[0].strip().lower() if ":" in target else ""
        if space in self.not_links or (not piped and _LANGUAGE.match(target)):
            return ""
        if not piped:
            label = target.removeprefix(":").removeprefix("#")
        elif not label.strip():
            label = _IN_BRACKETS.sub("", target.rpartition(":")[2])
        return self.store.put(inline(label.replace("\n", " ")), LINK)


def _spans(text: str) -> list[tuple[int, int, str]]:
    """Where the parser finds what, in the order in which it begins; what holds another comes before it."""
    import wikitextparser

    parsed = wikitextparser.parse(text)
    found = [
        *_spans_of(parsed.templates, "template"),
        *_spans_of(parsed.parser_functions, "function"),
        *_spans_of(parsed.parameters, "parameter"),
        *_spans_of(parsed.wikilinks, "link"),
    ]
    return sorted(found, key=lambda one: (one[0], -one[1]))


def _spans_of(parts: Iterable[Any], kind: str) -> Iterator[tuple[int, int, str]]:
    return ((*part.span, kind) for part in parts)
