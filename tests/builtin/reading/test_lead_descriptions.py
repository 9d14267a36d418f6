"""What the first sentence of a page says that its subject is."""

from __future__ import annotations

import pytest

from fakes.index_free_loop import window
from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reading.lead_descriptions import lead_description
from iterative_rag.builtin.reading.page_units import page

LEE = "Ann Lee (3 May 1941 – 9 June 1999) was a Norwegian novelist and poet. She lived in Orm."


@pytest.mark.parametrize(
    ("need", "value"),
    [
        ("What is Ann Lee?", "Norwegian novelist and poet"),
        ("What is the occupation of Ann Lee?", "novelist and poet"),
        ("What is the nationality of Ann Lee?", "Norwegian"),
        ("When was Ann Lee born?", None),
        ("What is Bo Orm?", None),
    ],
)
def test_a_lead_describes_its_subject_and_answers_nothing_else(need: str, value: str | None) -> None:
    told = lead_description(read_query(need), page(window("Ann Lee", LEE)))
    assert (told.value if told else None) == value
    assert told is None or told.quote in LEE


@pytest.mark.parametrize(
    ("title", "described"), [("Ann Marie Lee", True), ("Ann Lee (poet)", True), ("Ann Lee discography", False)]
)
def test_a_page_is_about_its_title_but_for_a_middle_name(title: str, described: bool) -> None:
    text = f"{title.removesuffix(' (poet)')} is a Norwegian poet."
    assert bool(lead_description(read_query("What is Ann Lee?"), page(window(title, text)))) is described
