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
from itertools import takewhile
from pathlib import Path
from typing import Any

from iterative_rag.sources.formats import office_xml
from iterative_rag.sources.formats.format import Reading, archive_format, plain, title_of
from iterative_rag.sources.formats.office_xml import OfficeText, attribute, local, marked, table, value, whole, within
from iterative_rag.sources.html_marks import counted

MAX_XML_BYTES = 16 * 1024 * 1024
_MAX_COUNT = 64  # columns of one cell
_HEADING = re.compile(r"heading ?([1-9])", re.IGNORECASE)
_REPEATS = re.compile(r"toc \d|table of figures", re.IGNORECASE)  # styles of what repeats the text
_COUNTED = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}
# What was deleted, and what has no text of its own.
_NO_TEXT = "del moveFrom sdtPr sdtEndPr pPr rPr tblPr tblGrid trPr tcPr rt sectPr"
_DROPPED = frozenset(_NO_TEXT.split())
_WITHOUT_TEXT = {"sym": "symbols without text", "altChunk": "embedded documents"}
_SPLIT_MARK = re.compile("</(su[bp]|s)><\\1>")  # words of one kind in several runs
_SIGNS = {"tab": "\t", "ptab": "\t", "br": "<br>", "cr": "<br>", "noBreakHyphen": "\u2011", "softHyphen": "\xad"}


def _documents(archive: zipfile.ZipFile, path: Path, source: str) -> Reading:
    word = _Word(archive)
    yield from word.documents(word.whole(), source, office_xml.core_title(archive) or title_of(path))


class _Word(OfficeText):
    def __init__(self, archive: zipfile.ZipFile) -> None:
        super().__init__()
        part = office_xml.main_part(archive)
        self._part_of = office_xml.opener(archive, part)
        self._roots = {
            kind: office_xml.related(archive, part, kind)
            for kind in ("styles", "numbering", "footnotes", "endnotes", "comments", "header", "footer")
        }
        self._body = office_xml.tree(archive, part)
        for root in (self._body, *(root for roots in self._roots.values() for root in roots)):
            office_xml.choose_alternatives(root)
        self._styles = {attribute(style, "styleId"): style for style in self._named("style", "styles")}
        self._lists = _Lists(self._named("abstractNum", "numbering"), self._named("num", "numbering"))
        self._told = {
            (kind, attribute(note, "id")): note
            for kind in ("footnote", "endnote", "comment")
            for note in self._named(kind, f"{kind}s")
        }

    def _named(self, name: str, kind: str) -> list[Any]:
        """The elements of this name in the parts of a kind."""
        return [element for root in self._roots[kind] for element in within(root, name)]

    def whole(self) -> str:
        areas = (self._roots["header"], self._roots["footer"])
        heads, feet = (dict.fromkeys(self.html(block) for root in roots for block in root) for roots in areas)
        return "".join([*heads, self.inside(self._body), *(block for block in feet if block not in heads)])

    def html(self, element: Any) -> str:
        match local(element):
            case name if name in _DROPPED:
                return ""
            case "t":
                return escape(plain(element.text or ""))
            case name if name in _SIGNS:
                return _SIGNS[name]
            case name if name in _WITHOUT_TEXT:
                self.kinds[_WITHOUT_TEXT[name]] += 1
                return ""
            case "oMath" | "oMathPara":
                return escape(office_xml.formula(element))
            case "footnoteReference" | "endnoteReference" as name:
                note = self._told.get((name.removesuffix("Reference"), attribute(element, "id")))
                return self.note(f"[{len(self.notes) + 1}]", note) if note is not None else ""
            case "commentReference":
                if (note := self._told.get(("comment", attribute(element, "id")))) is not None:
                    who = attribute(note, "author") or "unknown"
                    self.beside.append(office_xml.labelled(f"Comment by {who}:", self.apart(note)))
                return ""
            case "drawing" | "pict" | "object":
                self._draw(element)
                return ""
            case "fldChar":
                boxes = within(element, "checkBox")
                return "".join("☒" if "1" in (value(box, "checked"), value(box, "default")) else "☐" for box in boxes)
            case "r":
                return self._marked(element, "", self.inside(element))
            case "p":
                return self._paragraph(element)
            case "tbl":
                return table(self._rows(element))
        return self.inside(element)

    def _paragraph(self, paragraph: Any) -> str:
        style = value(paragraph, "pPr", "pStyle")
        name = value(self._styles.get(style), "name") or style
        if _REPEATS.match(name):
            return ""
        level = self._inherited(paragraph, style, "pPr", "outlineLvl")
        if match := _HEADING.match(name):
            level = str(int(match[1]) - 1)
        tag = f"h{min(int(level) + 2, 6)}" if level.isdecimal() and int(level) < 9 else "p"  # <h1> is the title's
        label = self._label(paragraph, style)
        words = _SPLIT_MARK.sub("", self._marked(None, style, self.inside(paragraph)))
        return self.paragraph("h1" if name.lower() == "title" else tag, escape(label) + words if words.strip() else "")

    def _marked(self, run: Any, style: str, words: str) -> str:
        style = value(run, "rPr", "rStyle") or style
        shift, *struck = (self._inherited(run, style, "rPr", kind) for kind in ("vertAlign", "strike", "dstrike"))
        return marked(words, shift, struck="1" in struck)

    def _draw(self, drawing: Any) -> None:
        """Write the texts of boxes, charts and diagrams beside the words that they are anchored in."""
        while (box := next(within(drawing, "txbxContent"), None)) is not None:
            office_xml.replace(box)
            self.beside.append(self.apart(box))
        for first, *others in office_xml.drawn(drawing, self._part_of, self.kinds):
            if others:
                rows = [("th", first), *(("td", row) for row in others)]
                self.beside.append(table([f"<{tag}>{escape(cell)}</{tag}>" for cell in row] for tag, row in rows))
            elif title := "; ".join(filter(None, first)):
                self.beside.append(f"<p>{escape(title)}</p>")

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
        at = int(level) if level.isdecimal() else style
        return self._lists.label(list_id, at) if list_id not in ("", "0") else ""

    def _rows(self, table: Any) -> list[list[str]]:
        """The written cells of each row; one that covers several columns or rows says so."""
        rows = [row for row in _parts(table, "tr") if row.find("{*}trPr/{*}del") is None]
        heads = max(1, sum(1 for _ in takewhile(lambda row: row.find("{*}trPr/{*}tblHeader") is not None, rows)))
        written: list[list[tuple[list[int], str]]] = []
        begun: dict[int, list[int]] = {}  # by its column: the columns and rows of the last cell that began there
        for row in rows:
            column = whole(value(row, "trPr", "gridBefore"), 0, most=_MAX_COUNT)
            written.append([([1, 1], "")] * column)
            for cell in _parts(row, "tc"):
                span = whole(value(cell, "tcPr", "gridSpan"), most=_MAX_COUNT)
                merge = cell.find("{*}tcPr/{*}vMerge")
                if merge is not None and attribute(merge, "val") in ("", "continue") and column in begun:
                    begun[column][1] += 1
                else:
                    begun[column] = [span, 1]
                    written[-1].append((begun[column], self.apart(cell)))
                column += span
        tags = ["th" if number < heads else "td" for number in range(len(rows))]
        return [
            [f'<{tag} colspan="{wide}" rowspan="{high}">{text}</{tag}>' for (wide, high), text in row]
            for tag, row in zip(tags, written, strict=True)
        ]


