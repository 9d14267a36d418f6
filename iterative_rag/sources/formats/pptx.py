"""PowerPoint files: a section for each slide, with its texts, tables, charts and notes."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats import office_xml
from iterative_rag.sources.formats.cells import table_of
from iterative_rag.sources.formats.format import MAX_CHARS, Reading, archive_format, plain, title_of
from iterative_rag.sources.formats.office_xml import local, within
from iterative_rag.sources.html_marks import counted, lowered, raised
from iterative_rag.sources.metadata import not_read
from iterative_rag.types import Document

MAX_XML_BYTES = 32 * 1024 * 1024
_DEFAULT_TITLE = "PowerPoint Presentation"  # what programs give for files without a title
_SHAPES = ("sp", "graphicFrame", "pic", "cxnSp")
_TEXT = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_FORMULA = "{http://schemas.openxmlformats.org/officeDocument/2006/math}oMath"
_NUMBERED = re.compile(r"(alpha|roman|arabic)(Lc|Uc|)(Period|ParenR|ParenBoth|Plain)")
_SIGNS = {"alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}


def _documents(archive: zipfile.ZipFile, path: Path, source: str) -> Reading:
    main = office_xml.main_part(archive)
    parts = office_xml.relations(archive, main)
    text, begins, empty = "", list[int](), True
    kinds: Counter[str] = Counter()
    for number, entry in enumerate(within(office_xml.tree(archive, main), "sldId"), 1):
        heading, blocks = _slide(archive, parts[office_xml.relation_id(entry)][1], kinds)
        empty = empty and not (heading or blocks)
        begins.append(len(text))
        text += "\n\n".join([f"## {heading or f'Slide {number}'}", *blocks]) + "\n\n"
        if len(text) > MAX_CHARS:
            break
    if not empty:
        title, text = office_xml.core_title(archive), text.rstrip() + "\n"
        title = title if title and title != _DEFAULT_TITLE else title_of(path)
        yield Document("", title, text, source, pages=tuple(begins), metadata=tuple(not_read(kinds)))
        if len(text) > MAX_CHARS:
            yield Skipped(source, f"It is too long: only its first {len(text):,} characters are read.")


def _slide(archive: zipfile.ZipFile, part: str, kinds: Counter[str]) -> tuple[str, list[str]]:
    """The heading of a slide, and its other texts; counts what is not read of it."""
    root, part_of = office_xml.tree(archive, part), office_xml.opener(archive, part)
    office_xml.choose_alternatives(root)
    shapes = [shape for shape in within(root, *_SHAPES) if local(shape.getparent()) in ("spTree", "grpSp")]
    places = [(shape, next(within(shape, "ph"), None)) for shape in shapes]
    title = next((shape for shape, place in places if place is not None and place.get("idx", "0") == "0"), None)
    heading = " ".join(_lines(title)) if title is not None else ""
    blocks: list[str] = []
    for shape, place in places:
        if shape is not title and (place is None or place.get("type") not in ("sldNum", "dt")):
            blocks.append("\n".join(_block(shape, heading, part_of, kinds)))
    for notes in office_xml.related(archive, part, "notesSlide"):
        body = next((place for place in within(notes, "ph") if place.get("type") == "body"), None)
        told = "\n".join(_lines(next(body.iterancestors("{*}sp")))) if body is not None else ""
        blocks += [f"Notes: {told}"] if told else []
    for comments in office_xml.related(archive, part, "comments"):
        for comment in within(comments, "cm"):
            words = " ".join(text.text or "" for text in within(comment, "t", "text"))
            blocks.append(f"Comment: {' '.join(plain(words).split())}")
    return heading, list(filter(None, blocks))


def _block(shape: Any, heading: str, part_of: Callable[[str], Any], kinds: Counter[str]) -> Iterator[str]:
    if rows := _rows(shape):
        yield table_of(rows)
    else:
        yield from _lines(shape, as_list=True)
    for (title, *names), *rows in office_xml.drawn(shape, part_of, kinds):
        title = ": ".join(filter(None, [heading, title])) if rows else title
        yield from [table_of([[title, *names], *rows])] if rows else filter(None, [title])


def _lines(element: Any, *, as_list: bool = False) -> list[str]:
    """The paragraphs of a shape that are not empty, one a line, with their numbers; several `as_list`."""
    lines: list[tuple[int, str, str]] = []
    counts: dict[int, int] = {}
    for paragraph in element.iter(f"{_TEXT}p"):
        text = _text(paragraph)
        if not text:
            continue
        level = int(next((properties.get("lvl", "0") for properties in within(paragraph, "pPr")), "0")[:1])
        numbering = next(paragraph.iter(f"{_TEXT}buAutoNum"), None)
        counts = {depth: count for depth, count in counts.items() if depth < level + (numbering is not None)}
        label = ""
        if numbering is not None and (kind := _NUMBERED.match(numbering.get("type", ""))):
            start = office_xml.whole(numbering.get("startAt", "1"))
            counts[level] = counts[level] + 1 if level in counts else start
            label = counted(counts[level], _SIGNS.get(kind[1] + kind[2], "1"))
            label = {"Period": f"{label}.", "ParenR": f"{label})", "ParenBoth": f"({label})"}.get(kind[3], label)
        lines.append((level, label, text))
    if as_list and len(lines) > 1:
        return [f"{'  ' * level}{label or '-'} {text}" for level, label, text in lines]
    return [f"{label} {text}".strip() for _, label, text in lines]


def _text(paragraph: Any) -> str:
    """The text of a paragraph on one line, with its fields and formulas, what is raised apart."""
    pieces: list[tuple[str, Any]] = []
    for run in paragraph.iter(f"{_TEXT}r", f"{_TEXT}br", f"{_TEXT}fld", _FORMULA):
        content = run.find(f"{_TEXT}t")
        words = office_xml.formula(run) if run.tag == _FORMULA else (content.text or "") if content is not None else " "
        pieces.append((words, run.find(f"{_TEXT}rPr")))
    text = ""
    for at, (words, properties) in enumerate(pieces):
        after = pieces[at + 1][0] if at + 1 < len(pieces) else ""
        shift = properties.get("baseline", "0") if properties is not None else "0"
        if shift.strip("0%"):
            words = lowered(words, text) if shift.startswith("-") else raised(words, text, after)
        struck = properties is not None and properties.get("strike", "noStrike") != "noStrike"
        text += f"~~{words}~~" if struck and words.strip() else words
    return " ".join(plain(text).replace("~~~~", "").split())


def _rows(element: Any) -> list[list[str]]:
    rows: list[list[str]] = []
    for row in element.iter(f"{_TEXT}tr"):
        cells: list[str] = []
        for cell in row.iter(f"{_TEXT}tc"):
            if cell.get("vMerge") in ("1", "true") and rows and len(cells) < len(rows[-1]):
                cells.append(rows[-1][len(cells)])
            elif cell.get("hMerge") in ("1", "true") and cells:
                cells.append(cells[-1])
            else:
                cells.append("; ".join(_lines(cell)))
        rows.append(cells)
    return rows


FORMAT = archive_format("a PowerPoint file", ".ppt", MAX_XML_BYTES, _documents, needs=("lxml",))
