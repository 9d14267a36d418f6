"""What the built-in backend reads out of invented articles: infoboxes, tables, leads and prose."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.index_free_loop import best, read
from fakes.invented_articles import ANN, MASTS, RIVER
from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reading.infobox_facts import infobox_fact
from iterative_rag.builtin.reading.page_units import page
from iterative_rag.types import Window
from tests.tables import table

LIVES = """**Gerd Holm** (2 August 1834, Tellby – 4 October 1904, Lornfield) was a Westmarkian sculptor.

Holm moved to Old Haven, now Newport Holm, in 1860. The film about her life was directed by Iver Dahl and produced by
Ann Torp. She was the mother of the painter Peer Holm.
"""
TOWER = """# Orm Tower

| Orm Tower | |
|---|---|
| Architect | Ann Orley |
| Area | 2,034 km² |
| Capital | Port of Orm Tower |
| First performance | City Theatre, Tellby |
| Deputy keeper | Gerd Holm |
| Prizes | Harp Prize (1954), Lute Prize (1962) |
| Keepers | Berta Quill (1901–1910), Karl Voss (1910–1922), Iver Dahl (since 1922) |
| Population | 278,349 (2020 census) |

The Orm Tower is a landmark of Westmark. The German sailor Peer Lund fell from it.
The carpenter Tom Ruud died of lung cancer there.
"""


@pytest.mark.parametrize(("question", "expected"), table(__file__, "person"))
def test_a_person(question: str, expected: str) -> None:
    assert best(question, "Ann Orley", ANN) == expected


@pytest.mark.parametrize(("question", "expected"), table(__file__, "river"))
def test_a_river(question: str, expected: str) -> None:
    value = best(question, "Brell", RIVER)
    assert value is not None
    assert value.removeprefix("The ").startswith(expected)


@pytest.mark.parametrize(("question", "expected"), table(__file__, "masts"))
def test_a_table_is_read_in_the_row_that_the_question_names(question: str, expected: str) -> None:
    assert best(question, "List of masts of Westmark", MASTS) == expected


@pytest.mark.parametrize(("question", "expected"), table(__file__, "prose"))
def test_prose_as_encyclopedias_write_it(question: str, expected: str) -> None:
    assert best(question, "Gerd Holm", LIVES) == expected


@pytest.mark.parametrize(("question", "expected"), table(__file__, "cells"))
def test_cells_with_remarks_and_plain_words(question: str, expected: str) -> None:
    assert best(question, "Orm Tower", TOWER) == expected


def test_none_is_told_from_not_said() -> None:
    text = "# Karl Voss\n\n| Karl Voss | |\n|---|---|\n| Born | 1800, Orm |\n| Spouse | none |\n"
    assert best("Who was the wife of Karl Voss?", "Karl Voss", text) == "none"


@pytest.mark.parametrize(
    ("question", "title", "text"),
    [
        ("Who is Gerd Holm's mother?", "Ann Orley", ANN),
        ("How long is the Ulla?", "Brell", RIVER),
        ("What was the favourite dish of Ann Orley?", "Ann Orley", ANN),
        ("In which year did Ann Orley begin her second term as mayor?", "Ann Orley", ANN),
        ("Which floor of the Orm Mast did Gerd Holm paint?", "List of masts of Westmark", MASTS),
        ("Who named the Orm Tower?", "Orm Tower", TOWER),
        ("Who was the wife of Ann Orley's father?", "Orm Tower", TOWER),
        ("In which year was the Orm Tower's architect born?", "Orm Tower", TOWER),
    ],
)
def test_what_a_page_does_not_say_is_at_most_a_guess(question: str, title: str, text: str) -> None:
    assert all(extract.score < 0.5 for extract in read(question, title, text))


PAGE_LIKE = st.lists(
    st.sampled_from(
        ["# ", "| ", " |\n", "|---|---|\n", "\n\n", "Ann Orley", " was born in ", "1801", ", ", "Lornfield", ". ", "* "]
    ),
    max_size=60,
).map("".join)
ASKED = st.sampled_from(
    [
        "Where was Ann Orley born?",
        "How long is the Brell in km?",
        "What is the tallest mast?",
        "Is Ann Orley older?",
        "",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.one_of(ASKED, st.text(max_size=80)), st.one_of(PAGE_LIKE, st.text(max_size=400)))
def test_a_quote_always_stands_in_the_window(question: str, text: str) -> None:
    for extract in read(question, "Ann Orley", text):
        assert extract.quote in text
        assert "\n" not in extract.quote
        assert extract.value
        assert 0.0 < extract.score <= 1.0


@pytest.mark.parametrize(("born", "question", "expected"), table(__file__, "births"))
def test_a_birth_in_an_infobox_is_date_and_place(born: str, question: str, expected: str) -> None:
    text = f"# Sigrid Holt\n\n| Sigrid Holt | |\n|---|---|\n| Born | {born} |\n| Mother | Janna Reed Holt |\n"
    assert best(question, "Sigrid Holt", text) == expected


@pytest.mark.parametrize(("text", "question", "expected"), table(__file__, "struck"))
def test_what_is_struck_is_no_value(text: str, question: str, expected: str) -> None:
    assert best(question, "Ferry fares", f"# Ferry fares\n\n{text}\n") == expected


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("Berta Quill (1901–1910), Karl Voss (1910–1922)", "Berta Quill"),
        ("Berta Quill (1901–1910), Karl Voss (the elder)", None),
        ("Berta Quill (1901–1910), Karl Voss (1910–1922) and others", None),
        ("Berta" + " " * 100_000 + "Quill", None),
        ("Berta Quill (" + "1901 " * 100_000, None),
    ],
)
def test_the_keeper_of_a_year_stands_in_a_cell_of_names_with_years_alone(cell: str, expected: str | None) -> None:
    """However long the cell is: it comes from a document, and must not keep the reading busy for hours."""
    text = f"# Orm Tower\n\n| Orm Tower | |\n|---|---|\n| Keeper | {cell} |\n| Area | 3 km² |\n"
    shown = page(Window("", "Orm Tower", "", ((0, len(text)),), text))
    found = infobox_fact(read_query("Who was the keeper of Orm Tower in 1905?"), shown)
    assert (found.value if found else None) == expected
