"""Which values are refused for where they stand: those of another deed than is asked for, and years among counts."""

from __future__ import annotations

import pytest

from iterative_rag.builtin.question.grammar import parse
from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.question.plan import Computed, Operation
from iterative_rag.builtin.reading.answer_form import is_of_kind
from iterative_rag.builtin.reading.page_units import page
from iterative_rag.builtin.reading.value_kinds import is_of_other_kind, names_other_deed, names_otherwise
from iterative_rag.types import Window

BUILT = "It was designed by the architect Ann Orley and built by the mason Tom Ruud."


@pytest.mark.parametrize(
    ("question", "value", "text", "refused"),
    [
        ("Who designed the Orm Bridge?", "Tom Ruud", BUILT, True),
        ("Who designed the Orm Bridge?", "Ann Orley", BUILT, False),
        ("Who built the Orm Bridge?", "Tom Ruud", BUILT, False),
        ("Who painted Dawn?", "Count Rask", "Dawn is a painting that was commissioned by Count Rask.", True),
        ("Who wrote Dawn?", "Ann Orley", "Dawn was written and directed by Ann Orley.", False),
        ("Who composed the music of Dawn?", "Ann Orley", "The music was written by Ann Orley.", False),
        ("Who founded Orm Works?", "Ann Orley", "Orm Works was set up by Ann Orley.", False),
        ("How many bridges did Ann Orley build?", "1871", "In 1871 Ann Orley built bridges.", True),
        ("How many bridges did Ann Orley build?", "1871", "Ann Orley built 1871 bridges.", False),
        ("How many bridges were opened before 1900?", "nine", "Nine bridges cross it.", True),
        ("How many bridges were opened before 1900?", "four", "Four were opened before 1900.", False),
        ("How tall is the Orm Tower?", "323 feet", "The Orm Tower is 323 feet higher.", True),
        ("How tall is the Orm Tower?", "323 feet", "The Orm Tower is 323 feet high.", False),
        ("How deep is the Orr?", "430 km", "The Orr is 430 km long.", True),
        ("How long is the Orr?", "430 km", "The Orr is 430 km long.", False),
        ("How much taller is the Orm Tower?", "323 feet", "The Orm Tower is 323 feet higher.", False),
    ],
)
def test_a_value_of_another_deed_and_a_year_for_a_count_are_refused(
    question: str, value: str, text: str, refused: bool
) -> None:
    shown = page(Window("", "Orm", "", ((0, len(text)),), text))
    assert is_of_other_kind(read_query(question), shown, shown.units[0], value) is refused


def test_a_row_of_another_measure_is_refused() -> None:
    text = "# Orm Bridge\n\n| Orm Bridge | |\n|---|---|\n| Length | 516 m |\n| Crosses | Vell |\n"
    shown = page(Window("", "Orm Bridge", "", ((0, len(text)),), text))
    row = next(unit for unit in shown.units if unit.cells and unit.cells[0] == "Length")
    assert is_of_other_kind(read_query("What is the height of the Orm Bridge?"), shown, row, "516 m")
    assert not is_of_other_kind(read_query("What is the length of the Orm Bridge?"), shown, row, "516 m")
    assert not is_of_other_kind(read_query("How long is the Orm Bridge?"), shown, row, "516 m")


def test_the_label_of_an_infobox_row_is_no_value() -> None:
    text = "# Ann Orley\n\n| Ann Orley | |\n|---|---|\n| Founded | Orm School |\n| Died | 1871, Tellby |\n"
    shown = page(Window("", "Ann Orley", "", ((0, len(text)),), text))
    row = next(unit for unit in shown.units if unit.cells and unit.cells[0] == "Died")
    assert is_of_other_kind(read_query("Who founded Orm School?"), shown, row, "Died")
    assert not is_of_other_kind(read_query("Where did Ann Orley die?"), shown, row, "Tellby")


