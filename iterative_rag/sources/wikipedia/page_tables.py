"""HTML tables -> Markdown tables: merged cells are filled in, header rows joined; infoboxes, layout tables.
`page_markdown` has marked beforehand where a line (BREAK) or an entry of a list (ENTRY) ends in a cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iterative_rag.errors import FetchError
from iterative_rag.sources.formats.cells import table_line, table_text

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

# Private use characters, of which every page is stripped beforehand.
BREAK = "\ue001"
ENTRY = "\ue003"
# Characters that filling in merged cells may add to a table: rowspan="9999" must not make a page of gigabytes.
MAX_FILLED = 500_000
MAX_COLUMNS = 200  # that a span may reach
MAX_CELLS = 2_000_000
_MAX_HEADER_ROWS = 4  # further rows of heading cells are rows of the table
_HEADER_JOINT = " / "
_LINE_CONTINUES = (",", ";", ":", "–", "-", "(", "/", "·")
_CONTINUES_LINE = tuple("(,;:–/")


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell of the grid. `origin`: the cell itself, not a copy in a place that its span covers."""

    text: str
    heads: bool
    origin: bool


IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".svg", ".gif", ".webp", ".tif", ".tiff")
_EMPTY = _Cell("", False, False)
Grid = list[list[_Cell]]


def is_layout(table: LexborNode) -> bool:
    """Whether a table only arranges other content (columns of lists, tables side by side)."""
    names = set((table.attributes.get("class") or "").split())
    if names & {"wikitable", "infobox", "sortable"}:  # a table that can be folded away, or that was never closed
        return len(table.css("table.wikitable")) > ("wikitable" in names) + ("infobox" in names)
    inner = [nested for nested in table.css("table") if nested.mem_id != table.mem_id]
    if inner:  # unless they are small ones in the cells of one with a header
        return len(table.css("th")) < 2 or any(nested.css_first("th") is not None for nested in inner)
    return table.css_first("h2, h3, h4") is not None


def to_markdown(table: LexborNode) -> str:
    """The table in Markdown, after its caption; "" for an empty one."""
    caption = table.css_first("caption")
    above = [cell_text(caption)] if caption is not None else []
    grid = _without_empty(_grid(table))
    if not grid:
        return "\n\n".join(filter(None, above))
    infobox = "infobox" in (table.attributes.get("class") or "").split()
    if not infobox and len(grid) > 1 and _spans_all(grid[0]) and grid[0][0].heads and len(grid[0]) > 1:
        above.append(grid.pop(0)[0].text)  # a title row above the header serves as a caption
    header = _header(grid, infobox=infobox)
    # A cell that fills its whole row is the name of a group or a note, and not repeated.
    rows = [[row[0].text, *[""] * (len(row) - 1)] if _spans_all(row) else [cell.text for cell in row] for row in grid]
    written = table_text(header, (table_line(row) for row in rows if row != header))
    return "\n\n".join([*filter(None, above), written])


def cell_text(node: LexborNode, *, wrapped: bool = False) -> str:
    """The text of a cell on one line, entries and unrelated lines separated by semicolons. In a `wrapped` text each
    line continues the one before."""
    text = node.text().replace(BREAK, " ") if wrapped else node.text()
    return "; ".join(filter(None, map(_on_one_line, text.split(ENTRY))))


def _on_one_line(text: str) -> str:
    joined = ""
    for line in (" ".join(part.split()) for part in text.split(BREAK)):
        # "Length<br>(m)", "A,<br>B" and "lit at<br>dusk" continue; "May 9, 1830<br>Saltmarsh" does not.
        continues = joined.endswith(_LINE_CONTINUES) or line[:1] in _CONTINUES_LINE or line[:1].islower()
        joined += (" " if continues else "; ") + line if joined and line else line
    return joined


