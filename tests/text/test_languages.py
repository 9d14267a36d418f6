"""Which language a text is in, and the words by which it is known."""

from __future__ import annotations

import pytest

from iterative_rag.text.languages import codes, is_function_word, is_negation, language


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
