"""Questions on tables and lists of invented articles, read as the built-in backend reads a window."""

from __future__ import annotations

import pytest

from fakes.index_free_loop import answer, best, read
from fakes.invented_tables import ALBUMS, BRIDGES, MAYORS, PAGES, PARKS, RIVERS, SHOT_MAYORS
from iterative_rag.builtin.reasoning.thresholds import CAREFUL


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("In which town is the Mill Bridge?", "Tellin"),
        ("When was the Ferry Bridge opened?", "1954"),
        ("How long is the Harbour Bridge?", "1,204 m"),
        ("What material is the Sorrel Bridge made of?", "iron"),
        ("What is the longest bridge of the Orr?", "Gull Bridge"),
        ("What is the third longest bridge of the Orr?", "Ferry Bridge"),
        ("What is the oldest bridge of the Orr?", "Old Bridge"),
        ("What is the longest bridge in Varnholm?", "King's Bridge"),
        ("What is the longest bridge of the Orr opened before 1900?", "King's Bridge"),
        ("How many bridges of the Orr are in Tellin?", "3"),
        ("How many bridges of the Orr were opened before 1900?", "4"),
        ("How much longer is the Gull Bridge than the Harbour Bridge?", "346 m"),
        ("Which bridges of the Orr are made of iron?", "King's Bridge and Sorrel Bridge"),
        ("Which bridges of the Orr were opened after 1960?", "Aspen Bridge, Millennium Bridge and Gull Bridge"),
        ("Which bridges were first opened in Varnholm?", "King's Bridge, Sorrel Bridge and Millennium Bridge"),
        ("Which bridges of the Orr stand in Port Elm?", "Harbour Bridge, Ferry Bridge and Gull Bridge"),
        ("Which bridge of the Orr was opened first?", "Old Bridge"),
        ("Which bridge of the Orr was opened last?", "Gull Bridge"),
    ],
)
def test_bridges(question: str, expected: str) -> None:
    assert best(question, "Bridges of the Orr", BRIDGES) == expected


@pytest.mark.parametrize("question", ["Who designed the Mill Bridge?", "When was the Mill Bridge blown up?"])
def test_a_cell_that_nothing_says_is_what_is_asked_for_is_not_built_on(question: str) -> None:
    assert all(extract.score < CAREFUL.given for extract in read(question, "Bridges of the Orr", BRIDGES))


def test_a_prize_is_nobody() -> None:
    rows = "| Oda Brenk | Letters | 1922 |\n| Per Holm | Peace | 1931 |\n"
    said = "Prizes went to these, who studied or taught there:"
    school = f"# School of Orm\n\n## Prizes\n\n{said}\n\n| Name | Prize | Year |\n|---|---|---|\n{rows}"
    assert all(extract.score < CAREFUL.given for extract in read("Who taught Oda Brenk?", "School of Orm", school))


def test_whoever_did_it_stands_under_the_deed() -> None:
    assert best("Who assassinated Ane Voss?", "List of assassinated mayors of Orm", SHOT_MAYORS) == "Bo Ruud"


def test_a_death_is_that_of_whom_the_row_is_about() -> None:
    assert best("When did Oda Brenk die?", "List of assassinated mayors of Orm", SHOT_MAYORS) == "9 May 1881"
    found = read("When did Nils Holm die?", "List of assassinated mayors of Orm", SHOT_MAYORS)
    assert all(extract.score < CAREFUL.given for extract in found)


