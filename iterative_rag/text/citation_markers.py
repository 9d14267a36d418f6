"""The markers [n] with which a text cites numbered facts, in the ways in which models write them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from iterative_rag.text.patterns import lazy_pattern

MARKER = lazy_pattern(r"\s*[\[【](?:facts?\s*)?[#^]?(\d{1,4}(?:\s*[,;–-]\s*#?\d{1,4})*)[\]】]", re.IGNORECASE)
# The beginning of a marker at the end of a text that is still being written.
_CUT_MARKER = lazy_pattern(r"\s*[\[【][^\]】]{0,40}$")


def renumbered(text: str, count: int, cited: Sequence[int] = ()) -> tuple[str, tuple[int, ...]]:
    """`text` with its [n] renumbered 1.. in order of first use, and the positions (from 0) of the facts cited, after
    those that are `cited` already.

    "[1, 3]" becomes "[1][2]"; numbers outside 1..count are dropped.
    """
    order = {position + 1: n for n, position in enumerate(cited, start=1)}

    def replaced(match: re.Match[str]) -> str:
        valid = [n for n in listed_numbers(match.group(1)) if 1 <= n <= count]
        marks = "".join(f"[{order.setdefault(n, len(order) + 1)}]" for n in dict.fromkeys(valid))
        return f" {marks}" if marks else ""

    return MARKER.sub(replaced, text).strip(), tuple(n - 1 for n in order)


def with_whole_markers(text: str, count: int) -> str:
    """A text that is still being written, renumbered; without a marker of which the end is missing."""
    return renumbered(_CUT_MARKER.sub("", text), count)[0]


def with_numbers(text: str, numbers: Mapping[int, Sequence[int]]) -> str:
    """The text with other numbers in its markers: any of them in the place of one, none to drop it."""

    def replaced(match: re.Match[str]) -> str:
        given = ", ".join(str(other) for n in listed_numbers(match.group(1)) for other in numbers.get(n, (n,)))
        return f" [{given}]" if given else ""

    return MARKER.sub(replaced, text) if numbers else text


def cited_numbers(text: str) -> tuple[int, ...]:
    """The numbers of all markers of a text, each once, in order of first use."""
    return tuple(dict.fromkeys(n for match in MARKER.finditer(text) for n in listed_numbers(match[1])))


def listed_numbers(listed: str) -> list[int]:
    """ "1, 3-5" -> [1, 3, 4, 5]."""
    numbers: list[int] = []
    for part in re.split(r"\s*[,;]\s*", listed):
        first, *last = (int(n) for n in re.findall(r"\d+", part))
        numbers.extend(range(first, last[-1] + 1) if last and last[-1] - first <= 50 else [first, *last])
    return numbers
