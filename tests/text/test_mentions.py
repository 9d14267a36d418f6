"""Values in texts: what the reader makes of every text of the table, of units, names and whole values."""

from __future__ import annotations

import pytest

from iterative_rag.text.comparing import same_name
from iterative_rag.text.mentions import mentions, whole_words, with_unit
from iterative_rag.text.units import convert, dimension, unit_of
from tests.text.table import rows, shown


def test_the_table_is_large_and_of_many_kinds() -> None:
    assert len(rows()) >= 400
    assert len({(row.code, row.kind) for row in rows()}) >= 30


def test_a_text_means_what_the_table_says() -> None:
    read = [row._replace(meaning="; ".join(map(shown, mentions(row.text, row.code)))) for row in rows()]
    assert [one for one, other in zip(read, rows(), strict=True) if one != other] == []


# --- units ----------------------------------------------------------------------------------------


def test_units() -> None:
    assert unit_of("square miles") == "mile**2"
    assert unit_of("Quadratmeilen", "de") == "mile**2"
    assert unit_of("seasons") == ""
    assert (dimension("foot"), dimension("USD"), dimension("")) == ("length", "money", "")
    assert convert(1083, "foot", "meter") == pytest.approx(330.1, abs=0.01)
    assert convert(5, "USD", "EUR") is None
    assert convert(5, "meter", "second") is None
    assert convert(20, "degree_Celsius", "degree_Fahrenheit") == pytest.approx(68)


# --- names ----------------------------------------------------------------------------------------


def test_names() -> None:
    assert same_name("einstein", "einsteins")
    assert same_name("бренк", "бренка")
    assert not same_name("vienne", "vienna")
    assert not same_name("holm", "holmberg")


# --- whole values ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "quote", "kept"),
    [
        ("661", "The tower is 661 ft (201 m) tall.", "661 ft"),
        ("201", "The tower is 661 ft (201 m) tall.", "201 m"),
        ("661", "| Height | 661 ft |", "661 ft"),
        ("310", "| Height (m) | 310 |", "310 m"),
        ("1,200", "It covers 1,200 m2 of land.", "1,200 m2"),
        ("5 million", "It cost $5 million in 1912.", "$5 million"),
        ("40", "About 40 percent of them stayed.", "40 percent"),
        ("729", "It had 729 inhabitants at the 2010 census.", "729"),
        ("98", "Low Tide is a 98-minute film.", "98"),
        ("36", "It is 360 miles long.", "36"),
        ("1886", "It was opened in 1886.", "1886"),
        ("Velm", "Velm is 3 km away.", "Velm"),
        ("12", "", "12"),
    ],
)
def test_a_number_keeps_the_unit_of_its_quote(value: str, quote: str, kept: str) -> None:
    assert with_unit(value, "It is told elsewhere.", quote) == kept


@pytest.mark.parametrize(
    ("text", "cut", "whole"),
    [
        ("The mayor is Ines Korr.", "es Korr", "Ines Korr"),
        ("The mayor is Ines Korr.", "Ines Ko", "Ines Korr"),
        ("Ines Korr's house", "Ines Korr", "Ines Korr"),
        ("Jean-Luc Orm came", "Luc Orm", "Luc Orm"),
        ("It opened in 1990.", "199", "1990"),
        ("市長は田中太郎です", "田中太郎", "田中太郎"),
    ],
)
def test_a_span_is_widened_to_whole_words(text: str, cut: str, whole: str) -> None:
    start = text.index(cut)
    begin, end = whole_words(text, start, start + len(cut))
    assert text[begin:end] == whole