@pytest.mark.parametrize(
    ("question", "row", "value", "refused"),
    [
        ("What is the population of Tellby?", "Tellby", "1", True),
        ("What is the rank of Tellby?", "Tellby", "1", False),
        ("What trade did Ann Lee learn?", "Bo Lee", "mason", True),
        ("What trade did Bo Lee learn?", "Bo Lee", "mason", False),
        ("What trade did B. Lee learn?", "Bo Lee", "mason", False),
    ],
)
def test_a_rank_is_no_amount_and_a_row_of_a_namesake_says_nothing(
    question: str, row: str, value: str, refused: bool
) -> None:
    text = "# Orm\n\n| Name | Trade | Rank by size |\n|---|---|---|\n| Tellby | port | 1 |\n| Bo Lee | mason | 2 |\n"
    shown = page(Window("", "Orm", "", ((0, len(text)),), text))
    unit = next(unit for unit in shown.units if unit.cells[:1] == (row,))
    assert is_of_other_kind(read_query(question), shown, unit, value) is refused


@pytest.mark.parametrize(
    ("question", "value", "fitting"),
    [
        ("What is the height of the Orm Tower?", "102 floors", False),
        ("What is the height of the Orm Tower?", "102 m", True),
        ("What is the height of the Orm Tower?", "about 102", True),
        ("What is the population of Tellby?", "four hundred years", False),
        ("What is the population of Tellby?", "1.4 million", True),
        ("Of what did Ann Lee die?", "4 July 1934", False),
        ("Of what did Ann Lee die?", "pneumonia", True),
        ("Which company built the Orm Bridge?", "1877", False),
        ("Which company built the Orm Bridge?", "Orm & Sons", True),
        ("Which of the Seven Bridges fell in 1877?", "1877", False),
        ("Which of the Seven Bridges fell in 1877?", "Orm Bridge", True),
    ],
)
def test_the_form_of_a_value_tells_that_it_is_not_what_is_asked_for(question: str, value: str, fitting: bool) -> None:
    assert is_of_kind(read_query(question), value) is fitting


@pytest.mark.parametrize(("deed", "other"), [("designed", True), ("built", False)])
def test_a_claim_about_another_deed_of_the_person_is_told(deed: str, other: bool) -> None:
    unit = page(Window("", "Orm Bridge", "", ((0, len(BUILT)),), BUILT)).units[0]
    assert names_other_deed(read_query(f"Was the Orm Bridge {deed} by Tom Ruud?"), unit) is other


@pytest.mark.parametrize(
    ("text", "inverse"),
    [
        ("Una Lee was the elder daughter of Ann Lee.", True),
        ("Una Lee was a chemist like her mother Ann Lee.", True),
        ("Una Lee was the mother of Ann Lee.", False),
        ("Una Lee, a chemist, brought Ann Lee to Tellby.", False),
    ],
)
def test_a_claim_of_kin_is_not_proved_by_the_inverse(text: str, inverse: bool) -> None:
    unit = page(Window("", "Una Lee", "", ((0, len(text)),), text)).units[0]
    assert names_otherwise(read_query("Is Una Lee the mother of Ann Lee?"), unit) is inverse


def test_whether_a_name_is_what_is_described_is_looked_up_and_compared() -> None:
    plan = parse("Is Tellby the capital of Orm?")
    assert isinstance(plan, Computed)
    assert plan.operation is Operation.HOLDS


@pytest.mark.parametrize(
    ("question", "value", "fits"),
    [
        ("How long did it take to build the Orm Tower?", "1931–1970", False),
        ("How long did it take to build the Orm Tower?", "14 months", True),
        ("How long did Ann Orley rule?", "1931–1970", True),
        ("How did Ann Orley die?", "3 May 1871, Tellby", False),
        ("How did Ann Orley die?", "a fall from the Orm Tower", True),
    ],
)
def test_years_are_no_duration_and_a_day_is_no_manner(question: str, value: str, fits: bool) -> None:
    assert is_of_kind(read_query(question), value) is fits
