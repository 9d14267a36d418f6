"""Parsing dates, numbers, units and names, and computing with them."""

from __future__ import annotations

import datetime
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iterative_rag.builtin.language.function_words import base_form, ordinal, stem
from iterative_rag.builtin.language.text_values import amounts, dates, periods
from iterative_rag.builtin.question.plan import Operation, Part
from iterative_rag.builtin.reasoning.computed_values import compute
from iterative_rag.builtin.reasoning.name_parts import part_of
from iterative_rag.text.dates import Date
from tests.text.table import Row, rows

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
    found = "; ".join(bare(str(one)) for one, *_ in sorted([*dated, *counted], key=lambda one: one[1]))
    assert found == HALF_COUNTED.get(row.text, bare(row.meaning))


@pytest.mark.parametrize("row", [row for row in ENGLISH if RANK.fullmatch(row.meaning)], ids=lambda row: row.text)
def test_a_word_is_the_rank_of_the_table(row: Row) -> None:
    assert int(row.meaning[:-2]) in {ordinal(word) for word in row.text.split()}
    assert not amounts(row.text)


@pytest.mark.parametrize("row", [row for row in ENGLISH if PERIOD.search(row.meaning)], ids=lambda row: row.text)
def test_a_period_of_the_table_is_found_where_it_stands(row: Row) -> None:
    assert len(periods(row.text)) == len(row.meaning.split("; "))
    assert not amounts(row.text)


def test_a_decade_with_its_century_counts_as_its_first_year() -> None:
    assert [date for date, _, _ in dates("the late 1920s")] == [Date(1920)]
    assert not dates("in his thirties")
    assert [("the late 1920s")[start:end] for start, end in periods("the late 1920s")] == ["late 1920s"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("born May 3, 1801 in Orm", Date(1801, 5, 3)),
        ("on 3 May 1801", Date(1801, 5, 3)),
        ("on the 3rd of May 1801", Date(1801, 5, 3)),
        ("in March 1918", Date(1918, 3)),
        ("1801-05-03", Date(1801, 5, 3)),
        ("about 1801", Date(1801)),
    ],
)
def test_dates(text: str, expected: Date) -> None:
    assert [date for date, _, _ in dates(text)] == [expected]


@given(st.dates(datetime.date(1000, 1, 1)))
def test_every_written_date_is_read_back(day: datetime.date) -> None:
    for text in (day.isoformat(), f"{day:%B} {day.day}, {day.year}", f"{day.day} {day:%B} {day.year}"):
        assert [date for date, _, _ in dates(text)] == [Date(day.year, day.month, day.day)]


@given(st.integers(0, 10**9))
def test_every_number_is_read_back(number: int) -> None:
    assert [found.value for found, _, _ in amounts(f"about {number:,} of them")] == [float(number)]


@pytest.mark.parametrize(
    ("operation", "values", "labels", "unit", "expected"),
    [
        (Operation.JOIN, ["Ann", "Orley"], [], "", "Ann Orley"),
        (Operation.DIFFERENCE, ["1,128 ft (344 m)", "790 ft"], [], "feet", "338 feet"),
        (Operation.DIFFERENCE, ["402 m", "1,000 ft"], [], "m", "97.2 m"),
        (Operation.SUM, ["1939", "1"], [], "", "1940"),
        (Operation.DIFFERENCE, ["one hundred and five floors", "5"], [], "", "100"),
        (Operation.DIFFERENCE, ["$5m", "$3m"], [], "dollars", "2000000 dollars"),
        (Operation.DIFFERENCE, ["5 sq mi", "4 square miles"], [], "square miles", "1 square miles"),
        (Operation.SUM, ["5 ft 6 in", "6 inches"], [], "feet", "6 feet"),
        (Operation.YEARS, ["44 BC", "AD 14"], [], "", "57 years"),
        (Operation.YEARS, ["Sept 5, 1874", "6 September 1900"], [], "age", "26"),
        (Operation.YEARS, ["1877", "November 4, 1886"], [], "", "9 years"),
        (Operation.YEARS, ["May 3, 1801", "May 2, 1866"], [], "age", "64"),
        (Operation.LEAST, ["1902", "May 1899"], ["A", "B"], "", "B"),
        (Operation.GREATEST, ["900 m", "1 km"], ["A", "B"], "", "B"),
        (Operation.SAME, ["Norway", "the Norway"], [], "", "Yes"),
        (Operation.SAME, ["Norway", "Sweden"], [], "", "No"),
        (Operation.DIFFERENCE, ["tall", "790 ft"], [], "feet", None),
        (Operation.YEARS, ["then", "1886"], [], "", None),
        (Operation.RATIO, ["1 km", "400 m"], [], "", "2.5"),
        (Operation.RATIO, ["1 km", "none"], [], "", None),
        (Operation.DECADE, ["May 1357"], [], "", "1350s"),
        (Operation.CENTURY, ["1900"], [], "", "19th century"),
        (Operation.CENTURY, ["2012"], [], "", "21st century"),
        (Operation.MONTH, ["November 4, 1877"], [], "", "November"),
        (Operation.MONTH, ["1877"], [], "", None),
        (Operation.WEEKDAY, ["November 4, 1877"], [], "", "Sunday"),
        (Operation.EXCEEDS, ["1900", "1900"], [], "least", "No"),
        (Operation.PICK, ["Bo Li of Orm"], ["Ann Vo", "Bo Li"], "", "Bo Li"),
        (Operation.PICK, ["Cy Orm"], ["Ann Vo", "Bo Li"], "", None),
        (Operation.COMMON, ["Ann Orley", "Orley"], [], "", "Ann Orley"),
        (Operation.COMMON, ["Ann Orley", "Karl Voss"], [], "", None),
    ],
)
def test_computing(operation: Operation, values: list[str], labels: list[str], unit: str, expected: str | None) -> None:
    worked = compute(operation, values, labels, unit)
    assert (worked and worked.text) == expected


@given(st.sampled_from(Operation), st.lists(st.text(max_size=30), min_size=2, max_size=2))
def test_computing_never_raises(operation: Operation, values: list[str]) -> None:
    result = compute(operation, values, ["A", "B"], "m")
    assert result is None or isinstance(result.text, str)


@pytest.mark.parametrize(
    ("name", "part", "married", "context", "expected"),
    [
        ("Ann Berta Orley", Part.FIRST, "", "", "Ann"),
        ("Ann Berta Orley", Part.LAST, "", "", "Orley"),
        ("Ann Berta Orley", Part.MIDDLE, "", "", "Berta"),
        ("Karl Voss Jr.", Part.LAST, "", "", "Voss"),
        ("Ann van der Rohde", Part.LAST, "", "", "van der Rohde"),
        ("Ann Quill Orley", Part.MAIDEN, "Orley", "", "Quill"),
        ("Ann Quill", Part.MAIDEN, "Orley", "", "Quill"),
        ("Ann Orley, née Quill", Part.MAIDEN, "", "", "Quill"),
        ("Ann Orley", Part.MAIDEN, "", "Ann Orley, born Ann Quill, was a painter.", "Quill"),
    ],
)
def test_parts_of_names(name: str, part: Part, married: str, context: str, expected: str) -> None:
    assert part_of(name, part, married=married, context=context) == expected


@given(st.text(max_size=40), st.sampled_from(Part))
def test_no_name_breaks(name: str, part: Part) -> None:
    assert isinstance(part_of(name, part), str)


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
