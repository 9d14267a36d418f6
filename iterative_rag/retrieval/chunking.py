"""Cut documents into passages at sentence ends, and text into sentences, with exact offsets.

One pass over the lines finds headings, table rows, list items and prose; prose is split into
sentences; units are then packed greedily. Everything is linear in the length of the text, even if
it is one line of 100 MB.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.sentences import sentence_ends
from iterative_rag.types import Document, Passage

# Longer titles, section names and table headers are cut: the header must not drown the passage.
TITLE_CHARS = 120
SECTION_CHARS = 80
TABLE_HEADER_CHARS = 240
HEADING_CHARS = 60
SUBHEADED_CHARS = 100  # a line below a subheading is at least this long
# A hard-wrapped line is at least this long; shorter lines without a full stop are verses or list entries.
WRAPPED_LINE_CHARS = 45
# An opening paragraph begins within so many characters, below an infobox for example.
OPENING_REACH = 20_000

_LINE = lazy_pattern(r"[^\n]+")
_MARKED_HEADING = lazy_pattern(r"(?P<level>#{1,6})[ \t]+.*$|(?P<wiki>={2,6})[ \t]*[^=].*?[ \t]*(?P=wiki)[ \t]*$")
_LIST_MARKER = lazy_pattern(r"[ \t]*(?:[-*+•][ \t]+|\d{1,3}[.)][ \t]+)")
_LAST_WORD = lazy_pattern(r"[\w.'’&-]+$")
# A line that ends in one of these goes on in the next.
_CONTINUED = frozenset(
    ("the", "a", "an", "of", "in", "on", "at", "to", "by", "for", "from", "with", "and", "or", "as", "is", "was")
)
_RULE_CHARS = frozenset("|-: \t")


class _Kind(Enum):
    HEADING = "heading"
    ROW = "row"
    RULE = "rule"  # the |---| line of a table
    ITEM = "item"
    PROSE = "prose"


class Unit(NamedTuple):
    """A heading, a table row, a sentence, or a line that is not split into sentences yet; `level` is that of a heading,
    from 1. It is never cut unless it is longer than a passage."""

    start: int
    end: int
    kind: _Kind
    level: int = 0


def sentences(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Offset spans of the sentences in `text[start:end]`; headings and table rows are one each.

    List markers and the rule lines of tables are left out.
    """
    spans = []
    for unit in _units(text, start, len(text) if end is None else end):
        begin = _after_marker(text, unit)
        if unit.kind is not _Kind.RULE and begin < unit.end:
            spans.append((begin, unit.end))
    return spans


