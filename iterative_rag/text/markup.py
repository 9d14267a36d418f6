"""Text as it is read, without the Markdown that documents and models write around it: for display only.

Quotes keep their markup wherever they are compared or stored, since their offsets point into the document."""

from __future__ import annotations

import re
from collections.abc import Iterable

from iterative_rag.text.patterns import lazy_pattern

_BAR = lazy_pattern(r"(?<!\\)\|")
_RULE = lazy_pattern(r"^[\s|:+=-]*-{3,}[\s|:+=-]*$")
_FENCE = lazy_pattern(r"^\s*(?:```|~~~)\w*\s*$")
_LINE_START = lazy_pattern(r"^\s*(?:#{1,6}\s+|>\s?|[*+-]\s+(?=[^\s\d]))+")  # "- 5 °C" is no item of a list
_LINK = lazy_pattern(r"!?\[([^\[\]\n]+)\]\((?:[^()\s]|\([^()\s]*\))+(?:\s+\"[^\"]*\")?\)")
_CODE = lazy_pattern(r"(?<!\\)(`+)([^`\n]+)\1")
# Emphasis encloses text without a space at its ends, and begins and ends at the border of a word.
_EMPHASIS = lazy_pattern(r"(?<![\w\\*])(\*{1,3})(?=[^\s*])([^\n]*?[^\s*\\])\1(?![\w*])")
_UNDERLINED = lazy_pattern(r"(?<![\w\\_])(_{1,3})(?=[^\s_])([^\n]*?[^\s_\\])\1(?![\w_])")
# A quote may begin or end between two marks; "2**3" and "a ** b" have none.
_HALF = lazy_pattern(r"(?<![\w\\*])\*\*(?=\w)|(?<=[\w.,;:!?)\"”])\*\*(?![\w*])")
_ESCAPED = lazy_pattern(r"\\([\\`*_{}\[\]<>#+|~.!()-])")
# Struck text stands between two marks that touch it ("~~~" fences something), or between the tags of HTML.
_STRUCK = lazy_pattern(
    r"(?:(?<!~)~~(?=[^\s~])[^\n]{0,1000}?(?<=[^\s~])~~(?!~)|<(del|s|strike)>[^\n]{0,1000}?</\1>)[ ]?"
)
_MAY_BE_STRUCK = lazy_pattern("~~|</")


def without_struck(text: str) -> str:
    """The text without what was struck from it ("~~90~~ 75"), which it no longer says."""
    return _STRUCK.sub("", text) if _MAY_BE_STRUCK.search(text) else text


def struck(text: str) -> Iterable[tuple[int, int]]:
    """Where struck parts of a text begin and end."""
    return (match.span() for match in _STRUCK.finditer(text)) if _MAY_BE_STRUCK.search(text) else ()


def without_links(text: str) -> str:
    """The text with each link as the words that it shows."""
    return _LINK.sub(lambda match: match[1], text) if "](" in text else text


def plain(text: str) -> str:
    """The text without markup: a row of two cells as "Mother: Eliza Ballou", a longer one as "15 · Harriet Lane".

    Lines stay lines; those that only rule or fence something are left out.
    """
    lines = (_line(line) for line in text.split("\n") if not (_RULE.match(line) or _FENCE.match(line)))
    return "\n".join(lines)


def _line(line: str) -> str:
    bare = line.strip()
    if _is_row(bare):
        cells = [_inline(cell).strip() for cell in _BAR.split(bare.strip("|"))]
        filled = [cell for cell in cells if cell]
        return (": " if len(filled) == 2 == len(cells) else " · ").join(filled)
    return _inline(_LINE_START.sub("", line))


def _is_row(line: str) -> bool:
    """Whether bars part cells in a line. A model's quote of a row often lacks the outer ones; "P(A | B)" is no row."""
    if line.startswith("|") or (line.endswith("|") and not line.endswith("\\|")):
        return True
    before, bar, _ = line.partition(" | ")
    return bool(bar) and before.count("(") <= before.count(")")


def _inline(text: str) -> str:
    text = _CODE.sub(lambda match: match[2], without_links(text))
    for emphasis in (_EMPHASIS, _UNDERLINED):
        while (less := emphasis.sub(lambda match: match[2], text)) != text:
            text = less
    text = _HALF.sub("", text)
    return re.sub(_ESCAPED.pattern, r"\1", text)


_MARKUP = lazy_pattern(r"([\\`*_{}\[\]<>#|~$!])")
# Where a line begins so, Markdown sees a list, a heading or a rule.
_LIST_START = lazy_pattern(r"^(\d+)([.)])(?=\s)|^([-+=])")


def escaped_markdown(line: str) -> str:
    """One line of text, with whatever Markdown would take for markup escaped."""
    escaped = _MARKUP.sub(r"\\\1", line).replace("&", "&amp;")
    return _LIST_START.sub(lambda match: f"{match[1]}\\{match[2]}" if match[1] else f"\\{match[3]}", escaped)
