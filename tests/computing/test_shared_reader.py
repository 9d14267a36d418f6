"""Dates and units in expressions are read as everywhere else: the table of texts holds here, too."""

from __future__ import annotations

import pytest

from iterative_rag.computing import compute
from iterative_rag.computing.arithmetic import read_date
from iterative_rag.text import units
from tests.text.table import Row, rows

# Texts that are nothing but a date that an expression may hold: with a month in words or by ISO 8601, or with an era.
DATES = [
    row
    for row in rows()
    if row.code == "en"
    and row.kind in ("dates", "eras")
    and not set("~<>;/") & set(row.meaning + row.text)
    and row.text.split()[0] not in ("on", "the", "in", "from", "Monday", "(3", "Oda", "31")
    and row.text not in ("1874", "5.9.1874", "eighteen seventy-four", "nineteen hundred and five", "nineteen oh five")
    and row.meaning not in ("5 September", "5 May", "4 July")
]


@pytest.mark.parametrize("row", DATES, ids=lambda row: row.text)
def test_a_date_of_the_table_is_read_in_an_expression(row: Row) -> None:
    found = read_date(row.text)
    assert found is not None
    assert (str(found[0]), found[1]) == (row.meaning, len(row.text))


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("44 BC + 10 years", "34 BC"),
        ("Sept 5, 1874 + 1 day", "6 September 1874"),
        ("3 tons to kg", "3000 kg"),
        ("5 kms to m", "5000 m"),
        ("1 MW to kW", "1000 kW"),
        ("2 decades to years", "20 years"),
        ("20 °C to kelvin", "293.15 kelvin"),
        ("68 degrees F to °C", "20 °C"),
        ("1 kilowatt hour to kJ", "3600 kJ"),
    ],
)
def test_units_have_the_names_of_the_table(expression: str, result: str) -> None:
    assert compute(expression) == result


def test_an_expression_knows_every_unit_by_its_english_name() -> None:
    for unit in units.names():
        if units.dimension(unit) not in ("money", "share"):
            assert compute(f"5 {units.plural(unit)}") == f"5 {units.plural(unit)}"
            assert units.unit_of(units.plural(unit)) == unit
