"""The kind of answer that a question asks for."""

from __future__ import annotations

import pytest

from iterative_rag.verification.answer_type import Asked, is_of_kind, kind_asked


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many towers stand in Karsa?", Asked.NUMBER),
        ("In which year was it finished?", Asked.TIME),
        ("Wie viele Türme stehen in Karsa?", Asked.NUMBER),
        ("Wann wurde er gebaut?", Asked.TIME),
        ("Quand est-elle née ?", Asked.TIME),
        ("¿Cuántos años tenía?", Asked.NUMBER),
        ("Who designed the tower when it was built?", Asked.ANY),
        ("What is the name?", Asked.ANY),
    ],
)
def test_question_words_tell_what_is_asked(question: str, kind: Asked) -> None:
    assert kind_asked(question) is kind


def test_only_a_plain_mismatch_is_not_of_the_kind() -> None:
    assert not is_of_kind("How many towers stand in Karsa?", "the tower of Oda Brenk")
    assert is_of_kind("How many towers stand in Karsa?", "twelve towers of stone")
    assert is_of_kind("How many towers stand in Karsa?", "none")
    assert is_of_kind("How long does it take?", "from dawn until the evening")
