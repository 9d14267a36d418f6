"""Questions about dates: the expression that asks each, and the answer by hand or by datetime.

The calendar is the proleptic Gregorian one; there is no year 0.
"""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iterative_rag.computing import ComputeError, compute
from iterative_rag.text.dates import Date

AGES = [
    ("How old was she on her 30th birthday?", "age(3 May 1801, 3 May 1831)", "30"),
    ("How old was she the day before it?", "age(3 May 1801, 2 May 1831)", "29"),
    ("How old was she the day after it?", "age(3 May 1801, 4 May 1831)", "30"),
    ("How old on the day of birth?", "age(3 May 1801, 3 May 1801)", "0"),
    ("How old at the end of the first year?", "age(3 May 1801, 31 December 1801)", "0"),
    ("How old was he when he died?", "age(12 February 1809, 15 April 1865)", "56"),
    ("How old was she at the opening in May?", "age(3 March 1874, May 1911)", "37"),
    ("How old was she at the opening in February?", "age(3 March 1874, February 1911)", "36"),
    ("How old was she in the month of her birthday?", "age(3 March 1874, March 1911)", "36 or 37"),
    ("How old was she in 1911, born in 1874?", "age(1874, 1911)", "36 or 37"),
    ("How old was she in 1911, born on 3 March 1874?", "age(3 March 1874, 1911)", "36 or 37"),
    ("How old in 1911, born on 1 January?", "age(1 January 1874, 1911)", "37"),
    ("How old on 31 December 1911, born in 1874?", "age(1874, 31 December 1911)", "37"),
    ("How old on 1 January 1911, born in 1874?", "age(1874, 1 January 1911)", "36 or 37"),
    ("How old in June, born in a March?", "age(March 1874, June 1911)", "37"),
    ("How old in March, born in a June?", "age(June 1874, March 1911)", "36"),
    ("How old in the year of birth?", "age(1874, 1874)", "0"),
    ("How old a year later, by years alone?", "age(1874, 1875)", "0 or 1"),
    ("Born on a leap day: how old on 28 February?", "age(29 February 2000, 28 February 2001)", "0"),
    ("Born on a leap day: how old on 1 March?", "age(29 February 2000, 1 March 2001)", "1"),
    ("Born on a leap day: how old on the next leap day?", "age(29 February 2000, 29 February 2004)", "4"),
    ("How old was he, born 63 BC, in AD 14?", "age(63 BC, 14 AD)", "75 or 76"),
    ("Born 23 September 63 BC, died 19 August AD 14?", "age(23 September 63 BC, 19 August AD 14)", "75"),
    ("Born 12 July 100 BC, died 15 March 44 BC?", "age(12 July 100 BC, 15 March 44 BC)", "55"),
    ("How old at the turn of the century?", "age(31 December 1899, 1 January 1900)", "0"),
    ("How old with ISO dates?", "age(1990-06-15, 2020-06-14)", "29"),
    ("How old, American spelling?", "age(June 15, 1990, June 15, 2020)", "30"),
    ("How old at a hundred?", "age(1 January 1900, 1 January 2000)", "100"),
    ("Was she over 60 then?", "age(1 May 1900, 1 May 1970) > 60", "true"),
]
YEARS = [
    ("How many years from 1825 to 1912?", "1912 - 1825", "87"),
    ("How many years between 1825 and 1912?", "years(1825, 1912)", "87"),
    ("And the other way round?", "years(1912, 1825)", "87"),
    ("From 44 BC to AD 14?", "years(44 BC, 14 AD)", "57"),
    ("From 44 BC to 14, the plain year?", "years(44 BC, 14)", "57"),
    ("From 1 BC to AD 1?", "years(1 BC, AD 1)", "1"),
    ("From 10 BC to AD 10?", "years(10 BCE, 10 CE)", "19"),
    ("From 490 BC to 480 BC?", "years(490 BC, 480 BC)", "10"),
    ("By subtraction over the turn of the era?", "14 AD - 44 BC", "57"),
    ("By subtraction before Christ?", "27 BC - 44 BC", "17"),
    ("Full years between two days?", "years(3 May 1801, 2 May 1866)", "64"),
    ("Full years on the anniversary?", "years(3 May 1801, 3 May 1866)", "65"),
    ("Between a day and a year?", "years(3 May 1801, 1866)", "65"),
    ("Between two months?", "years(November 1877, November 1886)", "9"),
    ("Between two months, not yet full?", "years(November 1877, October 1886)", "8"),
    ("From the Ides of March 44 BC to 19 August AD 14?", "years(15 March 44 BC, 19 August 14 AD)", "57"),
    ("Over a century without a leap year?", "years(1 March 1900, 28 February 2000)", "99"),
    ("How many years did the war last, by days?", "years(18 June 1812, 17 February 1815)", "2"),
]
MONTHS = [
    ("How many months from January to March?", "months(January 1912, March 1912)", "2"),
    ("How many months over the new year?", "months(November 1911, February 1912)", "3"),
    ("How many full months between two days?", "months(15 January 1912, 14 March 1912)", "1"),
    ("How many full months on the day?", "months(15 January 1912, 15 March 1912)", "2"),
    ("How many months in a year and a day?", "months(1 January 1912, 2 January 1913)", "12"),
    ("How many months between 1912 and 1913, by years alone?", "months(1912, 1913)", "0 to 23"),
    ("How many months from the 31st to the 30th?", "months(31 January 2021, 30 April 2021)", "2"),
    ("How many months over the turn of the era?", "months(December 1 BC, January AD 1)", "1"),
]
DAYS = [
    ("How many days has February 2020?", "days(1 February 2020, 1 March 2020)", "29"),
    ("How many days has February 2021?", "days(1 February 2021, 1 March 2021)", "28"),
    ("How many days has February 1900?", "days(1 February 1900, 1 March 1900)", "28"),
    ("How many days has February 2000?", "days(1 February 2000, 1 March 2000)", "29"),
    ("How many days has a common year?", "days(1 January 2021, 1 January 2022)", "365"),
    ("How many days has a leap year?", "days(1 January 2020, 1 January 2021)", "366"),
    ("How many days by subtraction?", "2020-03-01 - 2020-02-01", "29 days"),
    ("How many days did the first voyage take?", "days(3 August 1492, 12 October 1492)", "70"),
    ("How many days did the other voyage take?", "days(10 April 1912, 15 April 1912)", "5"),
    ("How many days between two months, at the least and most?", "days(March 1912, April 1912)", "1 to 60"),
    ("How many days between two years?", "days(1912, 1914)", "366 to 1095"),
    ("How many days over ten years?", "days(1 January 2001, 1 January 2011)", "3652"),
    ("How long, in years, months and days?", "duration(12 February 1809, 15 April 1865)", "56 years, 2 months, 3 days"),
    ("How long from the 31st to 1 March?", "duration(31 January 2000, 1 March 2001)", "1 year, 1 month, 1 day"),
    ("How long from a day to the same?", "duration(1 May 1900, 1 May 1900)", "0 days"),
    ("How long to the anniversary?", "duration(1 May 1900, 1 May 1910)", "10 years"),
]
WEEKDAYS = [
    ("Which weekday was 4 November 1877?", "weekday(4 November 1877)", "Sunday"),
    ("Which weekday was the landing?", "weekday(20 July 1969)", "Sunday"),
    ("Which weekday was the leap day of 2000?", "weekday(29 February 2000)", "Tuesday"),
    ("Which weekday began the millennium?", "weekday(1 January 2001)", "Monday"),
    ("Which weekday was 15 October 1582?", "weekday(15 October 1582)", "Friday"),
    ("Which weekday was 1 January 1900?", "weekday(1 January 1900)", "Monday"),
    ("Which weekday was the first of all?", "weekday(1 January AD 1)", "Monday"),
    ("A hundred days after a Monday?", "weekday(1 January 2001 + 100 days)", "Wednesday"),
]
SHIFTS = [
    ("What is three days later?", "1 March 1912 + 3 days", "4 March 1912"),
    ("What is three weeks later?", "1 March 1912 + 3 weeks", "22 March 1912"),
    ("What is a month after the 31st?", "31 January 2021 + 1 month", "28 February 2021"),
    ("And in a leap year?", "31 January 2020 + 1 month", "29 February 2020"),
    ("What is a year after the leap day?", "29 February 2000 + 1 year", "28 February 2001"),
    ("What is four years after it?", "29 February 2000 + 4 years", "29 February 2004"),
    ("What is the day before New Year?", "1 January 1900 - 1 day", "31 December 1899"),
    ("What is 20 years after 10 BC?", "10 BC + 20 years", "11"),
    ("What is 5 years after 1912?", "1912 + 5 years", "1917"),
    ("What is a century after 1912?", "1912 + 1 century", "2012"),
    ("What is two decades before?", "March 1912 - 2 decades", "March 1892"),
    ("What is 18 months after March 1912?", "March 1912 + 18 months", "September 1913"),
    ("What is 1000 days after the armistice?", "11 November 1918 + 1000 days", "7 August 1921"),
    ("What is a year and two months later?", "1 March 1912 + 1 year + 2 months", "1 May 1913"),
]
ORDER = [
    ("Which was first?", "1825 < 1912", "true"),
    ("Was March before May?", "March 1912 < May 1912", "true"),
    ("Was 44 BC before AD 14?", "44 BC < 14 AD", "true"),
    ("Was 490 BC before 480 BC?", "490 BC < 480 BC", "true"),
    ("Who was born first?", "argmin({Anna: 3 May 1801, Bo: 2 May 1801})", "Bo"),
    ("Who was born last, by year and day?", "argmax({Anna: 1801, Bo: 2 May 1802})", "Bo"),
    ("What is the second latest?", "nth(2, latest, {A: 1901, B: 1950, C: 1923})", "C"),
    ("What is the order?", "sort([1912, 44 BC, 3 May 1801])", "44 BC, 3 May 1801, 1912"),
    ("How many after 1900?", "count([1899, 1901, 3 May 1950], '>', 1900)", "2"),
    ("Did it last longer?", "years(1801, 1866) > years(1825, 1912)", "false"),
]
ALL = [*AGES, *YEARS, *MONTHS, *DAYS, *WEEKDAYS, *SHIFTS, *ORDER]


