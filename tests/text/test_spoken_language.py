"""Which language a question or a document is in."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iterative_rag.text.spoken_language import language_of_text

QUESTIONS = tomllib.loads((Path(__file__).parent / "questions_by_language.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("code", QUESTIONS)
def test_questions_are_told_by_their_words(code: str) -> None:
    told = [language_of_text(question) for question in QUESTIONS[code]]
    assert told.count(code) >= len(told) - 1
    assert set(told) <= {code, ""}


@pytest.mark.parametrize(
    "question",
    [
        "Who is the mayor of Aldermere?",
        "Who was Jacques Chirac's Vater?",
        "who juan ponce de leon?",
        "Which came first, Ne Jouez Pas Avec Les Martiens or A Hijacking?",
        "Are Béatrice et Bénédict and Les pêcheurs de perles both operas?",
        "Which opera premiered first, La clemenza di Tito or Idomeneo?",
        "What does 紅樓夢 mean?",
        "Jacques Chirac",
        "Johann Sebastian Bach?",
        "Gonzalo García de Santa María",
        "Harriet Lane mother",
        "When?",
        "x",
        "?",
        "",
        "12 + 30",
    ],
)
def test_english_questions_and_names_are_taken_for_no_other_language(question: str) -> None:
    assert language_of_text(question) in {"en", ""}


@given(st.text(max_size=60))
def test_any_text_has_a_language_or_none(text: str) -> None:
    assert len(language_of_text(text)) in {0, 2}
