"""Parts of a person's name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iterative_rag.builtin.question.plan import Part
from iterative_rag.builtin.reasoning.name_parts import part_of


@pytest.mark.parametrize(
    ("name", "part", "married", "context", "expected"),
    [
        ("Ann Berta Orley", Part.FIRST, "", "", "Ann"),
        ("Ann Berta Orley", Part.LAST, "", "", "Orley"),
        ("Ann Berta Orley", Part.MIDDLE, "", "", "Berta"),
        ("Karl Voss Jr.", Part.LAST, "", "", "Voss"),
        ("Ann van der Rohde", Part.LAST, "", "", "van der Rohde"),
        ("Ann Quill Orley", Part.MAIDEN, "Orley", "", "Quill"),
        ("Ann Quill", Part.MAIDEN, "Orley", "", "Quill"),
        ("Ann Orley, née Quill", Part.MAIDEN, "", "", "Quill"),
        ("Ann Orley", Part.MAIDEN, "", "Ann Orley, born Ann Quill, was a painter.", "Quill"),
    ],
)
def test_parts_of_names(name: str, part: Part, married: str, context: str, expected: str) -> None:
    assert part_of(name, part, married=married, context=context) == expected


@given(st.text(max_size=40), st.sampled_from(Part))
def test_no_name_breaks(name: str, part: Part) -> None:
    assert isinstance(part_of(name, part), str)
