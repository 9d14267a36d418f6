"""HTML tables -> Markdown tables: merged cells filled in, header rows put into one, infoboxes, tables for layout.

Cells are read after `markdown.py` has marked where a line (BREAK) or an entry of a list (ENTRY) ends in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iterative_rag.errors import FetchError
from iterative_rag.sources import markdown_table

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

# Marks of Unicode's private use area, which is taken out of every page beforehand.
BREAK = "\ue001"
ENTRY = "\ue003"
# What filling merged cells in may add to a table, in characters: rowspan="9999" must not make a page of gigabytes.
MOST_FILLED = 500_000
MOST_COLUMNS = 200  # that a span may reach to
MOST_PLACES = 2_000_000
_HEADER_ROWS = 4  # at most: below them, rows of headings alone are rows
_HEADER_JOINT = " / "
_OPEN_ENDS = (",", ";", ":", "–", "-", "(", "/", "·")
_OPEN_BEGINS = tuple("(,;:–/")


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell of the grid. `origin` tells the cell itself from the places that it was spread to."""

    text: str
    heads: bool
    origin: bool


_EMPTY = _Cell("", False, False)
Grid = list[list[_Cell]]


def is_layout(table: LexborNode) -> bool:
    """Whether a table only places other things (columns of lists, tables side by side): then it is no table."""
    names = set((table.attributes.get("class") or "").split())
    if names & {"wikitable", "infobox", "sortable"}:
        return False
    if any(one.mem_id != table.mem_id for one in table.css("table, h2, h3, h4")):
        return True
    return table.css_first("caption, th") is None and table.css_first("ul, ol, dl") is not None


def to_markdown(table: LexborNode) -> str:
    """The table as lines of Markdown, its caption before it; "" if nothing is in it."""
    caption = table.css_first("caption")
    said = [cell_text(caption)] if caption is not None else []
    grid = _without_empty(_grid(table))
    if not grid:
        return "\n\n".join(filter(None, said))
    infobox = "infobox" in (table.attributes.get("class") or "").split()
    if not infobox and len(grid) > 1 and _spans_all(grid[0]) and grid[0][0].heads and len(grid[0]) > 1:
        said.append(grid.pop(0)[0].text)  # a title row above the header serves as a caption
    header = _header(grid, infobox=infobox)
    if len(grid[0]) == 1 and not any(header):
        return "\n\n".join(filter(None, [*said, *(row[0].text for row in grid)]))
    rows = [_texts(row) for row in grid]
    lines = [
        markdown_table.line(header),
        markdown_table.rule(len(header)),
        *(markdown_table.line(row) for row in rows if row != header),
    ]
    return "\n\n".join([*filter(None, said), "\n".join(lines)])


def cell_text(node: LexborNode, *, wrapped: bool = False) -> str:
    """The text of a cell in one line; its entries are parted by semicolons, and so are lines that begin anew.

    Of a `wrapped` text all lines go on.
    """
    text = node.text().replace(BREAK, " ") if wrapped else node.text()
    return "; ".join(filter(None, map(_on_one_line, text.split(ENTRY))))


def _on_one_line(text: str) -> str:
    joined = ""
    for line in (" ".join(part.split()) for part in text.split(BREAK)):
        # "Length<br>(m)", "A,<br>B" and "lit at<br>dusk" go on; "May 9, 1830<br>Saltmarsh" begins anew.
        goes_on = joined.endswith(_OPEN_ENDS) or line[:1] in _OPEN_BEGINS or line[:1].islower()
        joined += (" " if goes_on else "; ") + line if joined and line else line
    return joined


# --- the grid --------------------------------------------------------------------------------


def _grid(table: LexborNode) -> Grid:
    """Every place of the table, row by row, all rows of one length. Raises FetchError for an endless table.

    The algorithm is HTML's own ("forming a table"): a cell takes the next free place of its row and all places that
    its spans cover. Places that were covered hold the cell's text again.
    """
    rows = list(_rows(table))
    grid: Grid = [[] for _ in rows]
    room = MOST_FILLED
    places = 0
    for number, row in enumerate(rows):
        column = 0
        for node in _children(row, ("th", "td")):
            while column < len(grid[number]) and grid[number][column] is not _EMPTY:
                column += 1
            cell = _Cell(_shown(node), node.tag == "th", True)
            width = max(1, min(_span(node, "colspan"), MOST_COLUMNS - column))
            height = min(_span(node, "rowspan") or len(rows), len(rows) - number)
            places += width * height
            _refuse_endless(places)
            room -= len(cell.text) * (width * height - 1)
            covered = _Cell(cell.text if room > 0 else "", cell.heads, False)
            for line in grid[number : number + height]:
                line.extend([_EMPTY] * (column + width - len(line)))
                line[column : column + width] = [covered] * width
            grid[number][column] = cell
            column += width
    width = max(map(len, grid), default=0)
    _refuse_endless(width * len(grid))
    for line in grid:
        line.extend([_EMPTY] * (width - len(line)))
    return grid