@pytest.mark.parametrize(("question", "expression", "expected"), ALL, ids=[expression for _, expression, _ in ALL])
def test_a_dated_question_is_answered(question: str, expression: str, expected: str) -> None:
    assert compute(expression) == expected, question


def test_there_are_enough_of_them() -> None:
    assert len({expression for _, expression, _ in ALL}) == len(ALL) >= 100


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("age(1911, 1874)", "comes first"),
        ("weekday(March 1912)", "day of March 1912"),
        ("duration(1912, 1914)", "day of 1912"),
        ("1912 - 3 March 1811", "years"),
        ("29 February 1900", "no 29 February"),
        ("31 April 1900", "no 31 April"),
        ("years(0, 1912)", "BC"),
        ("1 BC - 1 AD + 0 BC", "no year 0"),
        ("March 1912 + 3 days", "day of March 1912"),
        ("1912 < March 1912", "first"),
        ("1 March 1912 + 9999999 years", "out of range"),
        ("1 March 1912 + 1.5 days", "whole"),
    ],
)
def test_what_the_dates_do_not_tell_is_refused_with_advice(expression: str, reason: str) -> None:
    with pytest.raises(ComputeError, match=reason):
        compute(expression)


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


@given(st.dates(datetime.date(1000, 1, 1)), st.dates(datetime.date(1000, 1, 1)))
def test_the_true_age_lies_in_the_range_that_years_alone_give(first: datetime.date, second: datetime.date) -> None:
    first, second = sorted((first, second))
    true = int(compute(f"age({written(first)}, {written(second)})"))
    for given_as in (f"age({first.year}, {second.year})", f"age({first:%B} {first.year}, {second:%B} {second.year})"):
        bounds = [int(bound) for bound in compute(given_as).split(" or ")]
        assert min(bounds) <= true <= max(bounds)


def test_a_date_is_written_as_precisely_as_it_is_known() -> None:
    assert [str(date) for date in (Date(1912), Date(1912, 3), Date(1912, 3, 1), Date(-43))] == [
        "1912",
        "March 1912",
        "1 March 1912",
        "44 BC",
    ]
