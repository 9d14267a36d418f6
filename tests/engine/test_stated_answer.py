"""An answer that what was read states needs no call of a model; anything less plain does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fakes.sample_answers import FACT
from iterative_rag.engine.single_look_up import StatedAnswer
from iterative_rag.types import Draft, Fact, Inquiry, Need

BORN = "Where was Oda Brenk born?"
TARN = "Oda Brenk was born in Tarn in 1874."
WRITTEN = Draft(True, "Written [1].", "written", (0,))


class Writing:
    """An Answerer that stands for a call of a model."""

    def answer(self, inquiry: Inquiry, *, last_attempt: bool = False, advice: str = "") -> Draft:
        return WRITTEN


def stating(question: str, statement: str, value: str, quote: str = "") -> Fact:
    return replace(FACT, need=Need(question), statement=statement, quote=quote or statement, value=value)


def drafted(question: str, *facts: Fact, advice: str = "") -> Draft:
    return StatedAnswer(Writing()).answer(Inquiry(question, question, facts), advice=advice)


def test_a_stated_answer_is_taken_as_it_stands() -> None:
    draft = drafted(BORN, stating(BORN, TARN, "Tarn"), stating(BORN, "Tarn is where Oda Brenk was born.", "tarn"))
    assert (draft.answered, draft.text, draft.short_answer) == (True, f"{TARN.rstrip('.')} [1].", "Tarn")
    assert draft.cited == (0,)


@pytest.mark.parametrize(
    ("question", "statement", "value", "quote"),
    [
        (BORN, TARN, "", ""),
        (BORN, TARN, "Orm", ""),
        (BORN, TARN, "Tarn", "She was born there in 1874."),
        (BORN, "Oda Brenk was born in Tarn to Ada Thorn.", "Tarn", TARN),
        (BORN, "Oda Brenk was born in Tarn in 1999.", "Tarn", TARN),
        (BORN, "Oda Brenk wurde im Jahr 1874 in der Stadt Tarn geboren und lebte dort.", "Tarn", ""),
        (BORN, "Oda Brenk was not born in Tarn.", "Tarn", ""),
        (BORN, "Oda Brenk wasn’t born in Tarn.", "Tarn", ""),
        ("Wo wurde Oda Brenk geboren?", TARN, "Tarn", ""),
        ("Was Oda Brenk born in Tarn?", TARN, "Tarn", ""),
        ("When was Oda Brenk born?", TARN, "Tarn", ""),
        ("How old was Oda Brenk?", "Oda Brenk was born in 1874.", "1874", ""),
        ("How tall is Velm Tower in feet?", "Velm Tower is 120 m tall.", "120 m", ""),
    ],
)
def test_what_is_not_stated_is_left_to_the_model(question: str, statement: str, value: str, quote: str) -> None:
    assert drafted(question, stating(question, statement, value, quote)) == WRITTEN


def test_values_that_differ_and_objections_are_left_to_the_model() -> None:
    tarn, orm = stating(BORN, TARN, "Tarn"), stating(BORN, "Oda Brenk was born in Orm.", "Orm")
    assert drafted(BORN, tarn, orm) == WRITTEN
    assert drafted(BORN, tarn, stating("Who was her mother?", TARN, "Tarn")) == WRITTEN
    assert drafted(BORN, tarn, advice="No fact proves it.") == WRITTEN
    assert drafted(BORN) == WRITTEN
