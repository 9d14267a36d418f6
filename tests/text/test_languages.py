"""Which language a text, a question or a document is in."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from iterative_rag.text.languages import codes, is_function_word, is_negation, language
from iterative_rag.text.spoken_language import language_of_text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Who designed the tower that was finished in 1911?", "en"),
        ("Wer hat den Turm entworfen, der 1911 vollendet wurde?", "de"),
        ("Qui a dessiné la tour qui fut achevée en 1911 ?", "fr"),
        ("¿Quién diseñó la torre que fue terminada en 1911?", "es"),
        ("Chi ha progettato la torre che fu completata nel 1911?", "it"),
        ("Quem desenhou a torre que foi terminada em 1911?", "pt"),
        ("Wie heeft de toren ontworpen die in 1911 klaar was?", "nl"),
        ("Velm Tower", ""),
    ],
)
def test_the_language_of_a_text(text: str, code: str) -> None:
    assert language(text) == code


def test_function_words_and_negations() -> None:
    assert set(codes()) == {"en", "de", "fr", "es", "it", "pt", "nl"}
    assert is_function_word("the", "en")
    assert is_function_word("perhaps", "en")
    assert not is_function_word("tower", "en")
    assert is_negation("nicht", "de")
    assert not is_negation("nicht", "en")


# --- questions and documents ----------------------------------------------------------------------


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
        "Did Gina Brandelli climb Monte Velli?",
        "Steffi Velli or Gennaro Caprini?",
        "When?",
        "x",
        "?",
        "",
        "12 + 30",
    ],
)
def test_english_questions_and_names_are_taken_for_no_other_language(question: str) -> None:
    assert language_of_text(question) in {"en", ""}