def _refuse_endless(places: int) -> None:
    if places > MOST_PLACES:
        raise FetchError(f"A table has more than {MOST_PLACES:,} places: the page is not one to read.")


def _rows(table: LexborNode) -> Iterator[LexborNode]:
    """The rows of the table itself; a table that fills a whole row of it (a part of an infobox) gives its rows."""
    for group in (table, *_children(table, ("thead", "tbody", "tfoot"))):
        for row in _children(group, ("tr",)):
            cells = list(_children(row, ("th", "td")))
            inner = cells[0].css("table") if len(cells) == 1 else []
            bare = len(inner) == 1 and inner[0].css_first("caption") is None
            if bare and cell_text(cells[0]) == cell_text(inner[0]):
                yield from _rows(inner[0])
            else:
                yield row


def _children(node: LexborNode, tags: tuple[str, ...]) -> Iterator[LexborNode]:
    return (child for child in node.iter() if child.tag in tags)


def _span(node: LexborNode, name: str) -> int:
    value = (node.attributes.get(name) or "").strip()
    number = int(value) if value.isascii() and value.isdigit() and len(value) < 6 else 1
    return number if name == "rowspan" else max(1, number)  # rowspan="0" goes to the table's end


def _shown(node: LexborNode) -> str:
    """A cell's text; where it has none, what its pictures are said to show (flags, tick marks)."""
    # A heading is broken where its column is too narrow for it, not because something new begins.
    if text := cell_text(node, wrapped=node.tag == "th"):
        return text
    said = (" ".join((image.attributes.get("alt") or "").split()) for image in node.css("img"))
    return ", ".join(dict.fromkeys(alt for alt in said if alt and not _is_file_name(alt)))


def _is_file_name(text: str) -> bool:
    return text.lower().endswith((".jpg", ".jpeg", ".png", ".svg", ".gif", ".webp", ".tif", ".tiff"))


def _without_empty(grid: Grid) -> Grid:
    """Without rows that say nothing, and without columns that only go on with the one before them."""
    grid = [row for row in grid if any(cell.text for cell in row)]
    if not grid:
        return []
    columns = [
        column
        for column in range(len(grid[0]))
        if any(row[column].text and row[column].origin for row in grid)
        or any(row[column].text and row[column].text != row[column - 1].text for row in grid if column)
    ]
    return [[row[column] for column in columns] for row in grid]


# --- header and rows -------------------------------------------------------------------------


def _header(grid: Grid, *, infobox: bool) -> list[str]:
    """The header's texts; takes the header rows off the grid. Several of them become one: "Size / Length (m)"."""
    width = len(grid[0])
    if infobox:
        above = _spans_all(grid[0]) and len(grid) > 1
        return [grid.pop(0)[0].text, *[""] * (width - 1)] if above else [""] * width
    count = 0
    while count < min(len(grid) - 1, _HEADER_ROWS) and all(cell.heads or not cell.text for cell in grid[count]):
        if count and _spans_all(grid[count]):
            break  # the name of a group of rows, not a header
        count += 1
    header = []
    for column in range(width):
        texts = dict.fromkeys(grid[row][column].text for row in range(count))
        header.append(_HEADER_JOINT.join(text for text in texts if text))
    del grid[:count]
    return header


def _spans_all(row: list[_Cell]) -> bool:
    """Whether one cell fills the whole row."""
    return bool(row[0].text) and row[0].origin and not any(cell.origin for cell in row[1:]) and _same(row)


def _same(row: list[_Cell]) -> bool:
    return all(cell.text == row[0].text for cell in row)


def _texts(row: list[_Cell]) -> list[str]:
    """A cell that fills its whole row is the name of a group, or a note: once is enough."""
    if len(row) > 1 and _spans_all(row):
        return [row[0].text, *[""] * (len(row) - 1)]
    return [cell.text for cell in row]
