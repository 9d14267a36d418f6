"""Wikitext within a line: marks of emphasis, outside links, HTML tags; and the elements whose inside is no wikitext."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from iterative_rag.errors import FetchError

# Private characters (taken out of every page beforehand) around the number of a piece that is rendered already.
PIECE = "\ue010"
LINK = "\ue012"  # the same for links: a cell's attributes hold none
END = "\ue011"
PIPE = "\ue013"  # {{!}}: a bar that parts cells, but not a template's parameters
PIECES = re.compile(f"[{PIECE}{LINK}](\\d+){END}")

_PRIVATE = re.compile(
    r"[\ue000-\uf8ff]|&#(?:0*5[78]\d{3}|x0*e[0-9a-f]{3}|x0*f[0-8][0-9a-f]{2})(?:;|(?![0-9a-f]))", re.IGNORECASE
)
_NAMES_OF_TAGS = """
    abbr b bdi bdo big blockquote br caption center cite code data dd del dfn div dl dt em font h1 h2 h3 h4 h5 h6 hr i
    ins kbd li mark ol p pre q rp rt ruby s samp small span strike strong sub sup table td th time tr tt u ul var wbr
"""
_TAGS = frozenset(_NAMES_OF_TAGS.split())
# Those that go on until they are closed; a paragraph, an entry or a cell ends where the next one begins.
_CLOSED = _TAGS - {"br", "hr", "wbr", "p", "li", "dd", "dt", "td", "th", "tr", "caption", "rp", "rt"}
_NESTED = re.compile(rf"<(/?)({'|'.join(sorted(_CLOSED, reverse=True))})(?=[\s/>])[^<>]*>", re.IGNORECASE)
_MOST_NESTED = 50
_MOST_TABLES = 8
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]{0,11})([^<>]{0,2000})>|<")
_EMPHASIS = re.compile("'{2,}")
_OUTSIDE = re.compile(r"\[(?:[a-z]{3,10}:)?//[^\s\[\]<>]{1,2000}[ \t]*([^\[\]\n]{0,1000})\]")


class Store:
    """Pieces of finished HTML by number. Raises FetchError when they come to more than `most_chars`."""

    def __init__(self, most_chars: int) -> None:
        self._pieces: list[str] = []
        self._room = most_chars

    def put(self, piece: str, mark: str = PIECE) -> str:
        """What stands for the piece; "" for an empty one."""
        if not piece:
            return ""
        self._pieces.append(self.expanded(piece).replace(PIPE, "|"))
        return f"{mark}{len(self._pieces) - 1}{END}"

    def expanded(self, text: str) -> str:
        said = PIECES.sub(lambda match: self._pieces[int(match[1])], text)
        self._room -= len(said)
        if self._room < 0:
            raise FetchError("The page's templates make more text than a page has.")
        return said


def without_private(page: str) -> str:
    """Without the characters that this and the converter of HTML mark things with, however they are written."""
    return _PRIVATE.sub(" ", page)  # a space, lest what stood around it make another


def inline(text: str) -> str:
    """One line of wikitext as HTML: no emphasis, links as their text, known tags only."""
    if "''" in text:
        text = _EMPHASIS.sub("", text)
    if "//" in text:
        text = _OUTSIDE.sub(r"\1", text)
    return known_tags(text)


def known_tags(text: str) -> str:
    """Only whole tags of HTML that wikitext may hold: others are gone, single signs are text."""
    return _TAG.sub(_tag, text) if "<" in text else text


def _tag(match: re.Match[str]) -> str:
    name = (match[2] or "").lower()
    if not name:
        return "&lt;"
    if name not in _TAGS:
        return ""
    return f"<{match[1]}{name}{PIECES.sub('', match[3])}>"


def not_too_deep(page: str) -> str:
    """Without the tags that stand deeper than _MOST_NESTED: thousands cost the parser of HTML minutes."""
    depth = tables = 0

    def kept(match: re.Match[str]) -> str:
        nonlocal depth, tables
        step = -1 if match[1] else 1
        at = (depth, tables)
        depth = max(0, depth + step)
        if match[2].lower() == "table":
            tables = max(0, tables + step)
        deepest, innermost = (max(one) for one in zip(at, (depth, tables), strict=True))
        return match[0] if deepest <= _MOST_NESTED and innermost <= _MOST_TABLES else ""

    return _NESTED.sub(kept, page)


# --- elements --------------------------------------------------------------------------------


def _verbatim(said: str) -> str:
    return html.escape(said, quote=False)


def _preformatted(said: str) -> str:
    return f"<pre>{html.escape(said.strip(), quote=False)}</pre>"


def _poem(said: str) -> str:
    return "<br>".join(inline(line) for line in said.strip().split("\n"))


_NO_TEXT = """
    ref references gallery imagemap timeline score graph mapframe maplink templatedata templatestyles categorytree
    charinsert hiero includeonly inputbox section indicator style script
"""
# What becomes of an element's inside; None: it goes.
_ELEMENTS: dict[str, Callable[[str], str] | None] = {
    "nowiki": _verbatim,
    "math": _verbatim,
    "chem": _verbatim,
    "ce": _verbatim,
    "pre": _preformatted,
    "source": _preformatted,
    "syntaxhighlight": _preformatted,
    "poem": _poem,
    **dict.fromkeys(_NO_TEXT.split()),
}
_ELEMENT = re.compile(rf"<(?:(!--)|({'|'.join(sorted(_ELEMENTS, reverse=True))})(?=[\s/>])([^<>]*)>)", re.IGNORECASE)


def without_elements(text: str, store: Store) -> str:
    """Without comments, references and other elements that are no text; formulas and code put into the store.

    Each closing tag is looked for once, forwards: what is never closed costs one look for its name, not one a tag.
    """
    kept: list[str] = []
    unclosed: set[str] = set()
    lowered = text.lower() if len(text.lower()) == len(text) else text
    at = 0
    while opening := _ELEMENT.search(text, at):
        kept.append(text[at : opening.start()])
        at = opening.end()
        if opening[1]:
            end = text.find("-->", at)
            at = end + 3 if end >= 0 else len(text)
            continue
        name = opening[2].lower()
        if opening[3].endswith("/") or name in unclosed:
            continue
        end = lowered.find(f"</{name}", at)
        if end < 0:
            unclosed.add(name)
            continue
        render = _ELEMENTS[name]
        if render is not None:
            kept.append(store.put(render(text[at:end])))
        closing = text.find(">", end)
        at = closing + 1 if closing >= 0 else len(text)
    return "".join([*kept, text[at:]])
