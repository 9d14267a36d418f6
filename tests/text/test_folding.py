"""Folding: case, accents and width fall away, and places in the text stay known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iterative_rag.text.folding import folded, folded_in_place, readable


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


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("Donau\u00addampf\u00adschiff", "Donaudampfschiff"),
        ("Kir\u200bkay, V\u2060elm, \ufeffKar\u200dsa\u200c", "Kirkay, Velm, Karsa"),
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"),
        ("\u0915\u094d\u200d\u0937", "\u0915\u094d\u200d\u0937"),
        ("\U0001f468\u200d\U0001f469", "\U0001f468\u200d\U0001f469"),
        ("ﬁnal eﬀort ﬆ", "final effort st"),
        ("１９８８年 Ｖｅｌｍ", "1988年 Velm"),
        ("Cafe\u0301 Zu\u0308rich", "Café Zürich"),
        ("10⁶ m² Ann\u2011Marie ½", "10⁶ m² Ann\u2011Marie ½"),
    ],
)
def test_a_readable_text_has_no_signs_that_show_nothing(text: str, seen: str) -> None:
    assert readable(text) == seen