def test_one_is_asked_for_though_a_plural_follows() -> None:
    games = "# Games\n\n| Games | |\n|---|---|\n| Host town | Tellin, Karsa |\n\nThe Games are held each year."
    assert best("Which town hosted the Games?", "Games", games) == "Tellin"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the longest river of Karsa?", "Orr"),
        ("What is the second longest river of Karsa?", "Ulla"),  # 388 miles are more than 540 km
        ("Which rivers of Karsa flow into the Grey Sea?", "Orr and Tarn"),
        ("How many rivers of Karsa flow into the Grey Sea?", "2"),
    ],
)
def test_rivers_in_two_units(question: str, expected: str) -> None:
    assert best(question, "List of rivers of Karsa", RIVERS) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which album of Nine Lamps was released in 1998?", "Tin Weather"),
        ("What was the first studio album of Nine Lamps?", "Night Ferry"),
        ("What label released The Salt Road?", "Elm Records"),
        ("Which albums did Nine Lamps release in the 1990s?", "Night Ferry, The Salt Road and Tin Weather"),
        ("Which studio album of Nine Lamps had the most sales?", "The Salt Road"),
        ("What are the total sales of the studio albums of Nine Lamps?", "765000"),
    ],
)
def test_albums(question: str, expected: str) -> None:
    assert best(question, "Nine Lamps discography", ALBUMS) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who was mayor of Varnholm after Henrik Moll?", "Ada Thorne"),
        ("Who was mayor of Varnholm before Joss Varga?", "Edda Lind"),
        ("Who was the fourth mayor of Varnholm?", "Ada Thorne"),
        ("How many mayors of Varnholm were of the Liberal party?", "2"),
        ("What party did Ada Thorne belong to?", "Labour"),
    ],
)
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
    ],
)
def test_what_a_table_does_not_hold_is_refused(question: str, title: str, text: str) -> None:
    assert all(extract.score < 0.33 for extract in read(question, title, text))


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


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which ferry of Karsa has the most passengers?", "Heron"),
        ("How many ferries of Karsa are there?", "3"),
        ("Which ferries of Karsa are there?", "Aurora, Heron and Petrel"),
    ],
)
def test_a_row_of_totals_is_no_row_like_the_others(question: str, expected: str) -> None:
    assert best(question, "Ferries of Karsa", FERRIES) == expected


def test_a_question_turned_round_is_not_answered_as_if_it_were_not() -> None:
    extracts = read("Which ferry of Karsa does not call at Varnholm?", "Ferries of Karsa", FERRIES)
    assert all(extract.score < 0.5 for extract in extracts if extract.value == "Heron")


def test_one_value_of_a_sentence_is_no_list() -> None:
    """Whoever asks for all presidents who were shot wants no name out of a sentence on one of them."""
    text = "# Karsa\n\nThe president Ada Thorne was shot by Joss Varga in 1901.\n"
    single = read("Which president of Karsa was shot?", "Karsa", text)
    several = read("Which presidents of Karsa were shot?", "Karsa", text)
    assert single[0].value == several[0].value
    assert several[0].score < single[0].score


def test_how_many_there_are_is_no_list() -> None:
    text = "# Karsa\n\nAda Thorne designed two of the best-known towers of Karsa.\n"
    assert not any(
        extract.value.startswith("two") for extract in read("Which towers did Ada Thorne design?", "Karsa", text)
    )


def test_several_items_of_an_infobox_are_a_list() -> None:
    text = "# Ada Thorne\n\n| Ada Thorne | |\n|---|---|\n| Works | Orr Bridge, roof of the Salt Hall, Gull Tower |\n"
    found = read("Which works of Ada Thorne are known?", "Ada Thorne", text)
    assert found[0].value == "Orr Bridge, roof of the Salt Hall, Gull Tower"
    assert "incomplete" not in found[0].statement


def test_an_answer_rests_on_its_rows() -> None:
    extracts = read("How many bridges of the Orr are in Tellin?", "Bridges of the Orr", BRIDGES)
    assert [extract.quote.split(" | ")[0] for extract in extracts] == [
        "| Old Bridge",
        "| Mill Bridge",
        "| Aspen Bridge",
    ]
    assert {extract.value for extract in extracts} == {"3"}
    draft, _, _ = answer("Which bridges of the Orr are made of iron?", PAGES)
    assert draft.short_answer == "King's Bridge and Sorrel Bridge"
    assert len(draft.cited) == 2
