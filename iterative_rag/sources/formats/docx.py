"""Word files, whose XML is written as HTML in the order in which a reader meets it, for our reader of pages.

Maintained converters (mammoth, python-docx) know neither the numbers of lists and headings nor formulas, charts, text
boxes, headers, styles that raise or strike text, and cells that a row leaves out.
"""

from __future__ import annotations

import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from html import escape
from itertools import groupby, takewhile
from pathlib import Path
from typing import Any

from iterative_rag.sources.formats import office_xml
from iterative_rag.sources.formats.format import Format, Reading, plain
from iterative_rag.sources.formats.office_xml import (
    OfficeHtml,
    attribute,
    labelled,
    local,
    marked,
    table,
    value,
    within,
)
from iterative_rag.sources.formats.text import title_of
from iterative_rag.sources.formats.zip_fault import MAX_BYTES, archive_reading
from iterative_rag.sources.html_marks import counted

MAX_XML_BYTES = 16 * 1024 * 1024
_MAX_SPAN = 64  # columns of one cell
_HEADING = re.compile(r"heading ?([1-9])", re.IGNORECASE)
_REPEATS = re.compile(r"toc \d|table of figures", re.IGNORECASE)  # styles of what repeats the text
_COUNTED = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}
# What was deleted, and what has no text of its own.
_NO_TEXT = "del moveFrom sdtPr sdtEndPr pPr rPr tblPr tblGrid trPr tcPr rt sectPr"
_DROPPED = frozenset(_NO_TEXT.split())
_SIGNS = {"tab": "\t", "ptab": "\t", "br": "<br>", "cr": "<br>", "noBreakHyphen": "\u2011", "softHyphen": "\xad"}


def read(path: Path) -> Reading:
    return archive_reading(path, "a Word file", ".doc", MAX_XML_BYTES, _documents)


def _documents(archive: zipfile.ZipFile, path: Path, source: str) -> Reading:
    word = _Word(archive)
    yield from word.documents(word.whole(), source, office_xml.core_title(archive) or title_of(path))


