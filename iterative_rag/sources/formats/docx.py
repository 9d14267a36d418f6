"""Word files by mammoth and our reader of HTML. What mammoth does not know is written out before, as plain paragraphs.

That is: the numbers of lists and headings, formulas, charts, text boxes, headers, notes and comments, styles that raise
or strike text, and cells that a row leaves out.
"""

from __future__ import annotations

import gc
import io
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

from iterative_rag.sources.formats import html, office_xml
from iterative_rag.sources.formats.format import Format, Reading
from iterative_rag.sources.formats.office_xml import local, value, within
from iterative_rag.sources.formats.text import title_of
from iterative_rag.sources.formats.zip_fault import MAX_BYTES, archive_reading
from iterative_rag.sources.html_marks import counted
from iterative_rag.sources.metadata import not_read
from iterative_rag.types import Document

MAX_XML_BYTES = 16 * 1024 * 1024
_MAX_SPAN = 64  # columns of one cell
_SLICE = 500  # blocks that mammoth converts at once: it takes twenty times their size in memory
_NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_W = f"{{{_NAMESPACE}}}"
_STYLE_MAP = """
p.H1 => h1:fresh
p.H2 => h2:fresh
p.H3 => h3:fresh
p.H4 => h4:fresh
p.H5 => h5:fresh
p.H6 => h6:fresh
table => table.wikitable:fresh
""" + "\n".join(f"p:unordered-list({at}) => {'ul > li > ' * (at - 1)}ul > li:fresh" for at in range(1, 6))
_BULLETS = "".join(f'<w:lvl w:ilvl="{level}"><w:numFmt w:val="bullet"/></w:lvl>' for level in range(9))
_NUMBERING = (
    f'<w:numbering xmlns:w="{_NAMESPACE}"><w:abstractNum w:abstractNumId="0">{_BULLETS}</w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
)
_HEADING = re.compile(r"heading ?([1-9])", re.IGNORECASE)
_REPEATS = re.compile(r"toc \d|table of figures", re.IGNORECASE)  # styles of what repeats the text
_COUNTED = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}
# What has no text of its own, and what only holds text.
_DROPPED = (
    "sdtPr sdtEndPr proofErr bookmarkStart bookmarkEnd lastRenderedPageBreak tblPr tblGrid rt sectPr permStart permEnd"
)
_UNWRAPPED = "sdt sdtContent fldSimple smartTag hyperlink ruby rubyBase bdo dir customXml ins moveTo"
_CHECKBOX = re.compile(r'<input type="checkbox"( checked="checked")? />')


def read(path: Path) -> Reading:
    return archive_reading(path, "a Word file", ".doc", MAX_XML_BYTES, _documents)


def _documents(path: Path, source: str) -> Reading:
    with zipfile.ZipFile(path) as archive:
        word = _Word(archive)
        text, title = word.html(), office_xml.core_title(archive)
    if re.sub("<[^>]*>", "", text).strip():
        read = html.page(text, source, title or title_of(path))
        metadata = not_read(word.kinds)
        yield replace(read, metadata=(*metadata, *read.metadata)) if isinstance(read, Document) else read


