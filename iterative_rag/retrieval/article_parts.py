"""Parts of one article that a reader asks for by name: sections, places that hold some words, rows of tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from iterative_rag.retrieval.chunking import Heading, headings, sentences
from iterative_rag.text.folding import folded
from iterative_rag.text.patterns import lazy_pattern

Span = tuple[int, int]
# Places that hold some of the words asked for, of one article.
MOST_PLACES = 6
# A word stands for those that share its first letters: "marry" and "married", "win" and "wins".
STEM = 4

_WORD = lazy_pattern(r"\w+")
_ROW = lazy_pattern(r"^[ \t]*\|.*$", re.MULTILINE)
_RULE = lazy_pattern(r"[ \t]*\|[ :|-]*-[ :|-]*")


@dataclass(frozen=True, slots=True)
class Section:
    """`start` is that of the heading; the section ends where one of the same or a higher level begins."""

    heading: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Table:
    """`heading` is that of the section it stands in; `header` the lines above its `rows`."""

    heading: str
    header: tuple[Span, ...]
    rows: tuple[Span, ...]


def sections(text: str) -> list[Section]:
    """The sections in document order, each with those below it."""
    found = headings(text, 0, len(text))
    ends = [
        next((later.start for later in found[n + 1 :] if later.level <= one.level), len(text))
        for n, one in enumerate(found)
    ]
    return [Section(_name(text, one), one.start, end) for one, end in zip(found, ends, strict=True)]


def section_named(text: str, heading: str) -> Section | None:
    """The section whose heading is nearest to what is asked for; None where none shares a word with it."""
    wanted = _stems(heading)
    scored = [(_likeness(wanted, _stems(one.heading)), -n, one) for n, one in enumerate(sections(text))]
    best = max(scored, default=None, key=lambda item: item[:2])
    return best[2] if best and best[0] > 0 else None


def beginning(text: str, size: int) -> Span:
    """The article up to its second section, `size` characters at most."""
    parts = [one for one in sections(text) if text[: one.start].strip()]
    return 0, min(parts[0].start if parts else len(text), size)


def places(text: str, words: str) -> list[Span]:
    """Sentences and table rows that hold the words, those with most of them, in document order."""
    wanted = _stems(words)
    spans = sentences(text)
    scored = [(len(wanted & _stems(text[start:end])), (start, end)) for start, end in spans]
    most = max((score for score, _ in scored), default=0)
    if not most:
        return []
    # One word of many is no place that was asked for, unless there is no better one.
    least = max(1, most - 1) if most > 1 else 1
    best = sorted((item for item in scored if item[0] >= least), key=lambda item: -item[0])[:MOST_PLACES]
    return sorted(span for _, span in best)


def tables(text: str) -> list[Table]:
    """The tables in document order."""
    found: list[list[Span]] = []
    for match in _ROW.finditer(text):
        if found and text[found[-1][-1][1] : match.start()].strip("\n") == "" and match.start() - found[-1][-1][1] <= 1:
            found[-1].append(match.span())
        else:
            found.append([match.span()])
    titled = headings(text, 0, len(text))
    return [_table(text, lines, [_name(text, one) for one in titled if one.start < lines[0][0]]) for lines in found]


def _table(text: str, lines: Sequence[Span], above: Sequence[str]) -> Table:
    ruled = len(lines) > 1 and _RULE.fullmatch(text[slice(*lines[1])]) is not None
    header = 2 if ruled else 1 if len(lines) > 1 else 0
    return Table(above[-1] if above else "", tuple(lines[:header]), tuple(lines[header:]))


def table_named(text: str, name: str) -> Table | None:
    """The table of that number (from 1), or the one whose heading or header is nearest to the name; without a name the
    longest."""
    found = tables(text)
    if not name.strip():
        return max(found, default=None, key=lambda table: len(table.rows))
    if name.strip().isdigit():
        return found[int(name) - 1] if 0 < int(name) <= len(found) else None
    wanted = _stems(name)
    scored = [
        (_likeness(wanted, _stems(" ".join([one.heading, *(text[slice(*line)] for line in one.header)]))), -n, one)
        for n, one in enumerate(found)
    ]
    best = max(scored, default=None, key=lambda item: item[:2])
    return best[2] if best and best[0] > 0 else None


def rows(text: str, table: Table, words: str) -> list[Span]:
    """The rows that hold all words of a filter; all rows without one."""
    wanted = _stems(words)
    return [row for row in table.rows if wanted <= _stems(text[slice(*row)])]


def _name(text: str, heading: Heading) -> str:
    return text[heading.start : heading.end].strip("#= \t")


def _stems(text: str) -> frozenset[str]:
    return frozenset(word if word.isdigit() else word[:STEM] for word in _WORD.findall(folded(text)))


def _likeness(wanted: frozenset[str], held: frozenset[str]) -> float:
    return len(wanted & held) / len(wanted | held) if wanted and held else 0.0
