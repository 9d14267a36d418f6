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
from typing import Any, TypeAlias

from iterative_rag.errors import CorpusError
from iterative_rag.sources.formats.format import ALT_WORDS, MAX_CHARS, Format, Reading, plain
from iterative_rag.sources.formats.office_xml import (
    OfficeHtml,
    attribute,
    first,
    labelled,
    local,
    marked,
    number,
    table,
    tree,
    within,
)
from iterative_rag.sources.formats.text import title_of
from iterative_rag.sources.formats.zip_fault import MAX_BYTES, archive_reading

MAX_XML_BYTES = 16 * 1024 * 1024
_KIND = "an OpenDocument text"
_TYPE = "application/vnd.oasis.opendocument.text"
_MANIFEST, _META, _STYLES = "META-INF/manifest.xml", "meta.xml", "styles.xml"
# What repeats the text (tables of contents), was deleted from it, or has none of its own.
_LEFT_OUT = ["alphabetical-index", "bibliography", "forms", "illustration-index", "object-index", "ruby-text"]
_LEFT_OUT += ["table-index", "table-of-content", "tracked-changes", "user-index"]
_DRAWINGS = {"frame", "g", "text-box", "custom-shape", "rect", "ellipse", "object", "object-ole"}
_MAX_COLUMNS = 500
_MAX_REPEATED = 100  # rows
_SPACE = re.compile(r"[ \t\r\n]+")
_Levels: TypeAlias = dict[int, Any]


def read(path: Path) -> Reading:
    return archive_reading(path, _KIND, "", MAX_XML_BYTES, _documents)


def _documents(archive: zipfile.ZipFile, path: Path, source: str) -> Reading:
    with archive.open("mimetype") as file:
        kind = file.read(100).decode("ascii", "replace").strip()
    if kind != _TYPE:
        raise CorpusError(f"It is not {_KIND}: its type is {plain(kind)!r}.")
    parts = archive.namelist()
    if _MANIFEST in parts and b"encryption-data" in archive.read(_MANIFEST):
        raise CorpusError("It is locked with a password.")
    text = _Text(archive)
    named = within(tree(archive, _META), "title") if _META in parts else ()
    title = next((" ".join(plain(element.text or "").split()) for element in named), "")
    yield from text.documents(text.whole(), source, title or title_of(path))


