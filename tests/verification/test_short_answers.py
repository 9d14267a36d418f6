"""What a sentence says of a short answer beside it: the same in other words, or something else."""

from __future__ import annotations

import pytest

from iterative_rag.verification.short_answers import says
from tests.tables import table


@pytest.mark.parametrize(("question", "text", "short"), table(__file__, "says"))
def test_a_short_answer_may_say_it_in_other_words(question: str, text: str, short: str) -> None:
    assert says(text, short, question)


@pytest.mark.parametrize(("question", "text", "short"), table(__file__, "says_not"))
def test_a_short_answer_may_not_say_something_else(question: str, text: str, short: str) -> None:
    assert not says(text, short, question)
