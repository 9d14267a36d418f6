"""Which values have the form of what is asked for."""

from __future__ import annotations

import pytest

from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reading.answer_form import is_of_kind


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
        ("How long did it take to build the Orm Tower?", "1931–1970", False),
        ("How long did it take to build the Orm Tower?", "14 months", True),
        ("How long did Ann Orley rule?", "1931–1970", True),
        ("How did Ann Orley die?", "3 May 1871, Tellby", False),
        ("How did Ann Orley die?", "a fall from the Orm Tower", True),
    ],
)
def test_the_form_of_a_value_tells_that_it_is_not_what_is_asked_for(question: str, value: str, fitting: bool) -> None:
    assert is_of_kind(read_query(question), value) is fitting
