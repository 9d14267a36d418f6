"""PowerPoint files by python-pptx: a section for each slide, with its texts, tables, charts and notes."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats import office_xml
from iterative_rag.sources.formats.format import MAX_CHARS, Reading, plain
from iterative_rag.sources.formats.office_xml import within
from iterative_rag.sources.formats.table_part import table_line, table_text
from iterative_rag.sources.formats.text import title_of
from iterative_rag.sources.formats.zip_fault import archive_format
from iterative_rag.sources.html_marks import counted, lowered, raised
from iterative_rag.sources.metadata import not_read
from iterative_rag.types import Document

MAX_XML_BYTES = 32 * 1024 * 1024
_DEFAULT_TITLE = "PowerPoint Presentation"  # what programs give for files without a title
_MAX_DEPTH = 20  # of groups within groups
_TEXT = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_FORMULA = "{http://schemas.openxmlformats.org/officeDocument/2006/math}oMath"
_NUMBERED = re.compile(r"(alpha|roman|arabic)(Lc|Uc|)(Period|ParenR|ParenBoth|Plain)")
_SIGNS = {"alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}


def _documents(archive: zipfile.ZipFile, path: Path, source: str) -> Reading:
    from pptx import Presentation

    presentation = Presentation(str(path))
    title = office_xml.core_title(archive)
    deck = _Deck(archive)
    deck.read(presentation.slides)
    if deck.filled:
        title = title if title and title != _DEFAULT_TITLE else title_of(path)
        text, metadata = deck.text.rstrip() + "\n", tuple(not_read(deck.kinds))
        yield Document("", title, text, source, pages=tuple(deck.begins), metadata=metadata)
        if len(text) > MAX_CHARS:
            yield Skipped(source, f"It is too long: only its first {len(text):,} characters are read.")


class _Deck:
    """The text of all slides, where each begins, and what is not read of them."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.text = ""
        self.begins: list[int] = []
        self.kinds: Counter[str] = Counter()
        self.filled = False
        self._heading = ""  # of this slide

    def read(self, slides: Any) -> None:
        for number, slide in enumerate(slides, 1):
            office_xml.choose_alternatives(slide.element)  # python-pptx passes over them
            title = slide.shapes.title
            heading = self._heading = " ".join(_lines(title._element)) if title is not None else ""
            part = str(slide.part.partname).lstrip("/")
            self._part_of = office_xml.opener(self._archive, part)
            rest = [shape for shape in slide.shapes if title is None or shape.shape_id != title.shape_id]
            blocks = [*self._blocks(rest, 0), *_notes(slide), *_comments(self._archive, part)]
            self.filled = self.filled or bool(heading or blocks)
            self.begins.append(len(self.text))
            self.text += "\n\n".join([f"## {heading or f'Slide {number}'}", *blocks]) + "\n\n"
            if len(self.text) > MAX_CHARS:
                break

    def _blocks(self, shapes: Iterable[Any], depth: int) -> Iterator[str]:
        for shape in shapes:
            if getattr(shape, "shapes", None) is not None and depth < _MAX_DEPTH:
                yield from self._blocks(shape.shapes, depth + 1)
                continue
            kind = next((placeholder.get("type", "") for placeholder in within(shape._element, "ph")), "")
            if kind not in ("sldNum", "dt") and (block := "\n".join(self._block(shape))):
                yield block

    def _block(self, shape: Any) -> Iterator[str]:
        element = shape._element
        if getattr(shape, "has_table", False):
            yield from _table(*_rows(element))
        elif getattr(shape, "has_text_frame", False):
            yield from _lines(element, as_list=True)
        for (title, *names), *rows in office_xml.drawn(element, self._part_of, self.kinds):
            title = ": ".join(filter(None, [self._heading, title])) if rows else title
            yield from _table([title, *names], *rows) if rows else filter(None, [title])


def _notes(slide: Any) -> list[str]:
    frame = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    notes = "\n".join(_lines(frame._element)) if frame is not None else ""
    return [f"Notes: {notes}"] if notes else []


def _comments(archive: zipfile.ZipFile, part: str) -> Iterator[str]:
    for root in office_xml.related(archive, part, "comments"):
        for comment in within(root, "cm"):
            words = " ".join(text.text or "" for text in within(comment, "t", "text"))
            yield f"Comment: {' '.join(plain(words).split())}"


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


def _table(*rows: list[str]) -> list[str]:
    return [table_text(rows[0], map(table_line, rows[1:]))] if rows else []


FORMAT = archive_format("a PowerPoint file", ".ppt", MAX_XML_BYTES, _documents, needs=("pptx", "lxml"))
