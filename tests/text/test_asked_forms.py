"""Which form of answer the words of a question name, and what they overrule."""

from __future__ import annotations

import pytest

from iterative_rag.text.asked_forms import asked_form, sound_form
from iterative_rag.types import AnswerForm
from tests.tables import table

EXPLANATION, SUMMARY, TABLE = AnswerForm.EXPLANATION, AnswerForm.SUMMARY, AnswerForm.TABLE
REPORT, VALUE = AnswerForm.REPORT, AnswerForm.VALUE


@pytest.mark.parametrize(("question", "form"), table(__file__, "asked"))
def test_the_form_that_the_words_name(question: str, form: str) -> None:
    assert asked_form(question) is (AnswerForm(form) if form else None)


@pytest.mark.parametrize(
    ("said", "question", "form"),
    [
        (VALUE, "Why was it built?", EXPLANATION),
        (AnswerForm.LIST, "Why was it built?", EXPLANATION),
        (SUMMARY, "Why was it built?", SUMMARY),
        (EXPLANATION, "Who built it?", VALUE),
        (VALUE, "How is the river called that flows through Karsa?", VALUE),
        (None, "How was Velm Tower built?", EXPLANATION),
        (None, "Velm Tower's architect", VALUE),
        (TABLE, "Velm Tower and Orra Tower", TABLE),
    ],
)
def test_a_model_is_overruled_only_where_it_is_plainly_wrong(
    said: AnswerForm | None, question: str, form: AnswerForm
) -> None:
    assert sound_form(said, question) is form
