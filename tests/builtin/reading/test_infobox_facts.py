"""Values read from the subject's own infobox, and whether a value has the form of what is asked for."""

from __future__ import annotations

import pytest

from fakes.index_free_loop import window
from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reading.answer_form import fits, is_of_kind
from iterative_rag.builtin.reading.infobox_facts import infobox_fact
from iterative_rag.builtin.reading.page_units import page

TOWER = """# Velm Tower

| Velm Tower | |
|---|---|
| Height | 100 m (328 ft) |
| Owner | Bo Lund (since 1990) |
| Built | 1987–1989 |
"""


PEAK = """# Mount Orm

| Mount Orm | |
|---|---|
| Nickname | Old Nan |
| First climbers | Ann Lee, Bo Lund |
| Named after | Per Holm |
| Succeeded by | Una Voss |
| Founded | 1907 by Tom Ruud |
| Architects | Ruud & Holm (chief designer Tom Ruud) |
| Children | six sons and a daughter |
| Spouses | Una Orr (1901–1910), Ida Brun (1912–1930) |
| Neighbors | Westmark, Vell |
"""


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("How tall is the Velm Tower?", "100 m"),
        ("How tall is the Velm Tower in feet?", "328 ft"),
        ("How tall is the Velm Tower in metres?", "100 m"),
        ("Who is the owner of the Velm Tower?", "Bo Lund"),
        ("In which year was the Velm Tower completed?", "1989"),
        ("In which year was the Velm Tower built?", "1989"),
        ("When was the Velm Tower built?", "1987–1989"),
    ],
)
def test_the_part_of_a_cell_that_is_asked_for_is_read(question: str, value: str) -> None:
    found = infobox_fact(read_query(question), page(window("Velm Tower", TOWER)))
    assert found is not None
    assert found.value == value


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is Mount Orm nicknamed?", "Old Nan"),
        ("Who first climbed Mount Orm?", "Ann Lee, Bo Lund"),
        ("Who was Mount Orm named after?", "Per Holm"),
        ("Who succeeded Mount Orm?", "Una Voss"),
        ("Who designed Mount Orm?", "Ruud & Holm"),
        ("Who did Mount Orm succeed?", None),  # the other way round
        ("Who founded Mount Orm?", None),  # a year is nobody
        ("Who first climbed Mount Orm with Ann Lee?", None),
        ("Who painted Mount Orm?", None),
        ("Who was the son of Mount Orm?", None),  # "Children" may be more
        ("Who were the wives of Mount Orm?", "Una Orr and Ida Brun"),
        ("Who was the second wife of Mount Orm?", "Ida Brun"),
        ("Which countries border Mount Orm?", "Westmark, Vell"),
    ],
)
def test_a_label_that_says_what_was_done_answers(question: str, value: str | None) -> None:
    found = infobox_fact(read_query(question), page(window("Mount Orm", PEAK)))
    assert (found.value if found else None) == value


# --- the form of a value --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "value", "fitting"),
    [
        ("What is the height of the Orm Tower?", "102 m", True),
        ("What is the height of the Orm Tower?", "about 102", True),
        ("What is the population of Tellby?", "four hundred years", False),
        ("What is the population of Tellby?", "1.4 million", True),
        ("Of what did Ann Lee die?", "pneumonia", True),
        ("Which company built the Orm Bridge?", "1877", False),
        ("Which company built the Orm Bridge?", "Orm & Sons", True),
        ("Which of the Seven Bridges fell in 1877?", "1877", False),
        ("Which of the Seven Bridges fell in 1877?", "Orm Bridge", True),
        ("How long did it take to build the Orm Tower?", "1931–1970", False),
        ("How long did it take to build the Orm Tower?", "14 months", True),
        ("How long did Ann Orley rule?", "1931–1970", True),
        ("How did Ann Orley die?", "a fall from the Orm Tower", True),
    ],
)
def test_the_form_of_a_value_tells_that_it_is_not_what_is_asked_for(question: str, value: str, fitting: bool) -> None:
    assert is_of_kind(read_query(question), value) is fitting


@pytest.mark.parametrize(
    ("value", "fitting"),
    [
        ("Tom Orr Sr.", True),
        ("Tom Orr I", True),
        ("Tom Orr the Elder", True),
        ("Tom Orr", False),
        ("Tom Orr II", False),
        ("Tom Per Orr", False),
    ],
)
def test_somebody_of_the_same_name_is_told_apart_by_its_end(value: str, fitting: bool) -> None:
    assert fits(read_query("Who was the father of Tom Orr II?"), value) is fitting
