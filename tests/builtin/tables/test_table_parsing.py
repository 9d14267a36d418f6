"""Tables, infoboxes and lists in the Markdown of a page, with offsets that point into it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from fakes.invented_articles import PARKS
from iterative_rag.builtin.tables.cell_values import Day, cell_value
from iterative_rag.builtin.tables.page_tables import TableKind, tables

TEXT = """# Orm

| Orm | |
|---|---|
| Capital | Tellby |

## Trade

Trade of Orm with its *neighbours*

| Year | Exports \\| total | **Grain** |
|:--|--:|---|
| 1900 | 1,200 t |
| 1901 | – | 40 t |
"""


def test_cells_stand_where_their_offsets_say() -> None:
    infobox, trade = tables(TEXT, "Orm")
    assert infobox.kind is TableKind.INFOBOX
    assert (trade.kind, trade.section, trade.complete) == (TableKind.TABLE, "Trade", True)
    assert trade.caption == "Trade of Orm with its *neighbours"
    assert trade.header == ("Year", "Exports | total", "Grain")
    assert [cell.text for cell in trade.rows[0].cells] == ["1900", "1,200 t", ""]
    for row in (*infobox.rows, *trade.rows):
        assert TEXT[row.start : row.end] == row.text
        assert all(TEXT[cell.start : cell.end] == cell.text for cell in row.cells)


def test_entries_of_a_list_have_a_name_and_the_rest() -> None:
    (parks,) = tables(PARKS, "Parks of Port Elm")
    assert parks.kind is TableKind.LIST
    assert parks.column(0) == ("Elm Park", "Harbour Green", "Gull Meadow", "Rose Garden")
    assert parks.rows[3].cells[1].text == "the smallest"


@pytest.mark.parametrize(
    ("cell", "number", "unit", "day"),
    [
        ("1,204", "1204", "", None),
        ("412 km", "412", "kilometer", None),
        ("1987", "1987", "", (1987, 0, 0)),
        ("July 22–23, 1972", "23", "", (1972, 7, 22)),
        ("45:10", "2710", "second", None),
        ("−5 °C", "-5", "degree_Celsius", None),
        ("1700–1720", "1700", "", (1700, 0, 0)),
        ("Tellby", None, "", None),
        ("1" * 5000, None, "", None),
        ("1:31:33." + "3" * 5000, None, "", None),
    ],
    ids=lambda given: str(given)[:20],
)
def test_values_of_cells(cell: str, number: str | None, unit: str, day: Day | None) -> None:
    value = cell_value(cell)
    assert value.number == (None if number is None else Fraction(number))
    assert value.day == day
    if number is not None:
        assert value.unit == unit