class _Word:
    """The document of a Word file, and what is not read of it."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.kinds: Counter[str] = Counter()
        self._archive = archive
        self._part = office_xml.main_part(archive)
        self._parts = office_xml.relations(archive, self._part)
        self._body = office_xml.tree(archive, self._part).find(f"{_W}body")
        self._styles = {
            one.get(f"{_W}styleId"): one for root in self._related("styles") for one in within(root, "style")
        }
        self._numbers = _Numbers(self._related("numbering"))
        self._bullet_depth = -1  # of the paragraph before

    def html(self) -> str:
        self._write_out()
        gc.disable()  # mammoth makes many small objects, and a third of its time went into looking at them
        try:
            return "".join(self._slices())
        finally:
            gc.enable()

    def _slices(self) -> Iterator[str]:
        import mammoth
        from lxml import etree

        while len(self._body):
            gc.collect()
            document = etree.Element(f"{_W}document", nsmap={"w": _NAMESPACE})
            etree.SubElement(document, f"{_W}body").extend(self._body[:_SLICE])
            etree.cleanup_namespaces(document)
            part = io.BytesIO()
            with zipfile.ZipFile(part, "w") as archive:
                archive.writestr("word/document.xml", etree.tostring(document))
                archive.writestr("word/numbering.xml", _NUMBERING)
            done = mammoth.convert_to_html(
                part, style_map=_STYLE_MAP, include_default_style_map=False, include_embedded_style_map=False
            )
            self.kinds["symbols without text"] += sum("w:sym" in one.message for one in done.messages)
            yield _CHECKBOX.sub(lambda box: "☒" if box[1] else "☐", done.value)

    def _related(self, *kinds: str) -> list[Any]:
        return office_xml.related(self._archive, self._part, *kinds)

    def _write_out(self) -> None:
        """Make of the body what mammoth reads whole."""
        from lxml import etree

        body = self._body
        heads, feet = self._related("header"), self._related("footer")
        blocks = {" ".join(one.itertext()).strip(): one for root in (*heads, *feet) for one in root}
        blocks.pop("", None)
        body[0:0] = [one for one in blocks.values() if any(one.getparent() is root for root in heads)]
        body.extend(one for one in blocks.values() if any(one.getparent() is root for root in feet))
        for one in [*within(body, "del", "moveFrom")]:
            if local(one.getparent()) not in ("rPr", "trPr"):
                one.getparent().remove(one)
        office_xml.choose_alternatives(body)
        self._write_notes()
        self.kinds["embedded documents"] += sum(1 for _ in within(body, "altChunk"))
        etree.strip_elements(body, *(f"{_W}{name}" for name in _DROPPED.split()), with_tail=False)
        etree.strip_tags(body, *(f"{_W}{name}" for name in _UNWRAPPED.split()))
        for one in within(body, "br", "cr", "ptab"):
            one.attrib.clear()  # a page break is one of lines, too
            one.tag = f"{_W}{'tab' if local(one) == 'ptab' else 'br'}"
        for one in [*within(body, "oMathPara"), *within(body, "oMath")]:
            if one.getparent() is not None:
                office_xml.replace(one, _run(office_xml.formula(one)))
        for one in reversed([*within(body, "drawing", "pict", "object")]):
            self._write_drawing(one)
        for table in within(body, "tbl"):
            _fill_table(table)
        for one in [*within(body, "p")]:
            self._simplify(one)
        # Where no paragraph is the title, a heading near the begin is.
        heads = [one for block in body[:5] for one in within(block, "pStyle") if value(one) == "H2"]
        if heads and not any(value(one) == "H1" for one in within(body, "pStyle")):
            heads[0].set(f"{_W}val", "H1")

    def _write_notes(self) -> None:
        """Notes stand at the end under their numbers, comments behind the block that they are about."""
        notes = {
            (local(one), one.get(f"{_W}id")): one
            for root in self._related("footnotes", "endnotes", "comments")
            for one in within(root, "footnote", "endnote", "comment")
        }
        number = 0
        for one in [*within(self._body, "footnoteReference", "endnoteReference")]:
            if (note := notes.get((local(one).removesuffix("Reference"), one.get(f"{_W}id")))) is not None:
                number += 1
                office_xml.replace(one, _element("t", text=f"[{number}]"))
                self._body.extend(_labelled(note, f"[{number}] "))
        for one in reversed([*within(self._body, "commentReference")]):
            if (note := notes.get(("comment", one.get(f"{_W}id")))) is not None:
                block = next(above for above in one.iterancestors() if above.getparent() is self._body)
                place = self._body.index(block) + 1
                self._body[place:place] = _labelled(note, f"Comment by {note.get(f'{_W}author') or 'unknown'}: ")

    def _write_drawing(self, drawing: Any) -> None:
        """Put the texts of boxes, charts and diagrams behind the paragraph that they are anchored in."""
        blocks = [block for box in within(drawing, "txbxContent") for block in box]
        blocks += [_paragraph(one.get("string", "")) for one in within(drawing, "textpath")]
        blocks += map(_paragraph, office_xml.descriptions(drawing))
        for one in within(drawing, "chart", "relIds"):
            _, part = self._parts.get(office_xml.relation_id(one), ("", ""))  # none in headers and notes
            root = office_xml.tree(self._archive, part) if part else one
            if local(one) == "relIds":
                blocks += map(_paragraph, office_xml.diagram(root))
                continue
            rows = office_xml.chart(root)
            self.kinds["charts without text"] += len(rows) == 1
            cells = [[_element("tc", _paragraph(cell)) for cell in row] for row in rows]
            blocks.append(_element("tbl", *(_element("tr", *row) for row in cells)))
        for one in within(drawing, "OLEObject"):
            known = one.get("ProgID", "").startswith("Equation")
            self.kinds["equations without text" if known else "embedded objects"] += 1
        paragraph = next(drawing.iterancestors(f"{_W}p"), None)
        if paragraph is not None:
            place = paragraph.getparent().index(paragraph) + 1
            paragraph.getparent()[place:place] = blocks
        drawing.getparent().remove(drawing)

    # --- paragraphs ----------------------------------------------------------------------------

    def _simplify(self, paragraph: Any) -> None:
        """Leave of a paragraph its text with its kind: heading, entry of a list, raised or struck."""
        style = value(paragraph, "pPr", "pStyle")
        name = value(self._styles.get(style), "name") or style
        if _REPEATS.match(name):
            paragraph.getparent().remove(paragraph)
            return
        kind = ""
        if name.lower() == "title":
            kind = "H1"
        elif found := _HEADING.match(name):
            kind = f"H{min(int(found[1]) + 1, 6)}"  # the first level is the title's
        elif (level := self._inherited(paragraph, style, "pPr", "outlineLvl")).isdecimal() and int(level) < 9:
            kind = f"H{min(int(level) + 2, 6)}"
        label, depth = self._label(paragraph, style)
        deleted = paragraph.find(f"{_W}pPr/{_W}rPr/{_W}del")
        if (old := paragraph.find(f"{_W}pPr")) is not None:
            paragraph.remove(old)
        self._simplify_runs(paragraph, style)
        if label:
            paragraph.insert(0, _run(f"{label} "))
        kept = [_element("pStyle", val=kind)] if kind else []
        if label is None:
            self._bullet_depth = depth = min(depth, self._bullet_depth + 1, 4)
            kept.append(_element("numPr", _element("ilvl", val=str(depth)), _element("numId", val="1")))
        else:
            self._bullet_depth = -1
        if deleted is not None:
            kept.append(_element("rPr", deleted))
        paragraph.insert(0, _element("pPr", *kept))

    def _simplify_runs(self, paragraph: Any, style: str) -> None:
        last, before = None, None
        for run in [*within(paragraph, "r")]:
            named = value(run, "rPr", "rStyle")
            raised = self._inherited(run, named, "rPr", "vertAlign") or self._inherited(None, style, "rPr", "vertAlign")
            struck = "1" in [self._inherited(run, named, "rPr", kind) for kind in ("strike", "dstrike")]
            if (old := run.find(f"{_W}rPr")) is not None:
                run.remove(old)
            if last is not None and run.getprevious() is last and (raised, struck) == before:
                last.extend(run)
                run.getparent().remove(run)
                continue
            kept = [_element("vertAlign", val=raised)] * bool(raised) + [_element("strike")] * struck
            if kept:
                run.insert(0, _element("rPr", *kept))
            last, before = run, (raised, struck)

    def _inherited(self, element: Any, style: str, *path: str) -> str:
        """A property of an element itself, else of its style or of one that this is based on."""
        told = value(element, *path)
        for _ in range(20):
            if told or style not in self._styles:
                break
            told, style = value(self._styles[style], *path), value(self._styles[style], "basedOn")
        return told

    def _label(self, paragraph: Any, style: str) -> tuple[str | None, int]:
        """The number of a paragraph as Word shows it, "" for none, None for a bullet; and the depth in its list."""
        list_id = self._inherited(paragraph, style, "pPr", "numPr", "numId")
        level = self._inherited(paragraph, style, "pPr", "numPr", "ilvl")
        depth = int(level) if level.isdecimal() else self._numbers.level_of(list_id, style)
        return (self._numbers.next(list_id, depth) if list_id not in ("", "0") else ""), depth


class _Numbers:
    """Counts the paragraphs of lists."""

    def __init__(self, roots: list[Any]) -> None:
        abstract = {one.get(f"{_W}abstractNumId"): one for root in roots for one in within(root, "abstractNum")}
        linked = {value(one, "styleLink"): one for one in abstract.values()}
        self._lists: dict[str, tuple[str, dict[int, Any], dict[int, str]]] = {}  # counted as, levels, where they start
        for one in (one for root in roots for one in within(root, "num")):
            counted_as = value(one, "abstractNumId")
            general = abstract.get(counted_as)
            if general is not None and (link := value(general, "numStyleLink")):
                general = linked.get(link)
            levels = {
                int(level.get(f"{_W}ilvl", "0")): level
                for root in (general, one)  # what the list itself says comes last
                for level in (within(root, "lvl") if root is not None else ())
            }
            starts = {
                int(over.get(f"{_W}ilvl", "0")): value(over, "startOverride") for over in within(one, "lvlOverride")
            }
            self._lists[one.get(f"{_W}numId")] = counted_as, levels, starts
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)

    def level_of(self, list_id: str, style: str) -> int:
        _, levels, _ = self._lists.get(list_id, ("", {}, {}))
        return next((depth for depth, level in levels.items() if value(level, "pStyle") == style), 0)

    def next(self, list_id: str, depth: int) -> str | None:
        counted_as, levels, starts = self._lists.get(list_id, ("", {}, {}))
        if depth not in levels or value(levels[depth], "numFmt") == "bullet":
            return None
        counts = self._counts[counted_as]
        start = starts.pop(depth, "")  # once, where the list begins
        if start.isdecimal():
            counts[depth] = int(start) - 1
        counts[depth] = counts.get(depth, self._start(levels, depth) - 1) + 1
        for deeper in [one for one in counts if one > depth]:
            del counts[deeper]

        def shown_number(place: re.Match[str]) -> str:
            at = int(place[1]) - 1
            kind = value(levels.get(at), "numFmt") if not value(levels[depth], "isLgl") else ""
            number = counts.get(at, self._start(levels, at))
            return f"{number:02}" if kind == "decimalZero" else counted(number, _COUNTED.get(kind, "1"))

        return re.sub("%([1-9])", shown_number, value(levels[depth], "lvlText"))

    @staticmethod
    def _start(levels: dict[int, Any], depth: int) -> int:
        told = value(levels.get(depth), "start")
        return int(told) if told.isdecimal() else 1


# --- elements ------------------------------------------------------------------------------------


def _element(name: str, *children: Any, text: str = "", **attributes: str) -> Any:
    from lxml import etree

    made = etree.Element(f"{_W}{name}", {f"{_W}{key}": held for key, held in attributes.items()})
    made.text = text or None
    made.extend(children)
    return made


def _run(text: str) -> Any:
    return _element("r", _element("t", text=text))


def _paragraph(text: str) -> Any:
    return _element("p", _run(text))


def _labelled(note: Any, label: str) -> list[Any]:
    """The blocks of a note, a label before the text of the first."""
    blocks = [deepcopy(block) for block in note]
    first = next((one for block in blocks for one in within(block, "p")), None)
    if first is not None:
        first.insert(1 if first.find(f"{_W}pPr") is not None else 0, _run(label))
    return blocks


def _fill_table(table: Any) -> None:
    """Make the first row the header where none is, and give each row the cells that it leaves out at its begin."""
    rows = table.findall(f"{_W}tr")
    for row in rows:
        left_out = value(row, "trPr", "gridBefore")
        place = 1 if row.find(f"{_W}trPr") is not None else 0
        count = min(int(left_out), _MAX_SPAN) if left_out.isdecimal() else 0
        row[place:place] = [_element("tc", _paragraph("")) for _ in range(count)]
    for cell in within(table, "gridSpan"):
        span = cell.get(f"{_W}val", "1")
        cell.set(f"{_W}val", str(min(int(span[:4]), _MAX_SPAN)) if span.isdecimal() else "1")
    if rows and table.find(f"{_W}tr/{_W}trPr/{_W}tblHeader") is None:
        if rows[0].find(f"{_W}trPr") is None:
            rows[0].insert(0, _element("trPr"))
        rows[0].find(f"{_W}trPr").append(_element("tblHeader"))


FORMAT = Format(read, MAX_BYTES, needs=("mammoth", "lxml", "html_to_markdown", "selectolax"))
