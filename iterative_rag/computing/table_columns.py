"""Read a column of a Markdown table as values."""

from __future__ import annotations

from collections.abc import Callable

from iterative_rag.computing.operands import Items, Value
from iterative_rag.errors import ComputeError
from iterative_rag.text.markdown_rows import is_rule, row_cells

MOST_ROWS = 1000


def column(table: str, name: str, labels: str, read: Callable[[str], Value]) -> Items:
    """The cells of the column `name`, labelled by those of the column `labels` ("" for the first).

    `table` is Markdown: its first row holds the names of the columns. `read` makes a value of a cell's text.
    """
    # In JSON, models often escape the line breaks twice.
    lines = table.replace("\\n", "\n").splitlines()
    rows = [[cell.text for cell in row_cells(line)] for line in lines if line.strip(" |") and not is_rule(line)]
    if len(rows) < 2:
        raise ComputeError("a table needs a header row and at least one more row, each on its own line: | a | b |")
    if len(rows) > MOST_ROWS:
        raise ComputeError(f"a table may have {MOST_ROWS} rows")
    head = rows[0]
    wanted, named = _place(head, name), _place(head, labels) if labels else 0
    found: list[Value] = []
    for row in rows[1:]:
        if len(row) <= max(wanted, named):
            raise ComputeError(f"the row | {' | '.join(row)[:80]} | has fewer cells than the header")
        found.append(read(row[wanted]))
    return Items(tuple(found), tuple(row[named] for row in rows[1:]))


def _place(head: list[str], name: str) -> int:
    folded = [cell.casefold() for cell in head]
    if name.strip().casefold() not in folded:
        raise ComputeError(f"there is no column {name!r}; there are {', '.join(head)[:200]}")
    return folded.index(name.strip().casefold())