def _grid(table: LexborNode) -> Grid:
    """The cells of the table by row, all rows of the same length. Raises FetchError for a table that is too large.

    The algorithm is HTML's own ("forming a table"): a cell takes the next free place of its row and all places that
    its spans cover, which repeat its text.
    """
    rows = list(_rows(table))
    grid: Grid = [[] for _ in rows]
    room = MAX_FILLED
    cells = 0
    for number, row in enumerate(rows):
        column = 0
        for node in _children(row, ("th", "td")):
            while column < len(grid[number]) and grid[number][column] is not _EMPTY:
                column += 1
            cell = _Cell(_shown(node), node.tag == "th", True)
            width = max(1, min(_span(node, "colspan"), MAX_COLUMNS - column))
            height = min(_span(node, "rowspan") or len(rows), len(rows) - number)
            cells += width * height
            _check_size(cells)
            room -= len(cell.text) * (width * height - 1)
            covered = _Cell(cell.text if room > 0 else "", cell.heads, False)
            for line in grid[number : number + height]:
                line.extend([_EMPTY] * (column + width - len(line)))
                line[column : column + width] = [covered] * width
            grid[number][column] = cell
            column += width
    width = max(map(len, grid), default=0)
    _check_size(width * len(grid))
    for line in grid:
        line.extend([_EMPTY] * (width - len(line)))
    return grid


def _check_size(places: int) -> None:
    if places > MAX_CELLS:
        raise FetchError(f"A table of the page has more than {MAX_CELLS:,} cells.")


def _rows(table: LexborNode) -> Iterator[LexborNode]:
    """The rows of the table; a table that fills one of them (part of an infobox) is replaced by its rows."""
    for row in own_rows(table):
        cells = list(_children(row, ("th", "td")))
        inner = cells[0].css("table") if len(cells) == 1 else []
        bare = len(inner) == 1 and inner[0].css_first("caption") is None
        yield from own_rows(inner[0]) if bare and cell_text(cells[0]) == cell_text(inner[0]) else (row,)


def own_rows(table: LexborNode) -> Iterator[LexborNode]:
    groups = (table, *_children(table, ("thead", "tbody", "tfoot")))
    return (row for group in groups for row in _children(group, ("tr",)))


def _children(node: LexborNode, tags: tuple[str, ...]) -> Iterator[LexborNode]:
    return (child for child in node.iter() if child.tag in tags)


def _span(node: LexborNode, name: str) -> int:
    value = (node.attributes.get(name) or "").strip()
    number = int(value) if value.isascii() and value.isdigit() and len(value) < 6 else 1
    return number if name == "rowspan" else max(1, number)  # rowspan="0" reaches to the end of the table


def _shown(node: LexborNode) -> str:
    """A cell's text; where it has none, the descriptions of its pictures (flags, tick marks)."""
    # A heading is broken because its column is narrow.
    if text := cell_text(node, wrapped=node.tag == "th"):
        return text
    texts = (" ".join((image.attributes.get("alt") or "").split()) for image in node.css("img"))
    if node.css_first("img") is not None and not any(image.attributes.get("alt") for image in node.css("img")):
        texts = (" ".join((link.attributes.get("title") or "").split()) for link in node.css("a"))
    return ", ".join(dict.fromkeys(alt for alt in texts if alt and not alt.lower().endswith(IMAGE_SUFFIXES)))


def _without_empty(grid: Grid) -> Grid:
    """The grid without empty rows, and without columns that only repeat the one before."""
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


def _header(grid: Grid, *, infobox: bool) -> list[str]:
    """The texts of the header, whose rows are removed from the grid; several are joined: "Size / Length (m)"."""
    width = len(grid[0])
    if infobox:
        titled = _spans_all(grid[0]) and len(grid) > 1
        return [grid.pop(0)[0].text, *[""] * (width - 1)] if titled else [""] * width
    count = 0
    while count < min(len(grid) - 1, _MAX_HEADER_ROWS) and all(cell.heads or not cell.text for cell in grid[count]):
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
    first, *others = row
    return bool(first.text) and first.origin and not any(cell.origin or cell.text != first.text for cell in others)
