"""Folding: case, accents and width fall away, and places in the text stay known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iterative_rag.text.folding import folded, folded_in_place


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Traoré", "traore"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("Łódź", "lodz"),
        ("ﬁn", "fin"),
        ("Ōta", "ota"),
    ],
)
def test_folding(text: str, plain: str) -> None:
    assert folded(text) == plain


@given(st.text(max_size=60))
def test_folding_in_place_keeps_every_place(text: str) -> None:
    assert len(folded_in_place(text)) == len(text)