class _Lists:
    """Counts the entries of lists; by the id of a list: what it is counted as, its levels, and where they start."""

    def __init__(self, abstracts: list[Any], lists: list[Any]) -> None:
        abstract = {attribute(element, "abstractNumId"): element for element in abstracts}
        self._lists: dict[str, tuple[str, dict[int, Any], dict[int, int]]] = {}
        for num in lists:
            counted_as = value(num, "abstractNumId")
            roots = [root for root in (abstract.get(counted_as), num) if root is not None]
            # What the list itself says comes last.
            levels = {whole(attribute(level, "ilvl"), 0): level for root in roots for level in within(root, "lvl")}
            overs = ((over, value(over, "startOverride")) for over in within(num, "lvlOverride"))
            starts = {whole(attribute(over, "ilvl"), 0): int(told) for over, told in overs if told.isdecimal()}
            self._lists[attribute(num, "numId")] = counted_as, levels, starts
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)

    def label(self, list_id: str, at: int | str) -> str:
        """The number of the next entry at a depth, or at that of a style."""
        counted_as, levels, starts = self._lists.get(list_id, ("", {}, {}))
        depth = next((depth for depth, level in levels.items() if at in (depth, value(level, "pStyle"))), 0)
        if depth not in levels or value(levels[depth], "numFmt") == "bullet":
            return "- "
        counts = self._counts[counted_as]
        counts[depth] = starts.pop(depth, counts.get(depth, whole(value(levels[depth], "start")) - 1) + 1)
        for deeper in [level for level in counts if level > depth]:
            del counts[deeper]

        def shown_number(match: re.Match[str]) -> str:
            at, level = int(match[1]) - 1, levels.get(int(match[1]) - 1)
            return counted(counts.get(at, whole(value(level, "start"))), _COUNTED.get(value(level, "numFmt"), "1"))

        return re.sub("%([1-9])", shown_number, value(levels[depth], "lvlText")) + " "


def _parts(parent: Any, name: str) -> Iterator[Any]:
    """The rows of a table or the cells of a row, also those in content controls and tracked insertions."""
    for child in parent:
        if local(child) == name:
            yield child
        elif local(child) not in _DROPPED:
            yield from _parts(child, name)


FORMAT = archive_format("a Word file", ".doc", MAX_XML_BYTES, _documents)
