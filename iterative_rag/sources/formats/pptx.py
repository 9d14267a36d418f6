"""PowerPoint files by python-pptx: a section for each slide, with its texts, tables and notes; a slide is a page."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iterative_rag.protocols import Skipped
from iterative_rag.sources import markdown_table
from iterative_rag.sources.formats.format import MAX_CHARS, Format, Reading, plain, shown
from iterative_rag.sources.formats.text import title_of
from iterative_rag.sources.formats.zip_fault import MAX_BYTES, zip_fault
from iterative_rag.types import Document

if TYPE_CHECKING:
    from pptx.slide import Slide

MAX_XML_BYTES = 32 * 1024 * 1024
_DEFAULT_TITLE = "PowerPoint Presentation"  # what programs give for files without a title
_MAX_DEPTH = 20  # of groups within groups
_KIND = "a PowerPoint file"


def read(path: Path) -> Reading:
    source = shown(path)
    if fault := zip_fault(path, _KIND, ".ppt", MAX_XML_BYTES):
        yield Skipped(source, fault)
        return
    try:
        from pptx import Presentation

        shown_slides = Presentation(str(path))
        title = " ".join(plain(shown_slides.core_properties.title or "").split())[:300]
        text, pages = _text(shown_slides.slides)
    except (KeyError, ValueError, AttributeError, SyntaxError, TypeError, zipfile.BadZipFile) as error:
        # What python-pptx and lxml raise for parts that are missing or malformed.
        yield Skipped(source, f"It is not {_KIND}, or damaged ({type(error).__name__}).")
        return
    if not text.strip():
        yield Skipped(source, "It holds no text.")
        return
    title = title if title and title != _DEFAULT_TITLE else title_of(path)
    yield Document("", title, text, source, pages=pages)
    if len(text) > MAX_CHARS:
        yield Skipped(source, f"It is too long: only its first {len(text):,} characters are read.")


def _text(slides: Any) -> tuple[str, tuple[int, ...]]:
    """The text of all slides, and where each begins."""
    text, begins, filled = "", [], False
    for number, slide in enumerate(slides, 1):
        begins.append(len(text))
        heading, blocks = _heading(slide), list(_blocks(slide))
        filled = filled or bool(heading or blocks)
        text += "\n\n".join([f"## {heading or f'Slide {number}'}", *blocks]) + "\n\n"
        if len(text) > MAX_CHARS:
            break
    return (text.rstrip() + "\n", tuple(begins)) if filled else ("", ())


def _heading(slide: Slide) -> str:
    title = slide.shapes.title
    return " ".join(plain(title.text_frame.text).split()) if title is not None else ""


def _blocks(slide: Slide) -> Iterator[str]:
    title = slide.shapes.title
    for shape in slide.shapes:
        if title is None or shape.shape_id != title.shape_id:
            yield from _of_shape(shape, 0)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = plain(slide.notes_slide.notes_text_frame.text).strip()
        if notes:
            yield f"Notes: {notes}"


def _of_shape(shape: Any, depth: int) -> Iterator[str]:
    if getattr(shape, "shapes", None) is not None and depth < _MAX_DEPTH:
        for inner in shape.shapes:
            yield from _of_shape(inner, depth + 1)
    elif getattr(shape, "has_table", False):
        rows = [[plain(cell.text) for cell in row.cells] for row in shape.table.rows]
        if rows:
            head, *rest = map(markdown_table.line, rows)
            yield "\n".join([head, markdown_table.rule(len(rows[0])), *rest])
    elif getattr(shape, "has_text_frame", False):
        lines = [" ".join(plain(one.text).split()) for one in shape.text_frame.paragraphs]
        filled = list(filter(None, lines))
        if len(filled) > 1:
            yield "\n".join(f"- {line}" for line in filled)
        elif filled:
            yield filled[0]


FORMAT = Format(read, MAX_BYTES, needs=("pptx",))