class _Word(OfficeHtml):
    def __init__(self, archive: zipfile.ZipFile) -> None:
        super().__init__()
        self._archive = archive
        self._part = office_xml.main_part(archive)
        self._part_of = office_xml.opener(archive, self._part)
        self._styles = {attribute(style, "styleId"): style for style in self._related("style")}
        self._numbers = _Numbers(self._related("abstractNum", "numbering"), self._related("num", "numbering"))
        self._told = {
            (kind, attribute(note, "id")): note
            for kind in ("footnote", "endnote", "comment")
            for note in self._related(kind)
        }
        self._noted = 0  # notes so far

    def _related(self, name: str, kind: str = "") -> list[Any]:
        """The elements of this name in the part of their kind."""
        return [element for root in self._roots(kind or f"{name}s") for element in within(root, name)]

    def _roots(self, kind: str) -> list[Any]:
        roots = office_xml.related(self._archive, self._part, kind)
        for root in roots:
            office_xml.choose_alternatives(root)
        return roots

    def whole(self) -> Iterator[str]:
        root = office_xml.tree(self._archive, self._part)
        office_xml.choose_alternatives(root)
        heads, feet = (
            dict.fromkeys(block for root in self._roots(kind) for block in self._apart(root))
            for kind in ("header", "footer")
        )
        yield from heads
        yield from self._blocks(root.find("{*}body"))
        yield from (block for block in feet if block not in heads)

    def _blocks(self, parent: Any) -> Iterator[str]:
        for child in parent:
            match local(child):
                case name if name in _DROPPED:
                    continue
                case "p":
                    yield from self._paragraph(child)
                case "tbl":
                    yield table(self._rows(child))
                case "oMath" | "oMathPara":
                    yield from self.paragraph("p", "", escape(office_xml.formula(child)))
                case "altChunk":
                    self.kinds["embedded documents"] += 1
                case _:
                    yield from self._blocks(child)
            yield from self.waiting()

    def _apart(self, parent: Any) -> list[str]:
        return self.apart(self._blocks(parent))

    # --- paragraphs ----------------------------------------------------------------------------

    def _paragraph(self, paragraph: Any) -> Iterator[str]:
        style = value(paragraph, "pPr", "pStyle")
        name = value(self._styles.get(style), "name") or style
        if _REPEATS.match(name):
            return
        words = self._words(paragraph, style)
        tag = "p"
        if name.lower() == "title":
            tag = "h1"
        elif match := _HEADING.match(name):
            tag = f"h{min(int(match[1]) + 1, 6)}"  # the first level is the title's
        elif (level := self._inherited(paragraph, style, "pPr", "outlineLvl")).isdecimal() and int(level) < 9:
            tag = f"h{min(int(level) + 2, 6)}"
        yield from self.paragraph(tag, self._label(paragraph, style), words)

    def _words(self, paragraph: Any, style: str) -> str:
        marks = self._inherited(None, style, "rPr", "vertAlign"), False
        alike = groupby(self._pieces(paragraph, marks), key=lambda piece: piece[0])
        return "".join(marked("".join(text for _, text in group), of[0], struck=of[1]) for of, group in alike)

    def _pieces(self, element: Any, marks: tuple[str, bool]) -> Iterator[tuple[tuple[str, bool], str]]:
        for child in element:
            text = ""
            match local(child):
                case name if name in _DROPPED:
                    continue
                case "t":
                    text = escape(plain(child.text or ""))
                case name if name in _SIGNS:
                    text = _SIGNS[name]
                case "sym":
                    self.kinds["symbols without text"] += 1
                case "oMath" | "oMathPara":
                    text = escape(office_xml.formula(child))
                case "footnoteReference" | "endnoteReference" as name:
                    if (note := self._told.get((name.removesuffix("Reference"), attribute(child, "id")))) is not None:
                        self._noted += 1
                        text = self.note(f"[{self._noted}]", self._apart(note))
                case "commentReference":
                    if (note := self._told.get(("comment", attribute(child, "id")))) is not None:
                        who = attribute(note, "author") or "unknown"
                        self.beside += labelled(f"Comment by {who}:", self._apart(note))
                case "drawing" | "pict" | "object":
                    self._draw(child)
                case "fldChar":
                    for ticked in within(child, "checkBox"):
                        text = "☒" if (value(ticked, "checked") or value(ticked, "default")) == "1" else "☐"
                case "r":
                    named = value(child, "rPr", "rStyle")
                    shift = self._inherited(child, named, "rPr", "vertAlign") or marks[0]
                    struck = "1" in [self._inherited(child, named, "rPr", kind) for kind in ("strike", "dstrike")]
                    yield from self._pieces(child, (shift, struck))
                case _:
                    yield from self._pieces(child, marks)
            if text:
                yield marks, text

    def _draw(self, drawing: Any) -> None:
        """Write the texts of boxes, charts and diagrams beside the words that they are anchored in."""
        while (box := next(within(drawing, "txbxContent"), None)) is not None:
            office_xml.replace(box)
            self.beside += self._apart(box)
        for first, *others in office_xml.drawn(drawing, self._part_of, self.kinds):
            if not others:
                self.beside += self.paragraph("p", "", escape("; ".join(filter(None, first))))
                continue
            self.filled = True
            rows = [("th", first), *(("td", row) for row in others)]
            self.beside.append(table([f"<{tag}>{escape(cell)}</{tag}>" for cell in row] for tag, row in rows))

    def _inherited(self, element: Any, style: str, *path: str) -> str:
        """A property of an element itself, else of its style or of one that this is based on."""
        told = value(element, *path)
        for _ in range(20):
            if told or style not in self._styles:
                break
            told, style = value(self._styles[style], *path), value(self._styles[style], "basedOn")
        return told

    def _label(self, paragraph: Any, style: str) -> str:
        """The number of a paragraph as Word shows it, a dash for a bullet, "" for none."""
        list_id = self._inherited(paragraph, style, "pPr", "numPr", "numId")
        level = self._inherited(paragraph, style, "pPr", "numPr", "ilvl")
        depth = int(level) if level.isdecimal() else self._numbers.level_of(list_id, style)
        return self._numbers.next(list_id, depth) if list_id not in ("", "0") else ""

    # --- tables --------------------------------------------------------------------------------

    def _rows(self, table: Any) -> list[list[str]]:
        """The written cells of each row; one that covers several columns or rows says so."""
        rows = [row for row in _parts(table, "tr") if row.find("{*}trPr/{*}del") is None]
        heads = max(1, sum(1 for _ in takewhile(lambda row: row.find("{*}trPr/{*}tblHeader") is not None, rows)))
        written: list[list[tuple[list[int], str, str]]] = []
        begun: dict[int, list[int]] = {}  # by its column: the columns and rows of the last cell that began there
        for number, row in enumerate(rows):
            left_out = value(row, "trPr", "gridBefore")
            column = min(int(left_out), _MAX_SPAN) if left_out.isdecimal() else 0
            written.append([([1, 1], "td", "")] * column)
            for cell in _parts(row, "tc"):
                wide = value(cell, "tcPr", "gridSpan")
                span = max(1, min(int(wide[:4]), _MAX_SPAN)) if wide.isdecimal() else 1
                merge = cell.find("{*}tcPr/{*}vMerge")
                if merge is not None and attribute(merge, "val") in ("", "continue") and column in begun:
                    begun[column][1] += 1
                else:
                    begun[column] = [span, 1]
                    written[-1].append((begun[column], "th" if number < heads else "td", "".join(self._apart(cell))))
                column += span
        return [
            [f'<{tag} colspan="{wide}" rowspan="{high}">{text}</{tag}>' for (wide, high), tag, text in row]
            for row in written
        ]


