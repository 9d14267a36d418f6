"""Function words."""

from __future__ import annotations

from iterative_rag.builtin.language.function_words import ordinal, stem
from iterative_rag.builtin.language.tokens import base_form


def test_words() -> None:
    assert [ordinal(word) for word in ("third", "21st", "twenty-fifth", "tower")] == [3, 21, 25, None]
    assert [base_form(word) for word in ("died", "married", "won", "released", "opened")] == [
        "die",
        "marry",
        "win",
        "release",
        "open",
    ]
    assert stem("incorporation") == stem("incorporated")
    assert stem("architects") == stem("architect")
