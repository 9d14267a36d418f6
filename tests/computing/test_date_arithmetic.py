"""Questions about dates: the expression that asks each, and the answer by hand or by datetime.

The calendar is the proleptic Gregorian one; there is no year 0.
"""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iterative_rag.computing import ComputeError, compute
from iterative_rag.computing.arithmetic import read_date
from tests.tables import table
from tests.text.table import Row, rows

KINDS = ("ages", "years", "months", "days", "weekdays", "shifts", "order")
ALL = [row for kind in KINDS for row in table(__file__, kind)]


@pytest.mark.parametrize(("question", "expression", "expected"), ALL, ids=[expression for _, expression, _ in ALL])
def test_a_dated_question_is_answered(question: str, expression: str, expected: str) -> None:
    assert compute(expression) == expected, question


@pytest.mark.parametrize(("expression", "reason"), table(__file__, "refused"))
def test_what_the_dates_do_not_tell_is_refused_with_advice(expression: str, reason: str) -> None:
    with pytest.raises(ComputeError, match=reason):
        compute(expression)


# --- as everywhere else -------------------------------------------------------------------------

# Texts that are nothing but a date that an expression may hold: with a month in words or by ISO 8601, or with an era.
TOLD = [
    row
    for row in rows()
    if row.code == "en"
    and row.kind in ("dates", "eras")
    and not set("~<>;/") & set(row.meaning + row.text)
    and row.text.split()[0] not in ("on", "the", "in", "from", "Monday", "(3", "Oda", "31")
    and row.text not in ("1874", "5.9.1874", "eighteen seventy-four", "nineteen hundred and five", "nineteen oh five")
    and row.meaning not in ("5 September", "5 May", "4 July")
]


@pytest.mark.parametrize("row", TOLD, ids=lambda row: row.text)
def test_a_date_of_the_table_is_read_in_an_expression(row: Row) -> None:
    found = read_date(row.text)
    assert found is not None
    assert (str(found[0]), found[1]) == (row.meaning, len(row.text))


# --- against datetime ----------------------------------------------------------------------------

DATES = st.dates()


def written(day: datetime.date) -> str:
    return f"{day.day} {day:%B} {day.year}{' AD' if day.year < 1000 else ''}"


@given(DATES, DATES)
def test_days_and_ages_are_those_of_datetime(first: datetime.date, second: datetime.date) -> None:
    first, second = sorted((first, second))
    assert compute(f"days({written(first)}, {written(second)})") == str((second - first).days)
    years = second.year - first.year - ((second.month, second.day) < (first.month, first.day))
    assert compute(f"age({written(first)}, {written(second)})") == str(years)
    assert compute(f"weekday({written(first)})") == f"{first:%A}"


@given(st.dates(datetime.date(1000, 1, 1), datetime.date(2900, 1, 1)), st.integers(0, 100_000))
def test_a_date_moves_by_days_as_in_datetime(day: datetime.date, count: int) -> None:
    moved = day + datetime.timedelta(days=count)
    assert compute(f"{written(day)} + {count} days") == f"{moved.day} {moved:%B} {moved.year}"