class _Numbers:
    def __init__(self, abstracts: list[Any], lists: list[Any]) -> None:
        abstract = {attribute(element, "abstractNumId"): element for element in abstracts}
        self._lists: dict[str, tuple[str, dict[int, Any], dict[int, str]]] = {}  # counted as, levels, where they start
        for num in lists:
            counted_as = value(num, "abstractNumId")
            general = abstract.get(counted_as)
            levels = {
                int(attribute(level, "ilvl") or "0"): level
                for root in (general, num)  # what the list itself says comes last
                for level in (within(root, "lvl") if root is not None else ())
            }
            starts = {
                int(attribute(over, "ilvl") or "0"): value(over, "startOverride") for over in within(num, "lvlOverride")
            }
            self._lists[attribute(num, "numId")] = counted_as, levels, starts
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)

    def level_of(self, list_id: str, style: str) -> int:
        _, levels, _ = self._lists.get(list_id, ("", {}, {}))
        return next((depth for depth, level in levels.items() if value(level, "pStyle") == style), 0)

    def next(self, list_id: str, depth: int) -> str:
        counted_as, levels, starts = self._lists.get(list_id, ("", {}, {}))
        if depth not in levels or value(levels[depth], "numFmt") == "bullet":
            return "-"
        counts = self._counts[counted_as]
        start = starts.pop(depth, "")  # once, where the list begins
        if start.isdecimal():
            counts[depth] = int(start) - 1
        counts[depth] = counts.get(depth, self._start(levels, depth) - 1) + 1
        for deeper in [level for level in counts if level > depth]:
            del counts[deeper]

        def shown_number(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            kind = value(levels.get(at), "numFmt")
            return counted(counts.get(at, self._start(levels, at)), _COUNTED.get(kind, "1"))

        return re.sub("%([1-9])", shown_number, value(levels[depth], "lvlText"))

    @staticmethod
    def _start(levels: dict[int, Any], depth: int) -> int:
        told = value(levels.get(depth), "start")
        return int(told) if told.isdecimal() else 1


def _parts(parent: Any, name: str) -> Iterator[Any]:
    """The rows of a table or the cells of a row, also those in content controls and tracked insertions."""
    for child in parent:
        if local(child) == name:
            yield child
        elif local(child) not in _DROPPED:
            yield from _parts(child, name)


FORMAT = Format(read, MAX_BYTES, needs=("lxml", "html_to_markdown", "selectolax"))
