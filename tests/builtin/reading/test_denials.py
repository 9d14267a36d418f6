"""Which sentences say that a value or a yes is not so, and which only hold the same words."""

from __future__ import annotations

import pytest

from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reading.denials import denies_value, denies_yes
from tests.tables import table


@pytest.mark.parametrize(("question", "sentence", "value", "denied"), table(__file__, "values"))
def test_a_value_is_denied_by_its_own_clause(question: str, sentence: str, value: str, denied: bool) -> None:
    assert denies_value(read_query(question), sentence, value) is denied


@pytest.mark.parametrize(("question", "sentence", "denied"), table(__file__, "yes"))
def test_a_yes_needs_what_came_about_and_still_is(question: str, sentence: str, denied: bool) -> None:
    assert denies_yes(read_query(question), sentence) is denied