def readable_units(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Offset spans of the sentences, rows and entries with their markers: what is shown by number, and quoted by it."""
    before = start
    for begin, stop in sentences(text, start, end):
        line = max(before, text.rfind("\n", 0, begin) + 1)
        yield _strip(text, line, stop)
        before = stop


def headings(text: str, start: int, end: int) -> list[Unit]:
    """The headings in `text[start:end]`, those of plain text too."""
    return [line for line in _lines(text, start, min(end, len(text))) if line.kind is _Kind.HEADING]


def opening(text: str, chars: int) -> tuple[int, int] | None:
    """The first whole sentences of the first paragraphs of prose, about `chars` characters; None where there are
    none."""
    prose: list[Unit] = []
    for line in _lines(text, 0, min(len(text), OPENING_REACH)):
        if prose and (line.kind is not _Kind.PROSE or "\n\n" in text[prose[-1].end : line.start]):
            break
        if line.kind is _Kind.PROSE and (prose or line.end - line.start >= WRAPPED_LINE_CHARS):
            prose.append(line)
    if not prose:
        return None
    start, limit = prose[0].start, min(prose[-1].end, prose[0].start + 2 * chars)
    ends = [*sentence_ends(text, start, limit), limit]
    return start, max((end for end in ends if end - start <= chars), default=ends[0])


def chunk(document: Document, *, size: int = 500, overlap: int = 80) -> list[Passage]:
    """Passages of at most `size` characters, cut at sentence ends, in document order.

    Neighbours share the whole sentences that fit into `overlap`; a sentence longer than `size` is cut
    at words. A heading begins a passage unless the one before it would be shorter than a quarter of `size`.
    """
    if size < 1 or not 0 <= overlap < size:
        raise ValueError(f"overlap ({overlap}) must be less than size ({size})")
    return _Packer(document, size, overlap).pack()


# --- lines -----------------------------------------------------------------------------------


def _lines(text: str, start: int, end: int) -> Iterator[Unit]:
    """The non-blank lines with their kinds, without surrounding white space."""
    previous_end = -2  # so that the first line counts as following a blank one
    heading_before = False
    for match in _LINE.finditer(text, start, end):
        begin, stop = _strip(text, *match.span())
        if begin == stop:
            continue
        after_gap = match.start() > previous_end + 1
        line = _classify(text, begin, stop)
        if line.kind is _Kind.PROSE and (after_gap or heading_before):
            line = _plain_heading(text, line, match.end(), end, below_heading=not after_gap) or line
        yield line
        heading_before = line.kind is _Kind.HEADING
        previous_end = match.end()


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def _classify(text: str, start: int, end: int) -> Unit:
    first = text[start]
    if first == "|":
        rule = end - start > 1 and "-" in text[start : min(end, start + 8)] and _RULE_CHARS.issuperset(text[start:end])
        return Unit(start, end, _Kind.RULE if rule else _Kind.ROW)
    if first in "#=" and end - start < 400 and (match := _MARKED_HEADING.match(text[start:end])):
        return Unit(start, end, _Kind.HEADING, len(match["level"] or match["wiki"]))
    if first in "-*+•0123456789" and _LIST_MARKER.match(text, start, end):
        return Unit(start, end, _Kind.ITEM)
    return Unit(start, end, _Kind.PROSE)


def _plain_heading(text: str, line: Unit, line_end: int, limit: int, *, below_heading: bool) -> Unit | None:
    """A short line after a blank one, directly followed by text: how plain-text extracts show headings.

    Directly below another heading it is a subheading only above a long line: lists have short lines, too.
    """
    start, end = line.start, line.end
    if end - start > HEADING_CHARS or text[end - 1] in ".,:;!?…\"'”’":
        return None
    if not (text[start].isupper() or text[start].isdigit()):
        return None
    following = text[line_end + 1 : min(limit, line_end + 1 + SUBHEADED_CHARS)]
    if not following or following[0].isspace() or following[0].islower():
        return None
    if below_heading and (len(following) < SUBHEADED_CHARS or "\n" in following):
        return None
    return Unit(start, end, _Kind.HEADING, 3 if below_heading else 2)


# --- sentences -------------------------------------------------------------------------------


def _units(text: str, start: int, end: int) -> Iterator[Unit]:
    """Headings, rows and sentences in order; hard-wrapped lines of prose are joined first."""
    block: Unit | None = None
    for line in _lines(text, start, end):
        if block and line.kind is _Kind.PROSE and _continues(text, block, line):
            block = block._replace(end=line.end)
            continue
        if block:
            yield from _split(text, block)
        block = line
    if block:
        yield from _split(text, block)


def _continues(text: str, before: Unit, line: Unit) -> bool:
    """Whether `line` goes on with the sentence of the line before (a hard-wrapped paragraph).

    Entries of a list often lack a full stop and begin with a capital: those stay apart.
    """
    gap, wraps = text[before.end : line.start], before.kind in (_Kind.PROSE, _Kind.ITEM)
    if not wraps or gap.count("\n") != 1 or text[before.end - 1] in '.!?…:;"”|':
        return False
    last_line = before.end - max(before.start, text.rfind("\n", before.start, before.end) + 1)
    if last_line < WRAPPED_LINE_CHARS:
        return False
    if text[line.start].islower() or text[before.end - 1] == ",":
        return True
    last = _LAST_WORD.search(text, max(before.start, before.end - 24), before.end)
    return last is not None and last[0] in _CONTINUED


def _split(text: str, line: Unit) -> Iterator[Unit]:
    """The sentences of a block of prose or of a list item; anything else as it is."""
    if line.kind not in (_Kind.PROSE, _Kind.ITEM):
        yield line
        return
    begin, kind = line.start, line.kind
    for end in sentence_ends(text, _after_marker(text, line), line.end):
        yield Unit(begin, end, kind)
        begin, _ = _strip(text, end, line.end)
        kind = _Kind.PROSE
    if begin < line.end:
        yield Unit(begin, line.end, kind)


def _after_marker(text: str, unit: Unit) -> int:
    """Where the words of a unit begin, behind the marker of a list item."""
    marker = _LIST_MARKER.match(text, unit.start, unit.end) if unit.kind is _Kind.ITEM else None
    return marker.end() if marker else unit.start


# --- packing ---------------------------------------------------------------------------------


class _Packer:
    """Packs the units of one document into passages and keeps the section path and table header."""

    def __init__(self, document: Document, size: int, overlap: int) -> None:
        self.text = document.text
        self.document = document
        self.size = size
        self.overlap = overlap
        self.title = " ".join(document.title.split())[:TITLE_CHARS]
        self.passages: list[Passage] = []
        self.path: list[tuple[int, str]] = []
        self.units: list[Unit] = []  # of the passage that is being filled
        self.carried = 0  # how many of them the passage before holds too
        self.header = self.title
        self.table: list[Unit] = []  # the first two rows of the table so far

    def pack(self) -> list[Passage]:
        for unit in _units(self.text, 0, len(self.text)):
            if unit.kind is _Kind.HEADING:
                self._enter_section(unit)
            self._follow_table(unit)
            self._add(unit)
        self._flush()
        return self.passages

    def _enter_section(self, unit: Unit) -> None:
        told = any(before.kind is not _Kind.HEADING for before in self.units)
        if told and self.units[-1].end - self.units[0].start >= self.size // 4:
            self._flush()
        name = " ".join(self.text[unit.start : min(unit.end, unit.start + 400)].strip("#= \t").split())[:SECTION_CHARS]
        while self.path and self.path[-1][0] >= unit.level:
            self.path.pop()
        if name and name.casefold() != self.title.casefold():
            self.path.append((unit.level, name))

    def _follow_table(self, unit: Unit) -> None:
        """Learn the first rows of the table that `unit` belongs to; forget them after it."""
        if unit.kind not in (_Kind.ROW, _Kind.RULE):
            self.table = []
        elif len(self.table) < 2:
            self.table.append(unit)

    def _add(self, unit: Unit) -> None:
        if unit.end - unit.start > self.size:
            self._flush()
            self._cut_at_words(unit)
            return
        if self.units and unit.end - self.units[0].start > self.size:
            carried = self._overlapping(unit)
            self._flush()
            self.units, self.carried = carried, len(carried)
            self.header = self._header_for(carried[0]) if carried else ""
        if not self.units:
            self.header = self._header_for(unit)
        self.units.append(unit)

    def _header_for(self, unit: Unit) -> str:
        header = " > ".join([self.title, *(name for _, name in self.path)]).strip()
        if self.table[1:] and self.table[1].kind is _Kind.RULE and unit.start > self.table[1].start:
            header = f"{header}\n{self.text[self.table[0].start : self.table[1].end][:TABLE_HEADER_CHARS]}"
        return header

    def _overlapping(self, following: Unit) -> list[Unit]:
        """The last sentences of the full passage that fit into the overlap, and with `following` into `size`."""
        earliest = max(self.units[-1].end - self.overlap, following.end - self.size)
        first = len(self.units)
        while first > 1 and self.units[first - 1].kind is _Kind.PROSE and self.units[first - 1].start >= earliest:
            first -= 1
        return self.units[first:]

    def _flush(self) -> None:
        if len(self.units) > self.carried:
            self._emit(self.units[0].start, self.units[-1].end, self.header)
        self.units = []
        self.carried = 0

    def _cut_at_words(self, unit: Unit) -> None:
        """A unit longer than `size` becomes passages that begin and end at words and share up to `overlap`."""
        header = self._header_for(unit)
        start = done = unit.start
        while unit.end - start > self.size:
            half, full = max(start + self.size // 2, done + 1), start + self.size
            space = max(self.text.rfind(" ", half, full + 1), self.text.rfind("\n", half, full + 1))
            end = _strip(self.text, start, space if space > 0 else full)[1]
            if end <= done:  # only white space follows the overlap: go on without it
                start, _ = _strip(self.text, done, unit.end)
                continue
            self._emit(start, end, header)
            done = end
            again = self.text.find(" ", max(start + 1, end - self.overlap - 1), end - 1) if self.overlap else -1
            start, _ = _strip(self.text, again if again > start else end, unit.end)
        if start < unit.end:
            self._emit(start, unit.end, header)

    def _emit(self, start: int, end: int, header: str) -> None:
        text = self.text[start:end]
        self.passages.append(Passage(self.document.id, len(self.passages), start, end, text, header))
