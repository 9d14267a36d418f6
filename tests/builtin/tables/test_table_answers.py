"""Questions on tables and lists of invented articles, read as the built-in backend reads a window."""

from __future__ import annotations

import pytest

from fakes.index_free_loop import answer, best, read
from fakes.invented_articles import ALBUMS, BRIDGES, MAYORS, PARKS, RIVERS, TABLE_PAGES
from iterative_rag.builtin.reasoning.answer_trust import CAREFUL
from tests.tables import table


@pytest.mark.parametrize(("question", "expected"), table(__file__, "bridges"))
def test_bridges(question: str, expected: str) -> None:
    assert best(question, "Bridges of the Orr", BRIDGES) == expected


@pytest.mark.parametrize("question", ["Who designed the Mill Bridge?", "When was the Mill Bridge blown up?"])
def test_a_cell_that_nothing_says_is_what_is_asked_for_is_not_built_on(question: str) -> None:
    assert all(extract.score < CAREFUL.given for extract in read(question, "Bridges of the Orr", BRIDGES))


TRIBUTARIES = """# Ormava

The Ormava is the longest river of Karsa.

## Tributaries

| Tributary | Side | Joins at |
|---|---|---|
| Lusk | right | Tyne |
| Sorn | left | Tellby |
"""


def test_a_word_near_the_noun_does_not_tell_of_the_relation() -> None:
    """The tributary that joins a river at a town is not the river that flows through it."""
    question = "Which river flows through Tellby?"
    assert all(extract.score < CAREFUL.given for extract in read(question, "Ormava", TRIBUTARIES))
    assert best("Which tributary joins the Ormava at Tellby?", "Ormava", TRIBUTARIES) == "Sorn"


GAMES = """# Games of Karsa

The Games of Karsa are held every second year.

## Games

| Year | Host town | Winner | Named after |
|---|---|---|---|
| 1901 | Tellby | Ada Orr | Oda Brenk |
| 1903 | Orneby | Bo Lind | Ines Vane |
| 1905 | Tellby | Bo Lind | Per Holm |
"""
NOVELS = """# Ada Orr

Ada Orr was a writer.

## Novels

| Title | Year | Editor |
|---|---|---|
| The Dike | 1911 | Tom Ruud |
| Low Water | 1913 | Una Voss |
"""


@pytest.mark.parametrize(
    ("question", "title", "value"),
    [
        ("Who won the Games of Karsa in 1903?", "Games of Karsa", "Bo Lind"),
        ("Where were the Games of Karsa of 1903 held?", "Games of Karsa", "Orneby"),
        ("How many times did Bo Lind win the Games of Karsa?", "Games of Karsa", "2"),
        ("After whom were the Games of Karsa of 1901 named?", "Games of Karsa", "Oda Brenk"),
        ("When did Ada Orr publish Low Water?", "Ada Orr", "1913"),
        ("Where did Ada Orr edit Low Water?", "Ada Orr", None),  # nobody is a place
        ("When was Low Water by Ada Orr banned?", "Ada Orr", None),  # the year says nothing of that
    ],
)
def test_a_column_tells_what_its_header_says_in_other_words(question: str, title: str, value: str | None) -> None:
    given = [
        extract.value
        for extract in read(question, title, GAMES if "Games" in title else NOVELS)
        if extract.score >= CAREFUL.given
    ]
    assert given[:1] == ([value] if value else [])


@pytest.mark.parametrize(("question", "expected"), table(__file__, "rivers"))
def test_rivers_in_two_units(question: str, expected: str) -> None:
    assert best(question, "List of rivers of Karsa", RIVERS) == expected


@pytest.mark.parametrize(("question", "expected"), table(__file__, "albums"))
def test_albums(question: str, expected: str) -> None:
    assert best(question, "Nine Lamps discography", ALBUMS) == expected


@pytest.mark.parametrize(("question", "expected"), table(__file__, "mayors"))
def test_mayors(question: str, expected: str) -> None:
    assert best(question, "List of mayors of Varnholm", MAYORS) == expected


def test_a_bulleted_list() -> None:
    assert best("Which parks are in Port Elm?", "Parks of Port Elm", PARKS) == (
        "Elm Park, Harbour Green, Gull Meadow and Rose Garden"
    )
    assert best("How many parks of Port Elm are there?", "Parks of Port Elm", PARKS) == "4"


@pytest.mark.parametrize(
    ("question", "title", "text"),
    [
        ("How many people live in Tellin?", "Bridges of the Orr", BRIDGES),
        ("What is the tallest tower of the Orr?", "Bridges of the Orr", BRIDGES),
        ("Which bridges cross the Sorn?", "Bridges of the Orr", BRIDGES),
        ("What is the longest river of Velmark?", "List of rivers of Karsa", RIVERS),
        ("How many singles of Nine Lamps reached number one?", "Nine Lamps discography", ALBUMS),
        ("Who was the ninth mayor of Varnholm?", "List of mayors of Varnholm", MAYORS),
        ("Which countries border on Karsa?", "List of rivers of Karsa", RIVERS),
        ("Which river of Karsa is the second or third longest?", "List of rivers of Karsa", RIVERS),
        ("Which is the latest novel?", "Ada Orr", NOVELS),  # of all novels
    ],
)
def test_what_a_table_does_not_hold_is_refused(question: str, title: str, text: str) -> None:
    assert all(extract.score < CAREFUL.given for extract in read(question, title, text))


def test_rows_that_may_be_missing_are_not_counted_or_ranked() -> None:
    cut = BRIDGES.replace("| Aspen Bridge", "[...]\n| Aspen Bridge").replace("Nine bridges cross it.", "")
    assert best("How long is the Harbour Bridge?", "Bridges of the Orr", cut) == "1,204 m"
    assert best("How many bridges of the Orr are in Tellin?", "Bridges of the Orr", cut) is None


FERRIES = """# Ferries of Karsa

| Ferry | Harbour | Passengers |
| --- | --- | --- |
| Aurora | Tellin | 410 |
| Heron | Varnholm | 1,250 |
| Petrel | Tellin | 780 |
| Total | | 2,440 |
"""


@pytest.mark.parametrize(("question", "expected"), table(__file__, "ferries"))
def test_a_row_of_totals_is_no_row_like_the_others(question: str, expected: str) -> None:
    assert best(question, "Ferries of Karsa", FERRIES) == expected


def test_an_answer_rests_on_its_rows() -> None:
    extracts = read("How many bridges of the Orr are in Tellin?", "Bridges of the Orr", BRIDGES)
    counted = [extract for extract in extracts if extract.value == "3"]
    assert [extract.quote.split(" | ")[0] for extract in counted] == ["| Old Bridge", "| Mill Bridge", "| Aspen Bridge"]
    # A sentence that counts all of them is offered, too, and trusted less.
    assert all(extract.score < counted[0].score for extract in extracts if extract not in counted)
    draft, _, _ = answer("Which bridges of the Orr are made of iron?", TABLE_PAGES)
    assert draft.short_answer == "King's Bridge and Sorrel Bridge"
    assert len(draft.cited) == 2
