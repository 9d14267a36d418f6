"""Parses HTML, with guards against pages that would keep the parser busy for minutes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from iterative_rag.errors import FetchError

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

# The parser compares each attribute of an element with all before it: 40,000 took 5 s, 300,000 would take minutes.
# The maximum number of comparisons; a page of 10 MB needs about a million.
MAX_PAIRS = 400_000_000
_SHORT = 500  # characters of a tag that cannot hold many attributes
# Quotes count after an equals sign only; elsewhere they are part of a name.
_VALUE = r"""=\s*+(?:"[^"]*+"|'[^']*+')"""
_ATTRIBUTES = rf"(?:[^>=]++|{_VALUE}|=)*+"
# A start tag; that of a script or style sheet with its content, which is not HTML.
_TAG = re.compile(rf"<(?:(script|style)\b|[a-z])({_ATTRIBUTES})(?(1)(?:>[^<]*+(?:<(?!/\1)[^<]*+)*+)?)", re.IGNORECASE)
_QUOTED = re.compile(_VALUE)
_SEPARATOR = re.compile(r"""[\s/"']+""")

# The tags that a wiki page may hold.
_NAMES = """
    abbr b bdi bdo big blockquote br caption center cite code data dd del dfn div dl dt em font h1 h2 h3 h4 h5 h6 hr i
    ins kbd li mark ol p pre q rp rt ruby s samp small span strike strong sub sup table td th time tr tt u ul var wbr
"""
WIKI_TAGS = frozenset(_NAMES.split())
# Those that stay open until they are closed; a paragraph, an entry or a cell also ends where the next one begins.
_NESTING = WIKI_TAGS - {"br", "hr", "wbr", "p", "li", "dd", "dt", "td", "th", "tr", "caption", "rp", "rt"}
_NESTING_TAG = re.compile(rf"<(/?)({'|'.join(sorted(_NESTING, reverse=True))})(?=[\s/>])[^<>]*>", re.IGNORECASE)
_MAX_TAG_DEPTH = 50
_MAX_TABLE_DEPTH = 8
# Unicode's private use area, also as character references: the converters mark positions with these characters.
_PRIVATE = re.compile(
    r"[\ue000-\uf8ff]|&#(?:0*5[78]\d{3}(?!\d)|x0*(?:e[0-9a-f]|f[0-8])[0-9a-f]{2}(?![0-9a-f]));?", re.IGNORECASE
)


def parsed(html: str) -> LexborHTMLParser:
    """The tree of a page. Raises FetchError for one that would take minutes to parse."""
    from selectolax.lexbor import LexborHTMLParser

    _check_attributes(html)
    return LexborHTMLParser(html)


def without_private(html: str) -> str:
    """The page without private use characters, however they are written."""
    return _PRIVATE.sub(" ", html)  # a space, because what stood on both sides could form another one


def without_deep_tags(html: str) -> str:
    """The page without the tags that are nested too deeply: thousands of levels cost the parser minutes."""
    depth = tables = 0

    def kept(match: re.Match[str]) -> str:
        nonlocal depth, tables
        step = -1 if match[1] else 1
        before = (depth, tables)
        depth = max(0, depth + step)
        if match[2].lower() == "table":
            tables = max(0, tables + step)
        deep = max(before[0], depth) > _MAX_TAG_DEPTH or max(before[1], tables) > _MAX_TABLE_DEPTH
        return "" if deep else match[0]

    return _NESTING_TAG.sub(kept, html)


def _check_attributes(html: str) -> None:
    pairs = 0
    for tag in _TAG.finditer(html):
        if len(tag[2]) > _SHORT:
            # Quoted values may hold slashes (pictures in base64), and what looks like a value may be none.
            words = max(len(tag[2].split()), len(_SEPARATOR.findall(_QUOTED.sub(" ", tag[2]))))
            pairs += words * words // 2
            if pairs > MAX_PAIRS:
                raise FetchError(f"An element of the page has about {words:,} attributes.")
