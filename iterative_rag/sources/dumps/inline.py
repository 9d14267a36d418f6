"""Wikitext within a line: emphasis, external links, HTML tags; and the elements whose content is not wikitext."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from iterative_rag.errors import FetchError
from iterative_rag.sources.html_tree import WIKI_TAGS

# Private use characters around the number of a piece that is rendered already. Pages are stripped of them beforehand.
PIECE = "\ue010"
LINK = "\ue012"  # the same for links: a cell's attributes contain none
END = "\ue011"
PIPE = "\ue013"  # {{!}}: a bar that separates cells, but not a template's parameters
PIECES = re.compile(f"[{PIECE}{LINK}](\\d+){END}")

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]{0,11})([^<>]{0,2000})>|<")
_EMPHASIS = re.compile("'{2,}")
_EXTERNAL_LINK = re.compile(r"\[(?:[a-z]{3,10}:)?//[^\s\[\]<>]{1,2000}[ \t]*([^\[\]\n]{0,1000})\]")


class Pieces:
    """Rendered HTML by number. Raises FetchError when it adds up to more than `max_chars`."""

    def __init__(self, max_chars: int) -> None:
        self._pieces: list[str] = []
        self._room = max_chars

    def put(self, piece: str, mark: str = PIECE) -> str:
        """The mark that stands for the piece; "" for an empty one."""
        if not piece:
            return ""
        self._pieces.append(self.expand(piece).replace(PIPE, "|"))
        return f"{mark}{len(self._pieces) - 1}{END}"

    def expand(self, text: str) -> str:
        """The text with its marks replaced by the pieces."""
        expanded = PIECES.sub(lambda match: self._pieces[int(match[1])], text)
        self._room -= len(expanded)
        if self._room < 0:
            raise FetchError("The page's templates expand to too much text.")
        return expanded


def inline(text: str) -> str:
    """Wikitext without line structure as HTML: no emphasis, links as their text, known tags only."""
    if "''" in text:
        text = _EMPHASIS.sub("", text)
    if "//" in text:
        text = _EXTERNAL_LINK.sub(r"\1", text)
    return known_tags(text)


def known_tags(text: str) -> str:
    """The text without the tags that wikitext does not allow; a "<" that begins no tag is escaped."""
    return _TAG.sub(_tag, text) if "<" in text else text


def _tag(match: re.Match[str]) -> str:
    name = (match[2] or "").lower()
    if not name:
        return "&lt;"
    return f"<{match[1]}{name}{PIECES.sub('', match[3])}>" if name in WIKI_TAGS else ""


# --- elements --------------------------------------------------------------------------------


def _verbatim(content: str) -> str:
    return html.escape(content, quote=False)


def _preformatted(content: str) -> str:
    return f"<pre>{_verbatim(content.strip())}</pre>"


def _poem(content: str) -> str:
    return "<br>".join(inline(line) for line in content.strip().split("\n"))


_DROPPED = """
    ref references gallery imagemap timeline score graph mapframe maplink templatedata templatestyles categorytree
    charinsert hiero includeonly inputbox section indicator style script
"""
# How an element's content is rendered; None: it is dropped.
_ELEMENTS: dict[str, Callable[[str], str] | None] = {
    **dict.fromkeys(("nowiki", "math", "chem", "ce"), _verbatim),
    **dict.fromkeys(("pre", "source", "syntaxhighlight"), _preformatted),
    "poem": _poem,
    **dict.fromkeys(_DROPPED.split()),
}
_ELEMENT = re.compile(rf"<(?:(!--)|({'|'.join(sorted(_ELEMENTS, reverse=True))})(?=[\s/>])([^<>]*)>)", re.IGNORECASE)


def without_elements(text: str, pieces: Pieces) -> str:
    """The text without comments, references and other elements that hold no prose; formulas and code become pieces.

    Linear: an element that is never closed is searched for its end once, not once per start tag.
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
            kept.append(pieces.put(render(text[at:end])))
        closing = text.find(">", end)
        at = closing + 1 if closing >= 0 else len(text)
    return "".join([*kept, text[at:]])
