"""Dates, numbers and units, as the built-in backend takes them out of texts."""

from __future__ import annotations

import datetime
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iterative_rag.builtin.language.function_words import ordinal, stem
from iterative_rag.builtin.language.text_values import amounts, dates, periods
from iterative_rag.builtin.language.tokens import base_form
from iterative_rag.text.dates import Date
from tests.text.table import Row, rows, shown_value

ENGLISH = [row for row in rows() if row.code == "en"]
RANK, PERIOD = re.compile(r"\d+[a-z]{2}"), re.compile(r"\d0s|[a-z] century")
# Days without a year, and ends of ranges that leave their year unsaid, are none of the dates that count here.
NOT_COUNTED = {"5 September", "5 May", "September 5th", "on the 4th of July", "3–5 May 1912"}
HALF_COUNTED = {"1914-18": "1914", "1759-60": "1759", "the 1983-84 school year": "1983"}


def bare(meaning: str) -> str:
    """Values without their bounds, both ends for a range."""
    return re.sub("[~<>=]", "", meaning.replace(" to ", "; "))


@pytest.mark.parametrize(
    "row",
    [
        row
        for row in ENGLISH
        if not (PERIOD.search(row.meaning) or RANK.fullmatch(row.meaning)) and row.text not in NOT_COUNTED
    ],
    ids=lambda row: row.text,
)
def test_a_text_holds_the_dates_and_amounts_of_the_table(row: Row) -> None:
    dated = dates(row.text)
    taken = [(start, end) for _, start, end in dated]
    counted = [one for one in amounts(row.text) if one[1:] not in taken]
    shown = [(start, str(date)) for date, start, _ in dated] + [(one[1], shown_value(one[0])) for one in counted]
    found = "; ".join(bare(value) for _, value in sorted(shown))
    assert found == HALF_COUNTED.get(row.text, bare(row.meaning))


@pytest.mark.parametrize("row", [row for row in ENGLISH if RANK.fullmatch(row.meaning)], ids=lambda row: row.text)
def test_a_word_is_the_rank_of_the_table(row: Row) -> None:
    assert int(row.meaning[:-2]) in {ordinal(word) for word in row.text.split()}
    assert not amounts(row.text)


@pytest.mark.parametrize("row", [row for row in ENGLISH if PERIOD.search(row.meaning)], ids=lambda row: row.text)
def test_a_period_of_the_table_is_found_where_it_stands(row: Row) -> None:
    assert len(periods(row.text)) == len(row.meaning.split("; "))
    assert not amounts(row.text)


@given(st.dates(datetime.date(1000, 1, 1)))
def test_every_written_date_is_read_back(day: datetime.date) -> None:
    for text in (day.isoformat(), f"{day:%B} {day.day}, {day.year}", f"{day.day} {day:%B} {day.year}"):
        assert [date for date, _, _ in dates(text)] == [Date(day.year, day.month, day.day)]


@given(st.integers(0, 10**9))
def test_every_number_is_read_back(number: int) -> None:
    assert [found.value for found, _, _ in amounts(f"about {number:,} of them")] == [float(number)]


# --- words ----------------------------------------------------------------------------------------


def test_words() -> None:
    assert [ordinal(word) for word in ("third", "21st", "twenty-fifth", "tower")] == [3, 21, 25, None]
    assert [base_form(word) for word in ("died", "married", "won", "released", "opened")] == [
        "die",
        "marry",
        "win",
        "release",
        "open",
    ]
    assert stem("incorporation") == stem("incorporated")
    assert stem("architects") == stem("architect")
