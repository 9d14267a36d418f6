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
from tests.text.table import rows

KINDS = ("ages", "years", "months", "days", "weekdays", "shifts", "order")
ALL = [row for kind in KINDS for row in table(__file__, kind)]


@pytest.mark.parametrize(("question", "expression", "expected"), ALL, ids=[expression for _, expression, _ in ALL])
def test_a_dated_question_is_answered(question: str, expression: str, expected: str) -> None:
    assert compute(expression) == expected, question


@pytest.mark.parametrize(("expression", "reason"), table(__file__, "refused"))
def test_what_the_dates_do_not_tell_is_refused_with_advice(expression: str, reason: str) -> None:
    with pytest.raises(ComputeError, match=reason):
        compute(expression)


def test_the_dates_of_texts_are_read_alike_in_expressions() -> None:
    told = [row for row in rows() if row.code == "en" and row.kind in ("dates", "eras") and ";" not in row.meaning]
    read = [(row, found) for row in told if (found := read_date(row.text)) and found[1] == len(row.text)]
    assert [str(date) for _, (date, _) in read] == [row.meaning for row, _ in read]
    assert len(read) >= 24  # the others have no year, or are written in ways that only texts have


# --- against datetime ----------------------------------------------------------------------------


def written(day: datetime.date) -> str:
    return f"{day.day} {day:%B} {day.year}{' AD' if day.year < 1000 else ''}"


@given(st.dates(), st.dates())
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