class _Text(OfficeHtml):
    def __init__(self, archive: zipfile.ZipFile) -> None:
        super().__init__()
        self._archive = archive
        self._content = tree(archive, "content.xml")
        parts = [self._content]
        if _STYLES in archive.namelist():
            parts.insert(0, tree(archive, _STYLES))
        named = [(attribute(element, "name"), element) for part in parts for element in part.iter()]
        self._styles = {name: style for name, style in named if local(style) == "style"}
        self._lists: dict[str, _Levels] = {  # how the levels of lists are numbered
            name: {number(level, "level", most=10): level for level in element}
            for name, element in named
            if local(element) == "list-style"
        }
        self._counts: dict[tuple[str, int], int] = {}  # the last number of each list style
        self._headers, self._footers = (
            dict.fromkeys(block for area in within(parts[0], kind) for block in self._inside(area))
            for kind in ("header", "footer")
        )

    def whole(self) -> Iterator[str]:
        """Raises KeyError where it is no text."""
        yield from self._headers
        yield from self._inside(first(first(self._content, "body"), "text"))
        yield from self._footers

    def _inside(self, element: Any) -> Iterator[str]:
        for child in element:
            yield from self._block(child)

    def _block(self, element: Any) -> Iterator[str]:
        match local(element):
            case name if name in _LEFT_OUT:
                return
            case "h" | "p" as name:
                style, tag = attribute(element, "style-name"), "p"
                if name == "h":
                    level = number(element, "outline-level", most=10)
                    tag = f"h{min(level + 1, 6)}"  # <h1> is the title's
                elif "Title" in [style, *(attribute(ancestor, "parent-style-name") for ancestor in self._chain(style))]:
                    tag = "h1"
                yield from self.paragraph(tag, "", self._marked(self._words(element), style))
            case "list":
                yield from self._list(element)
            case "table":
                yield self._table(element)
            case name if name in _DRAWINGS:
                yield from filter(None, [self._piece(element)])
            case _:
                yield from self._inside(element)
        yield from self.waiting()

    def _apart(self, element: Any) -> list[str]:
        return self.apart(self._inside(element))

    # --- words -----------------------------------------------------------------------------------

    def _words(self, element: Any) -> str:
        pieces = (self._piece(child) + _spaced(child.tail) for child in element)
        return _spaced(element.text) + "".join(pieces)

    def _piece(self, element: Any) -> str:
        match local(element):
            case name if name in _LEFT_OUT:
                return ""
            case "s" | "tab":
                return " "
            case "line-break":
                return "<br>"
            case "note":
                sign = f"[{self._words(first(element, 'note-citation')).strip()}]"
                return self.note(sign, self._inside(first(element, "note-body")))
            case "annotation":
                author = next((creator.text or "" for creator in within(element, "creator")), "unknown")
                words = "; ".join(self._words(paragraph) for paragraph in within(element, "p"))
                self.beside += labelled(f"Comment by {author}:", [f"<p>{words}</p>"])
                return ""
            case "object":
                return self._object(f"{attribute(element, 'href').removeprefix('./')}/content.xml")
            case "object-ole":
                self.kinds["embedded objects"] += 1
                return ""
            case "frame" | "g":
                return "".join(map(self._piece, element))
            case name if name in _DRAWINGS:
                self.beside += self._apart(element)
                return ""
            case "desc" if len(told := "".join(element.itertext()).split()) >= ALT_WORDS:
                return f" {escape(' '.join(told))} "
            case "image" | "title" | "desc":
                return ""
        return self._marked(self._words(element), attribute(element, "style-name"))

    def _object(self, part: str) -> str:
        """A formula as a piece of text; a chart stands beside, other objects are counted."""
        root = tree(self._archive, part) if part in self._archive.namelist() else None
        if root is not None and local(root) == "math":
            return escape(" ".join("".join(next(within(root, "annotation"), root).itertext()).split()))
        chart = next(within(root, "chart"), None) if root is not None else None
        self.kinds["embedded objects"] += chart is None
        self.beside += self._apart(chart) if chart is not None else []
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
        for ancestor in self._chain(style) if words.strip() else ():
            for name in ("text-position", "text-line-through-style", "text-line-through-type"):
                told[name] = told.get(name) or next(filter(None, (attribute(part, name) for part in ancestor)), "")
        lines = {told.get("text-line-through-style", ""), told.get("text-line-through-type", "")}
        return marked(words, told.get("text-position", ""), struck=bool(lines - {"", "none"}))

    # --- lists and their numbers -----------------------------------------------------------------

    def _list(self, element: Any, style: str = "", depth: int = 1) -> Iterator[str]:
        style = attribute(element, "style-name") or style
        level, key = self._lists.get(style, {}).get(depth), (style, depth)
        form = attribute(level, "num-format") if level is not None else ""
        goes_on = attribute(element, "continue-numbering") == "true" or attribute(element, "continue-list")
        start = self._counts.get(key, 0) + 1 if goes_on else _start(level)
        entries: list[str] = []
        for item in element:
            start = _start(item) if attribute(item, "start-value") and not entries else start
            blocks: list[str] = []
            for child in item:
                blocks += self._list(child, style, depth + 1) if local(child) == "list" else self._block(child)
            if any(local(child) == "h" for child in item):
                yield from blocks
            else:
                entries.append(f"<li>{''.join(blocks).replace('<p>', '', 1).replace('</p>', '', 1)}</li>")
        self._counts[key] = start + len(entries) - 1
        if entries:
            opening = f'<ol type="{form}" start="{start}">' if form else "<ul>"
            yield f"{opening}{''.join(entries)}</{opening[1:3]}>"

    # --- tables ----------------------------------------------------------------------------------

    def _table(self, element: Any) -> str:
        rows: list[list[str]] = []
        size = 0
        for row, heads in _rows(element):
            tag = "th" if heads or not rows else "td"
            cells: list[str] = []
            for cell in row:
                if local(cell) == "table-cell":
                    spans = [f'{name}="{number(cell, f"number-{kind}-spanned", most=_MAX_COLUMNS)}"'
                             for name, kind in (("colspan", "columns"), ("rowspan", "rows"))]  # fmt: skip
                    written = f"<{tag} {' '.join(spans)}>{''.join(self._apart(cell))}</{tag}>"
                    cells += [written] * _times(cell, "number-columns-repeated", _MAX_COLUMNS, len(written))
            cells = cells[:_MAX_COLUMNS]
            while cells and cells[-1].endswith(f'"></{tag}>'):
                cells.pop()
            length = sum(map(len, cells)) + 1
            rows += [cells] * (_times(row, "number-rows-repeated", _MAX_REPEATED, length) if cells else 1)
            size += length
            if size > MAX_CHARS:
                break
        return table(rows)


def _times(element: Any, name: str, most: int, length: int) -> int:
    """How often an element is repeated; less often where that would fill the memory, in tables within tables, too."""
    return min(number(element, name, most=most), MAX_CHARS // length + 1)


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


def _start(level: Any) -> int:
    return number(level, "start-value", most=1_000_000) if level is not None else 1


FORMAT = Format(read, MAX_BYTES, needs=("lxml", "html_to_markdown", "selectolax"))
