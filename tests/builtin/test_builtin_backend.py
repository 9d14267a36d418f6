"""The roles of the built-in backend together, on invented articles."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fakes.index_free_loop import ROLES, answer
from fakes.invented_articles import MASTS, PAGES, RIVER
from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reading.answer_form import fits, lacks_unit
from iterative_rag.types import Inquiry, Known, Need, Needs

COMPOSED = (
    "If my cat has the same first name as the 2nd queen of Orm's mother and her surname is the same as the second "
    "drowned admiral's mother's maiden name, what is her name?"
)


def test_a_composed_name_with_its_grounds() -> None:
    draft, inquiry, rephrasings = answer(COMPOSED, PAGES)
    assert draft.answered
    assert draft.short_answer == "Janna Vinter"
    cited = [inquiry.facts[place].title for place in draft.cited]
    assert {"Sigrid Holt", "Ivar Stene"} <= set(cited)
    last = {n for n, place in enumerate(draft.cited, 1) if inquiry.facts[place].need.question.endswith("'s mother?")}
    assert draft.text == f"Her name is Janna Vinter {''.join(f'[{n}]' for n in sorted(last))}."
    assert "Sigrid Holt's mother" in rephrasings[0]
    assert "Ivar Stene's mother" in rephrasings[0]
    assert "queen" not in rephrasings[-1]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many metres taller is the Long Needle than the Orm Mast?", "92 metres"),
        ("How much taller is the Long Needle than the Orm Mast?", "92 m"),
        ("What is the difference in height between the Long Needle and the Orm Mast?", "92 m"),
        ("How many years after the Old Spire was completed was the Sky Pin completed?", "89 years"),
        ("Which was completed first, the Sky Pin or the Orm Mast?", "the Orm Mast"),
        ("How old was Ann Orley when she died?", "65"),
        ("Where was the second queen of Orm born?", "Tellby"),
        ("What is the maiden name of the mother of the second queen of Orm?", "Reed"),
        ("What is the first name of Ann Orley's father?", "Karl"),
        ("How old was Ann Orley at her death?", "65"),
        ("Ann Orley was a painter. In which year did she die?", "1866"),
    ],
)
def test_a_question_is_answered(question: str, expected: str) -> None:
    draft, _, _ = answer(question, PAGES)
    assert draft.answered
    assert draft.short_answer == expected
    assert draft.cited


@pytest.mark.parametrize(
    "question",
    [
        "Who was the mother of Gerd Holm?",
        "Where was the fourth queen of Orm born?",
        "What was the favourite dish of Ann Orley?",
        "How many metres taller is the Long Needle than the Gerd Holm Mast?",
        "If he has the first name of the King of Orm and the surname of the Mayor of Westmark, what is his name?",
    ],
)
def test_what_no_page_holds_is_an_abstention_that_says_what_is_missing(question: str) -> None:
    draft, _, _ = answer(question, PAGES)
    assert not draft.answered
    assert draft.short_answer == ""
    assert len(draft.missing) > 20


def test_a_premise_that_the_corpus_denies_is_no_answer() -> None:
    karl = "# Karl Voss\n\n| Karl Voss | |\n|---|---|\n| Born | 1800, Orm |\n| Spouse | none |\n"
    draft, _, _ = answer("Where was the wife of Karl Voss born?", {"Karl Voss": karl, **PAGES})
    assert not draft.answered
    assert "Karl Voss" in draft.missing


def test_independent_needs_come_together_and_end_in_known() -> None:
    analysis = ROLES.analyst.analyse(Inquiry(COMPOSED, COMPOSED))
    assert analysis == Needs((Need("Who is the 2nd queen of Orm?"), Need("Who is the second drowned admiral?")))
    _, inquiry, _ = answer(COMPOSED, PAGES)
    assert ROLES.analyst.analyse(inquiry) == Known()


ODD = st.lists(
    st.sampled_from(
        [
            "which",
            "what",
            "who",
            "of",
            "the",
            "list",
            "a",
            "Brell's",
            "it",
            "her",
            "is",
            "did",
            "#",
            "15th",
            "first",
            "(",
            ",",
            ".",
            ":",
            "?",
        ]
    ),
    max_size=9,
)


@settings(max_examples=20, deadline=None)
@given(st.one_of(st.text(max_size=200), ODD.map(" ".join)))
@example("Which of Brell's bridges is the oldest?")
@example("list of ?")
@example(". Did ( what # The she?")
@example("15th he The Of , ?")
def test_no_question_breaks_the_roles(question: str) -> None:
    draft, _, _ = answer(question, {"Brell": RIVER, "List of masts of Westmark": MASTS}, hops=3)
    assert draft.answered == bool(draft.short_answer)


@pytest.mark.parametrize(
    ("question", "value", "fitting"),
    [
        ("When was Ann Orley born?", "1801", True),
        ("When was Ann Orley born?", "Tellby", False),
        ("How many masts are there?", "many", False),
        ("Where was Ann Orley born?", "Orley", False),
        ("Who was the father of Ann Orley?", "painter", False),
        ("What was the first album of Queen Maud?", "Queen Maud", True),
        ("Is Ann Orley a painter?", "Danish", False),
        ("Was Ann Orley born in Norway?", "Norway", False),
        ("Was Ann Orley born in Norway?", "no", True),
        ("How old was Ann Orley when she died?", "1866", False),
        ("What age did Ann Orley reach?", "65", True),
        ("How long did the record of Ann Orley stand?", "8.06 metres", False),
        ("How long did Ann Orley reign?", "until 1919", False),
        ("How long did Ann Orley reign?", "1611 to 1640", True),
        ("How long did Ann Orley reign?", "an hour", True),
        ("How many years did Ann Orley reign?", "1919", False),
        ("How many people live in Orm?", "8 metres", False),
        ("How many meters higher is Orm Tower than Holm Tower?", "295 meters", True),
        ("In which month was Orm Tower opened?", "May", True),
        ("How much did Orm Tower cost?", "186,000 pounds", True),
        ("What did it cost to build Orm Tower?", "$5 million", True),
        ("What did the climb of Orm Tower cost Ann Orley?", "her life", True),
        ("In which century was Orm Tower built?", "18th century", True),
        ("Dawn is sung by a woman who was a player of what sport?", "football", True),
        ("Dawn is sung by a woman who was born in what year?", "Bo Lund", False),
        ("What is the date of birth of Ann Orley's father?", "9 June 1866", True),
        ("What was the profession of Ann Orley's father?", "painter", True),
        ("What nationality was Ann Orley?", "Bo Lund", False),
        ("What nationality was Ann Orley?", "Norwegian", True),
        ("What nationality was Ann Orley?", "Tellbian", True),
        ("What nationality was Ann Orley?", "May 9, 1801, Tellby, Norwegian Empire", False),
        ("What did Ann Orley study?", "Tellby College", False),
        ("What did Ann Orley study?", "law at Tellby College", True),
    ],
)
def test_a_value_must_be_of_the_kind_that_is_asked_for(question: str, value: str, fitting: bool) -> None:
    assert fits(read_query(question), value) is fitting


@pytest.mark.parametrize(
    ("value", "label", "lacking"),
    [
        ("102", "", True),
        ("56", "Age", True),
        ("15-year-old", "", True),
        ("20 by 30 metres", "", False),
        ("381", "Height", False),
    ],
)
def test_a_length_has_a_unit_or_a_label_that_names_it(value: str, label: str, lacking: bool) -> None:
    assert lacks_unit(read_query("How high is Ann Orley?"), value, label) is lacking
