"""Which sentences say that a value or a yes is not so, and which only hold the same words."""

from __future__ import annotations

import pytest

from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reading.denials import denies_value, denies_yes, leaves_open
from iterative_rag.builtin.reading.page_units import PageUnit, UnitPage
from tests.tables import table


@pytest.mark.parametrize(("question", "sentence", "value", "denied"), table(__file__, "values"))
def test_a_value_is_denied_by_its_own_clause(question: str, sentence: str, value: str, denied: bool) -> None:
    assert denies_value(read_query(question), sentence, value) is denied


@pytest.mark.parametrize(("question", "sentence", "denied"), table(__file__, "yes"))
def test_a_yes_needs_what_came_about_and_still_is(question: str, sentence: str, denied: bool) -> None:
    assert denies_yes(read_query(question), sentence) is denied


@pytest.mark.parametrize(("question", "title", "sentence", "open_"), table(__file__, "no"))
def test_a_no_needs_a_denial_or_something_else_that_is_so(
    question: str, title: str, sentence: str, open_: bool
) -> None:
    unit = PageUnit(sentence, "")
    assert leaves_open(read_query(question), UnitPage(title, (unit,), sentence), unit) is open_
