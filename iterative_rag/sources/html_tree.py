"""Where HTML becomes a tree: not before it is known that parsing it will end soon."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from iterative_rag.errors import FetchError

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

# The parser compares each attribute of an element with all before it: 40,000 took 5 s, 300,000 would take minutes.
# The most pairs to compare; a page of 10 MB has about a million.
MOST_PAIRS = 400_000_000
_SHORT = 500  # characters of a tag, below which it cannot hold many
# Quotes count after an equals sign only; elsewhere they are part of a name.
_VALUE = r"""=\s*+(?:"[^"]*+"|'[^']*+')"""
_ATTRIBUTES = rf"(?:[^>=]++|{_VALUE}|=)*+"
# A start tag; that of a script or style sheet with its content, which is no HTML.
_TAG = re.compile(rf"<(?:(script|style)\b|[a-z])({_ATTRIBUTES})(?(1)(?:>[^<]*+(?:<(?!/\1)[^<]*+)*+)?)", re.IGNORECASE)
_QUOTED = re.compile(_VALUE)
_BETWEEN = re.compile(r"""[\s/"']+""")


def parsed(html: str) -> LexborHTMLParser:
    """The tree of a page. Raises FetchError for one whose parsing would take minutes."""
    from selectolax.lexbor import LexborHTMLParser

    _refuse_endless(html)
    return LexborHTMLParser(html)


def _refuse_endless(html: str) -> None:
    pairs = 0
    for tag in _TAG.finditer(html):
        if len(tag[2]) > _SHORT:
            # Quoted values may hold slashes (pictures in base64); what is taken for a value may be none.
            words = max(len(tag[2].split()), len(_BETWEEN.findall(_QUOTED.sub(" ", tag[2]))))
            pairs += words * words // 2
            if pairs > MOST_PAIRS:
                raise FetchError(f"An element of the page has about {words:,} attributes.")
