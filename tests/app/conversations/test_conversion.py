""" "And in miles?": the last value in another unit, told as rounded where it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fakes.sample_answers import FACT
from iterative_rag.app.conversations.conversion import converted
from iterative_rag.computing.display import shown
from iterative_rag.types import Earlier, Exchange


@pytest.mark.parametrize(
    ("value", "unit", "text", "short"),
    [
        ("430 km", "miles", "430 km to miles ≈ 267.2 miles [1]", "267.2 miles"),
        ("1234567 m", "km", "1234567 m to km ≈ 1,235 km [1]", "1,235 km"),
        ("12 km", "m", "12 km to m = 12,000 m [1]", "12,000 m"),
    ],
)
def test_a_rounded_value_is_not_told_as_an_equal_one(value: str, unit: str, text: str, short: str) -> None:
    fact = replace(FACT, value=value, quote=f"The Vltava is {value} long.")
    earlier = Earlier((Exchange("How long is the Vltava?", value),), (fact,))
    meant = converted(f"and in {unit}?", earlier)
    assert meant is not None
    assert meant.draft is not None
    assert (meant.question, meant.draft.text, meant.draft.short_answer) == (
        f"How long is the Vltava in {unit}?",
        text,
        short,
    )
    (done,) = meant.draft.computations
    assert f"{shown(done.expression, done.result)} [1]" == text
