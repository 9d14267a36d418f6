"""The body of an OpenDocument text as blocks of Markdown: headings, paragraphs, lists, tables, notes.

Maintained libraries (odfdo) convert to Markdown as well, but mark and escape words, so that quotes are no longer
verbatim, leave merged cells empty, and repeat cells until the memory is full.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element

from iterative_rag.sources import markdown_table
from iterative_rag.sources.formats.format import MAX_CHARS, plain
from iterative_rag.sources.formats.xml_names import attribute, first, local_name, number

_DRAWING = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
# What repeats the text (tables of contents), was deleted from it, or is a remark about it.
_LEFT_OUT = {
    "alphabetical-index",
    "annotation",
    "forms",
    "illustration-index",
    "object-index",
    "ruby-text",
    "table-index",
    "table-of-content",
    "tracked-changes",
    "user-index",
}
_MAX_SPACES = 100  # in one element that stands for many
_MAX_COLUMNS = 500
_MAX_REPEATED = 100  # rows
_SPACE = re.compile(r"[ \t\r\n]+")


def blocks_of(content: Element) -> Iterator[str]:
    """Raises KeyError where it is no text."""
    # Paragraphs name automatic styles, made of those that have names of their own.
    styles = {
        attribute(one, "name"): attribute(one, "parent-style-name")
        for one in content.iter()
        if local_name(one) == "style"
    }
    yield from _Body(styles).within(first(first(content, "body"), "text"))


class _Body:
    def __init__(self, styles: dict[str, str]) -> None:
        self._styles = styles

    def within(self, element: Element) -> Iterator[str]:
        for child in element:
            yield from self._blocks(child)

    def _blocks(self, element: Element) -> Iterator[str]:
        match local_name(element):
            case name if name in _LEFT_OUT:
                return
            case "h" | "p":
                yield from filter(None, [self._paragraph(element)])
                yield from self._beside(element)
            case "list":
                yield from filter(None, ["\n".join(_entries(element, 0))])
                yield from self._beside(element)
            case "table":
                yield from filter(None, [_table(element)])
                yield from self._beside(element)
            case "note":
                sign = _words(first(element, "note-citation"))
                yield f"Note {sign}: {' '.join(self.within(first(element, 'note-body')))}"
            case _:
                yield from self.within(element)

    def _beside(self, element: Element) -> Iterator[str]:
        """The notes and boxes of text that are anchored in an element, as blocks behind it."""
        for child in element:
            if _is_beside(child):
                yield from self._blocks(child)
            elif local_name(child) not in _LEFT_OUT:
                yield from self._beside(child)

    def _paragraph(self, element: Element) -> str:
        words = _words(element)
        style = attribute(element, "style-name")
        if words and local_name(element) == "h":
            level = number(element, "outline-level", most=5)
            return f"{'#' * (level + 1)} {_line(words)}"  # "#" is the title's
        if words and "Title" in (style, self._styles.get(style)):
            return f"# {_line(words)}"
        return words


def _is_beside(element: Element) -> bool:
    return local_name(element) == "note" or (isinstance(element.tag, str) and element.tag.startswith(_DRAWING))


def _entries(element: Element, depth: int) -> Iterator[str]:
    """The entries of a list; those of lists within it are indented."""
    for item in element:
        for child in item:
            if local_name(child) == "list":
                yield from _entries(child, depth + 1)
            else:
                lines = map(_line, map(_words, _paragraphs([child])))
                yield from (f"{'  ' * depth}- {line}" for line in lines if line)


def _table(element: Element) -> str:
    """The table with merged cells filled in; its first row is the header."""
    lines: list[str] = []
    columns = size = 0
    for row in _rows(element):
        columns = max(columns, len(row))
        lines.append(markdown_table.line(row))
        size += len(lines[-1])
        if size > MAX_CHARS:
            break
    return "\n".join([lines[0], markdown_table.rule(columns), *lines[1:]]) if lines else ""


def _rows(table: Element) -> Iterator[list[str]]:
    """The rows that are not empty, each without the empty cells at its end."""
    above: dict[int, tuple[int, str]] = {}  # column -> rows that a merged cell still covers, and its text
    for row in _table_rows(table):
        cells: list[str] = []
        for cell in row:
            _add(cell, cells, above)
        above = {column: (left - 1, text) for column, (left, text) in above.items() if left > 1}
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield from [cells] * number(row, "number-rows-repeated", most=_MAX_REPEATED)


def _table_rows(table: Element) -> Iterator[Element]:
    """Also those in groups and headers; not those of tables within cells."""
    for child in table:
        match local_name(child):
            case "table-row":
                yield child
            case name if name.startswith("table-") and "row" in name:
                yield from _table_rows(child)


def _add(cell: Element, cells: list[str], above: dict[int, tuple[int, str]]) -> None:
    """Append a cell as often as it is repeated. A covered one has the text of the merged cell that covers it."""
    name = local_name(cell)
    if name not in ("table-cell", "covered-table-cell"):
        return
    text = "; ".join(filter(None, map(_line, map(_words, _paragraphs(cell)))))
    rows = number(cell, "number-rows-spanned", most=MAX_CHARS)
    columns = number(cell, "number-columns-spanned", most=_MAX_COLUMNS)
    for _ in range(number(cell, "number-columns-repeated", most=_MAX_COLUMNS)):
        at = len(cells)
        if at >= _MAX_COLUMNS:
            return
        if name == "table-cell":
            above.update((column, (rows, text)) for column in range(at, at + columns))
        cells.append(above[at][1] if at in above else text)


def _paragraphs(parts: Iterable[Element]) -> Iterator[Element]:
    for part in parts:
        name = local_name(part)
        if name in ("h", "p"):
            yield part
        elif name not in _LEFT_OUT and not _is_beside(part):
            yield from _paragraphs(part)


def _words(element: Element) -> str:
    """The words of a paragraph, without the notes and boxes that stand in it."""
    return plain("".join(_pieces(element))).strip()


def _pieces(element: Element) -> Iterator[str]:
    yield _SPACE.sub(" ", element.text or "")
    for child in element:
        match local_name(child):
            case "s":
                yield " " * number(child, "c", most=_MAX_SPACES)
            case "tab":
                yield "\t"
            case "line-break":
                yield "\n"
            case name if name not in _LEFT_OUT and not _is_beside(child):
                yield from _pieces(child)
        yield _SPACE.sub(" ", child.tail or "")


def _line(text: str) -> str:
    return " ".join(text.split())
