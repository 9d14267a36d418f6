"""Needs in short, and which of them builds on the value of another."""

from __future__ import annotations

import pytest

from iterative_rag.text.need_wording import builds_on, label


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("Who is the 15th first lady of the United States?", "15th first lady of the United States"),
        ("Who was Harriet Lane's mother?", "Harriet Lane's mother"),
        ("What is the capital of France known for?", "What is the capital of France known for?"),
        ("Who was the founder of Orm and when did he die?", "Who was the founder of Orm and when did he die?"),
        ("Who was first lady when Ann's son was born?", "Who was first lady when Ann's son was born?"),
        ("Who was married to Ann Lee?", "Who was married to Ann Lee?"),
        ("When was Ann Lee born?", "When was Ann Lee born?"),
        ("Wer ist die Mutter von Ann Lee?", "Wer ist die Mutter von Ann Lee?"),
    ],
)
def test_the_label_of_a_need(question: str, short: str) -> None:
    assert label(question) == short


@pytest.mark.parametrize(
    ("value", "named"),
    [("James A. Garfield", True), ("Garfield", True), ("Gar", False), ("", False), ("…", False)],
)
def test_a_need_that_names_a_value(value: str, named: bool) -> None:
    assert builds_on("Who is James A. Garfield's mother?", value) is named
