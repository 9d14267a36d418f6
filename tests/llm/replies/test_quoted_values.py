"""What a model wrote, held against what it was shown: right values stay in any writing, others go."""

from __future__ import annotations

import pytest

from iterative_rag.llm.replies.quoted_values import borne_out
from iterative_rag.types import Extract, Need, Window
from tests.tables import table
from tests.text.table import rows

GERMAN = "Der Turm von Karsa und das Haus, in dem er wohnte, stehen noch."
TURKISH = "Bu kule bir mimar tarafından yapılmış ve daha sonra yıkılmıştır."


def kept(value: str, quote: str, *, text: str = "", question: str = "What of Velm Tower?") -> str:
    """The value that is left of an extract."""
    window = Window("velm", "Velm Tower", "velm.md", ((0, 9),), f"{text} {quote}")
    return borne_out(Extract(quote, quote, value), Need(question), window).value


def stated(statement: str, text: str) -> bool:
    """Whether a statement stays as it is beside a quote that says nothing."""
    window = Window("velm", "Velm Tower", "velm.md", ((0, 9),), text)
    return borne_out(Extract(statement, "It is so."), Need("What of it?"), window).statement == statement


KEPT = table(__file__, "kept")
GONE = table(__file__, "gone")


@pytest.mark.parametrize("case", KEPT)
def test_a_value_is_kept_that_the_quote_bears_out(case: tuple[str, ...]) -> None:
    value, quote, *text = case
    assert kept(value, quote, text="".join(text)) == value


@pytest.mark.parametrize("case", GONE)
def test_another_value_goes(case: tuple[str, ...]) -> None:
    value, quote, *text = case
    assert kept(value, quote, text="".join(text)) == ""


def test_a_name_may_be_whole_in_the_window_and_short_in_the_quote() -> None:
    text = "Eugene Meyer bought the paper in 1933."
    assert kept("Eugene Meyer", "Meyer sold it in 1946.", text=text) == "Eugene Meyer"
    assert kept("Eugene Meyer", "Meyer sold it in 1946.") == ""
    assert kept("Eugene Meyer", "He sold it in 1946.", text=text) == ""
    assert kept("Agnes Meyer", "Meyer sold it in 1946.", text=text) == ""


def test_yes_and_no_answer_what_asks_for_them() -> None:
    quote = "The tower stood until 1950."
    assert kept("yes", quote, question="Did Velm Tower stand in 1940?") == "yes"
    assert kept("No", quote, question="Was Velm Tower built in 1951?") == "No"
    assert kept("ja", quote, question="Stand der Turm 1940?") == "ja"
    assert kept("yes", quote, question="Who built Velm Tower?") == ""
    assert kept("yes", quote, question="In which year did Velm Tower fall?") == ""


@pytest.mark.parametrize(
    ("value", "left"),
    [("yes, Velm Tower", "yes, Velm Tower"), ("No: it fell in 1950", "No"), ("Yes (for Orm)", "Yes")],
)
def test_yes_with_more_behind_it_is_kept_as_far_as_the_quote_goes(value: str, left: str) -> None:
    """It was taken for a value that the quote does not state, and its need for one without an answer."""
    quote = "The tower stood until 1950."
    assert kept(value, quote, question="Did Velm Tower stand in 1940?") == left
    assert kept(value, quote, question="How long did Velm Tower stand?") == ""


SHOWN = table(__file__, "shown")
NOT_SHOWN = table(__file__, "not_shown")


@pytest.mark.parametrize(("statement", "text"), [*SHOWN, *NOT_SHOWN])
def test_a_statement_stays_where_all_that_it_names_was_shown(statement: str, text: str) -> None:
    assert stated(statement, f"{text} {GERMAN}" if "Gipfel" in text else text) is ((statement, text) in SHOWN)


def test_every_text_of_the_table_is_held_by_itself() -> None:
    for row in rows():
        if row.meaning:
            assert kept(row.text, f"Velm Tower: {row.text}.") == row.text
            assert stated(f"It is so: {row.text}", f"Velm Tower: {row.text}."), row


def test_a_value_of_the_table_is_kept_as_it_is_shown() -> None:
    for row in rows():
        if row.code == "en" and row.meaning and not set("~<>;*_/") & set(row.meaning):
            assert kept(row.meaning, f"Velm Tower: {row.text}.") == row.meaning
