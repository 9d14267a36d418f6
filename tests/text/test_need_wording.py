"""Needs in short, and which values they name."""

from __future__ import annotations

import pytest

from iterative_rag.text.need_wording import label, values_named


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


VALUES = (
    "Harriet Lane",
    "James Buchanan",
    "James A. Garfield",
    "Jane Ann Elliott Buchanan Lane",
    "Eliza Ballou",
    "19 September 1881",
    "a wooden bridge",
    "No",
)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Who was the mother of Harriet Lane?", ["Harriet Lane"]),
        ("Who was James Garfield's mother?", ["James A. Garfield"]),
        ("who was garfield's mother", ["James A. Garfield"]),
        ("Wie heißt die Mutter Garfields?", ["James A. Garfield"]),
        ("Who is called Jane Ballou?", ["Jane Ann Elliott Buchanan Lane", "Eliza Ballou"]),
        ("Who was president in 1881?", ["19 September 1881"]),
        ("Who built the wooden bridge?", ["a wooden bridge"]),
        ("Who was the first lady that had no children?", []),
    ],
)
def test_the_values_that_a_need_names(question: str, named: list[str]) -> None:
    assert [VALUES[n] for n in values_named(question, VALUES, "Who was the first lady?")] == named


def test_what_was_known_before_is_no_value_of_another_need() -> None:
    assert values_named("Who was Harriet Lane's mother?", VALUES, "Who was the mother of Harriet Lane?") == ()
    assert values_named("Who was Abraham Lincoln's wife?", ["Abraham Lincoln"], "Who was Lincoln's wife?") == (0,)
    assert values_named("北京的市长是谁?", ["上海", "北京"], "中国首都的市长是谁?") == (1,)
