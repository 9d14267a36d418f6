"""OpenDocument texts (.odt): written as HTML, with their numbers, notes and boxes, for our reader of HTML.

Maintained libraries (odfdo) convert to Markdown as well, but mark and escape words, so that quotes are no longer
verbatim, leave merged cells empty, and repeat cells until the memory is full.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from iterative_rag.errors import CorpusError
from iterative_rag.sources.formats import office_xml
from iterative_rag.sources.formats.format import ALT_WORDS, MAX_CHARS, Reading, archive_format, plain, title_of
from iterative_rag.sources.formats.office_xml import OfficeText, attribute, first, local, tree, within

MAX_XML_BYTES = 16 * 1024 * 1024
_KIND = "an OpenDocument text"
_TYPE = "application/vnd.oasis.opendocument.text"
_MANIFEST = "META-INF/manifest.xml"
# What repeats the text (tables of contents), was deleted from it, or has none of its own.
_LEFT_OUT = (
    "alphabetical-index bibliography forms illustration-index object-index ruby-text table-index table-of-content"
)
_LEFT_OUT_NAMES = frozenset([*_LEFT_OUT.split(), "tracked-changes", "user-index", "image", "title", ""])
_DRAWINGS = {"text-box", "custom-shape", "rect", "ellipse"}
_SIGNS = {"s": " ", "tab": " ", "line-break": "<br>"}
_MAX_COLUMNS = 500
_MAX_REPEATED = 100  # rows
_SPACE = re.compile(r"[ \t\r\n]+")


def _documents(archive: zipfile.ZipFile, path: Path, source: str) -> Reading:
    with archive.open("mimetype") as file:
        kind = file.read(100).decode("ascii", "replace").strip()
    if kind != _TYPE:
        raise CorpusError(f"It is not {_KIND}: its type is {plain(kind)!r}.")
    if _MANIFEST in archive.namelist() and b"encryption-data" in archive.read(_MANIFEST):
        raise CorpusError("It is locked with a password.")
    content, *others = (
        tree(archive, part) for part in ("content.xml", "styles.xml", "meta.xml") if part in archive.NameToInfo
    )
    text = _Text(archive, [*others, content])
    yield from text.documents(text.whole(), source, office_xml.title_in(others) or title_of(path))


class _Text(OfficeText):
    def __init__(self, archive: zipfile.ZipFile, parts: list[Any]) -> None:
        super().__init__()
        self._archive = archive
        self._parts = parts
        named = [(attribute(element, "name"), element) for part in parts for element in part.iter()]
        self._styles = {name: style for name, style in named if local(style) == "style"}
        self._lists = {name: style for name, style in named if local(style) == "list-style"}
        self._counts: dict[tuple[str, int], int] = {}  # the last number of each list style

    def whole(self) -> str:
        """Raises KeyError where it is no text."""
        body = self.inside(first(first(self._parts[-1], "body"), "text"))
        areas = ([area for part in self._parts for area in within(part, kind)] for kind in ("header", "footer"))
        heads, feet = (dict.fromkeys(self.html(block) for area in kind for block in area) for kind in areas)
        return "".join([*heads, body, *feet])

    def inside(self, element: Any) -> str:
        return _spaced(element.text) + "".join(self.html(child) + _spaced(child.tail) for child in element)

    def html(self, element: Any) -> str:
        style = attribute(element, "style-name")
        match local(element):
            case name if name in _LEFT_OUT_NAMES:
                return ""
            case name if name in _SIGNS:
                return _SIGNS[name]
            case "h":  # <h1> is the title's
                level = _count(element, "outline-level", 5)
                return self.paragraph(f"h{level + 1}", self._marked(self.inside(element), style))
            case "p":
                is_title = "Title" in [style, *(attribute(above, "parent-style-name") for above in self._chain(style))]
                return self.paragraph("h1" if is_title else "p", self._marked(self.inside(element), style))
            case "list":
                return self._list(element)
            case "table":
                return self._table(element)
            case "note":
                sign = f"[{self.inside(first(element, 'note-citation')).strip()}]"
                return self.note(sign, first(element, "note-body"))
            case "annotation":
                author = next((creator.text or "" for creator in within(element, "creator")), "unknown")
                words = "; ".join(self.inside(paragraph) for paragraph in within(element, "p"))
                self.beside.append(office_xml.labelled(f"Comment by {author}:", f"<p>{words}</p>"))
                return ""
            case "object":
                return self._object(f"{attribute(element, 'href').removeprefix('./')}/content.xml")
            case "frame" | "g":
                return "".join(map(self.html, element))
            case name if name in _DRAWINGS:
                self.beside.append(self.apart(element))
                return ""
            case "desc":
                told = "".join(element.itertext()).split()
                return f" {escape(' '.join(told))} " if len(told) >= ALT_WORDS else ""
        return self._marked(self.inside(element), style)

    def _object(self, part: str) -> str:
        """A formula as a piece of text; a chart stands beside, other objects are counted."""
        root = tree(self._archive, part) if part in self._archive.namelist() else None
        if root is not None and local(root) == "math":
            return escape(" ".join("".join(next(within(root, "annotation"), root).itertext()).split()))
        chart = next(within(root, "chart"), None) if root is not None else None
        self.kinds["embedded objects"] += chart is None
        self.beside += [self.apart(chart)] if chart is not None else []
        return ""

    def _chain(self, style: str) -> Iterator[Any]:
        for _ in range(20):
            if style not in self._styles:
                return
            yield self._styles[style]
            style = attribute(self._styles[style], "parent-style-name")

    def _marked(self, words: str, style: str) -> str:
        """Words with what their style says: raised, lowered, struck."""
        told: dict[str, str] = {}
        for part in (part for above in self._chain(style) if words.strip() for part in above):
            for name in ("text-position", "text-line-through-style"):
                told[name] = told.get(name) or attribute(part, name)
        struck = told.get("text-line-through-style", "") not in ("", "none")
        return office_xml.marked(words, told.get("text-position", ""), struck=struck)

    def _list(self, element: Any, style: str = "", depth: int = 1) -> str:
        style = attribute(element, "style-name") or style
        levels = self._lists.get(style, ())
        level = next((level for level in levels if _count(level, "level", 10) == depth), element)
        form = attribute(level, "num-format")
        goes_on = attribute(element, "continue-numbering") == "true" or attribute(element, "continue-list")
        start = _count(level, "start-value", 1_000_000)
        start = self._counts.get((style, depth), 0) + 1 if goes_on else start
        headings, entries, count = "", "", 0
        for item in element:
            parts = (self._list(part, style, depth + 1) if local(part) == "list" else self.html(part) for part in item)
            blocks = "".join(parts)
            if any(local(child) == "h" for child in item):
                headings += blocks
            else:
                count += 1
                entries += f"<li>{blocks.replace('<p>', '', 1).replace('</p>', '', 1)}</li>"
        self._counts[style, depth] = start + count - 1
        opening = f'<ol type="{form}" start="{start}">' if form else "<ul>"
        return headings + (f"{opening}{entries}</{opening[1:3]}>" if entries else "")

    def _table(self, element: Any) -> str:
        rows: list[list[str]] = []
        size = 0
        for row, heads in _rows(element):
            tag = "th" if heads or not rows else "td"
            cells: list[str] = []
            for cell in row.iterchildren("{*}table-cell"):
                spans = (f'{name}="{_count(cell, f"number-{kind}-spanned", _MAX_COLUMNS)}"'
                         for name, kind in (("colspan", "columns"), ("rowspan", "rows")))  # fmt: skip
                written = f"<{tag} {' '.join(spans)}>{self.apart(cell)}</{tag}>"
                cells += [written] * _times(cell, "number-columns-repeated", _MAX_COLUMNS, len(written))
            cells = cells[:_MAX_COLUMNS]
            while cells and cells[-1].endswith(f'"></{tag}>'):
                cells.pop()
            length = sum(map(len, cells)) + 1
            rows += [cells] * (_times(row, "number-rows-repeated", _MAX_REPEATED, length) if cells else 1)
            size += length
            if size > MAX_CHARS:
                break
        return office_xml.table(rows)


def _times(element: Any, name: str, most: int, length: int) -> int:
    """How often an element is repeated; less often where that would fill the memory, in tables within tables, too."""
    return min(_count(element, name, most), MAX_CHARS // length + 1)


def _count(element: Any, name: str, most: int) -> int:
    return max(1, office_xml.whole(attribute(element, name), most=most))


def _spaced(text: str | None) -> str:
    return escape(_SPACE.sub(" ", plain(text or "")))


def _rows(table: Any, heads: bool = False) -> Iterator[tuple[Any, bool]]:
    """The rows of a table, also those in groups, and whether they are headers; not those of tables within cells."""
    for child in table:
        match local(child):
            case "table-row":
                yield child, heads
            case name if name.startswith("table-") and "row" in name:
                yield from _rows(child, name == "table-header-rows")


FORMAT = archive_format(_KIND, "", MAX_XML_BYTES, _documents)
