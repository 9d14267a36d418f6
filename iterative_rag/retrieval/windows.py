"""What is read of a document in one call: all of a short one, else the parts around its best hits; tables whole.

Every part is a span of the document, the lead and the headings too, so a quote from any of them has exact offsets.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from iterative_rag.retrieval.article_parts import tables
from iterative_rag.retrieval.chunking import Unit, headings, opening, readable_units, sentences
from iterative_rag.retrieval.spans import Span, merged, without
from iterative_rag.text.markdown_rows import is_rule
from iterative_rag.text.sentences import sentence_ends, speaks_of_earlier
from iterative_rag.types import Document, Hit, ShortlistedDocument, Window

GAP = "\n[...]\n"
# Sections without rows that a window tells of, behind this.
MOST_LOST = 8
_LOST = "(This corpus does not have the rows of: "
_LEFT_OUT = "(Rows left out, which hold none of the names and numbers asked for: "
# Between two rows of a table.
_ROW_ENDS = "|\n|"
# How far a margin is widened to reach the end of a sentence or line.
SENTENCE_CHARS = 400
# How far back the headings of a hit's section are looked for: a bound for very long documents.
SECTION_CHARS = 50_000
# A section of so few characters is read whole.
SHORT_SECTION = 1200
# A part that begins with "She" or "These" is read from so many sentences before it at most.
SENTENCES_BEFORE = 2
# Of a table with rows of so many characters only those that are asked for are read, if they are half of it or less.
LONG_TABLE = 2000
# So many characters of an article are shown a second time at most.
AGAIN_CHARS = 500
# A shorter rest of a document is not worth a call.
SHORTEST_REST = 200
# A table with a hit is read whole up to this many windows: a question for the third tallest needs every row.
TABLE_WINDOWS = 3


@dataclass(frozen=True, slots=True)
class WindowLayout:
    """How the room of a window is used.

    `margins`: characters read before and after a hit, so that a pronoun is read with the name it stands for. All hits
    get the first margin before any gets the next. `lead`: characters of the opening paragraph. `sections`: read the
    headings that a part stands under, short sections whole, and no part from a sentence on that speaks of what the one
    before it names. `gap`: parts that are no farther apart are read as one. `tables`: the tables of
    all hits are read whole, up to so many windows besides.
    """

    margins: tuple[int, ...]
    lead: int = 0
    sections: bool = False
    gap: int = 0
    tables: int = 0


# For the built-in reader, which reads passage by passage. Without the lead, which says what the article is about, 9 of
# 60 questions like "Is Ann Lee Westmarkian?" were denied wrongly, with it 2. Of 150 questions over whole pages the
# table in question is whole in 99 % of the windows, where it was in 74 % with that of the best hit alone.
WIDE = WindowLayout(margins=(400,), lead=500, tables=2)
# For an LLM, which is shown the window as a whole. Chosen by measuring: at the same size growing margins
# hold the answer in 3 to 10 % more windows than one of 400; the lead adds 9 % on FRAMES and costs 1 % on SQuAD. With
# the tables of all hits the one asked for is whole in 57 of 60 windows of whole pages, else in 48.
PACKED = WindowLayout(margins=(0, 120, 400, 800), lead=500, sections=True, gap=100, tables=1)


def window(document: Document, entry: ShortlistedDocument, size: int, layout: WindowLayout = WIDE) -> Window:
    """About `size` characters of a shortlisted document, plus the whole table of its best hit."""
    length = len(document.text)
    spans = [(0, length)] if length <= size else _around(document.text, entry.hits, size, layout)
    text = GAP.join(document.text[start:end] for start, end in spans)
    if spans and _ROW_ENDS in document.text[max(0, spans[-1][1] - 2) : spans[-1][1] + 2]:
        text = f"{text.rstrip()}{GAP.rstrip()}"  # the last table goes on: its rows can be read, but not counted
    lost = [name for name in document.lost_rows if name in text] if layout.sections else []
    if lost:
        text += f"{GAP}{_LOST}{' · '.join(lost[:MOST_LOST])})"
    return Window(document.id, document.title, document.source, tuple(spans), text)


def is_of_document(line: str) -> bool:
    """Whether a line of a window stands in its document, as a gap and what is told of rows do not."""
    return line != GAP.strip() and not line.startswith((_LOST, _LEFT_OUT))


def window_of_rest(document: Document, entry: ShortlistedDocument, size: int, read: Sequence[Span]) -> Window | None:
    """A window of what was not read: around the other hits, else from where most of the unread text begins."""
    unread = without([(0, len(document.text))], read)
    if _chars(unread) < SHORTEST_REST:
        return None
    hits = tuple(hit for hit in entry.hits if without([(hit.start, hit.end)], read))
    if not hits:
        start, end = max(unread, key=lambda span: span[1] - span[0])
        hits = (Hit(document.id, document.title, start, min(end, start + size), 0.0),)
    wider = window(document, replace(entry, hits=hits), size, PACKED)
    left = (span for span in without(wider.spans, read) if document.text[slice(*span)].strip())
    starts = [_from_its_subject(document.text, span) for span in left]
    cut = (_table_at(document.text, start, start + 1) for start, _ in starts)
    spans = merged([*starts, *(_header(document.text, table) for table in cut if table)])
    if _chars(spans) < SHORTEST_REST:
        return None
    return replace(wider, spans=spans, text=GAP.join(document.text[start:end] for start, end in spans))


def with_again(
    document: Document, rest: Window | None, read: Sequence[Span], tells: Callable[[str], bool]
) -> Window | None:
    """The window with those sentences and rows of what was read before that tell, each from the one on that names its
    subject; these alone where nothing is left."""
    again: tuple[Span, ...] = ()
    for start, end in (unit for span in read for unit in readable_units(document.text, *span)):
        if tells(document.text[start:end]):
            longer = merged([*again, _from_its_subject(document.text, (start, end))])
            again = longer if _chars(longer) <= AGAIN_CHARS else again
    if not again:
        return rest
    spans = merged([*(rest.spans if rest else ()), *again])
    text = GAP.join(document.text[start:end] for start, end in spans)
    return Window(document.id, document.title, document.source, spans, text)


def sifted(document: Document, part: Window, asked: Callable[[Sequence[str]], Collection[int]]) -> Window:
    """The window without those rows of its long tables that are not `asked` for, and with their number. They count as
    unread."""
    out: list[Span] = []
    for table in tables(document.text) if _ROW_ENDS in part.text else ():
        rows = [row for row in table.rows if not without([row], part.spans)]
        if _chars(rows) < LONG_TABLE:
            continue
        kept = asked([document.text[start:end] for start, end in rows])
        if 2 * len(kept) <= len(rows):
            out += [(start, end + 1) for n, (start, end) in enumerate(rows) if n not in kept]
    if not out:
        return part
    before, spans = (GAP.join(document.text[slice(*span)] for span in part.spans)).rstrip(), without(part.spans, out)
    text = GAP.join(document.text[slice(*span)].rstrip() for span in spans)
    told = f"{part.text[len(before) :].rstrip()}{GAP}{_LEFT_OUT}{len(out)})"
    return replace(part, spans=tuple(spans), text=text + told)


def together(entries: Sequence[ShortlistedDocument]) -> ShortlistedDocument:
    """One document as several needs found it: the hits of the needs take turns, so that each gets its share of a
    window. The score is the best one."""
    hits: dict[Span, Hit] = {}
    for turn in zip_longest(*(entry.hits for entry in entries)):
        for hit in filter(None, turn):
            hits.setdefault((hit.start, hit.end), hit)
    return replace(entries[0], score=max(entry.score for entry in entries), hits=tuple(hits.values()))


def _around(text: str, hits: Sequence[Hit], size: int, layout: WindowLayout) -> list[Span]:
    """Spans around the hits, taken best first until the room is used up, in document order. The table of the best hit
    is read besides the window, so that the other hits keep their room."""
    # Beside tables the lead leads the built-in reader astray: of 200 questions about them 68 came out right with it, 70
    # without it.
    led = layout.lead and (layout.sections or not any(_table_at(text, hit.start, hit.end) for hit in hits))
    spans = [lead] if led and (lead := opening(text, layout.lead)) else []
    size += 0 if layout.sections else _chars(spans)  # the built-in reader has room for it besides
    around = _headings_around(text, hits) if layout.sections and hits else []
    read = False
    for margin in layout.margins:
        for hit in hits:
            table = _table_at(text, hit.start, hit.end)
            near = _whole_sentences(text, hit.start - margin, hit.end + margin)
            if layout.sections:
                near = _from_its_subject(text, near)
                near = _short_section(around, near, len(text)) if margin else near
            own = [near] if table is None else [_header(text, table), near]
            if table and table[1] - table[0] <= (size - _chars(spans) if read else TABLE_WINDOWS * size):
                size += 0 if read else table[1] - table[0]
                own = [_whole_sentences(text, min(hit.start, table[0]) - margin, max(hit.end, table[1]))]
            joined = list(merged([*spans, *own, *_section(around, own[0][0])], layout.gap))
            if not read or _chars(joined) <= size:
                spans, read = joined, True
    room = layout.tables * size
    for table in filter(None, (_table_at(text, hit.start, hit.end) for hit in hits)):
        if (left := _chars(without([table], spans))) <= room:
            spans, room = list(merged([*spans, table], layout.gap)), room - left
    return spans


def _headings_around(text: str, hits: Sequence[Hit]) -> list[Unit]:
    """The headings from SECTION_CHARS before the first hit to the end of a short section behind the last."""
    first, last = min(hit.start for hit in hits), max(hit.end for hit in hits) + SHORT_SECTION
    begin = text.find("\n\n", first - SECTION_CHARS, first) if first > SECTION_CHARS else 0
    return headings(text, begin, last) if begin >= 0 else []


def _short_section(around: Sequence[Unit], near: Span, length: int) -> Span:
    """The span with the rest of its section, where that is short."""
    start = max((heading.start for heading in around if heading.start <= near[0]), default=0)
    end = min((heading.start for heading in around if heading.start >= near[1]), default=length)
    return (start, end) if end - start <= SHORT_SECTION else near


def _from_its_subject(text: str, span: Span) -> Span:
    """The span from the sentence on that names what its first one speaks of, as far as that stands in the section."""
    start, end = span
    for _ in range(SENTENCES_BEFORE):
        if not speaks_of_earlier(text[start : start + SENTENCE_CHARS]):
            break
        before = sentences(text, max(0, start - 2 * SENTENCE_CHARS), start)
        if not before or next(sentence_ends(text[slice(*before[-1])] + " A"), None) is None:
            break
        start = before[-1][0]
    return start, end


def _section(above: Sequence[Unit], start: int) -> list[Span]:
    """The headings above an offset: that of its section and those of the sections around it."""
    path: list[Unit] = []
    for heading in above:
        if heading.start > start:
            break
        path = [outer for outer in path if outer.level < heading.level] + [heading]
    return [(heading.start, heading.end) for heading in path]


def _chars(spans: Sequence[Span]) -> int:
    return sum(end - start for start, end in spans)


def _table_at(text: str, start: int, end: int) -> Span | None:
    """The whole Markdown table that the hit has lines of; the last one, if there are two."""
    line = text.rfind("\n", 0, start) + 1
    first = text.rfind("\n|", max(0, line - 1), end) + 1
    if first < line or not text.startswith("|", first):
        return None
    last = _line_end(text, first)
    while first > 0 and text.startswith("|", begin := text.rfind("\n", 0, first - 1) + 1):
        first = begin
    while last + 1 < len(text) and text[last + 1] == "|":
        last = _line_end(text, last + 1)
    return first, last


def _header(text: str, table: Span) -> Span:
    """The header rows of a table, with the rule below them; the first row where there is no rule."""
    first = _line_end(text, table[0])
    second = _line_end(text, min(first + 1, len(text)))
    return (table[0], second) if is_rule(text[first + 1 : second]) else (table[0], first)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _whole_sentences(text: str, start: int, end: int) -> Span:
    """The span widened to whole sentences or lines, by at most SENTENCE_CHARS on each side."""
    start, end = max(0, start), min(len(text), end)
    if start > 0:
        reach = max(0, start - SENTENCE_CHARS)
        line = text.rfind("\n", reach, start) + 1
        *_, last = (line, *(stop + 1 for stop in sentence_ends(text, max(line, reach), start)))
        start = last or start
    if end < len(text):
        line = text.find("\n", end, end + SENTENCE_CHARS)
        reach = line if line >= 0 else min(len(text), end + SENTENCE_CHARS)
        end = next(sentence_ends(text, end, reach), line + 1 or end)
    return start, end
