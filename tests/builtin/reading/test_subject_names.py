"""Whether what a page says is about what the query names."""

from __future__ import annotations

import pytest

from fakes.index_free_loop import best, read, window
from fakes.invented_articles import SHOT_MAYORS
from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reading.page_units import page
from iterative_rag.builtin.reading.subject_names import is_of_others, is_told_of_another
from iterative_rag.builtin.reasoning.answer_trust import CAREFUL


def test_a_row_about_something_else_is_not_built_on() -> None:
    title = "List of assassinated mayors of Orm"
    assert best("When was Ane Voss shot by Bo Ruud?", title, SHOT_MAYORS) == "1 June 1901"
    for question in ("When was Ane Voss shot by Per Lund?", "When was Oda Brenk shot by Bo Ruud?"):
        assert all(extract.score < CAREFUL.given for extract in read(question, title, SHOT_MAYORS)), question


@pytest.mark.parametrize(
    ("question", "title", "sentence", "others"),
    [
        ("Where did Edith Brenk study?", "Harald Brenk", "He studied in Karsa.", True),
        ("Where did Ilvie Brenk study?", "Orven Brenk", "He studied in Karsa.", True),
        ("Where did President Brenk study?", "Oda Brenk", "She studied in Karsa.", False),
        ("Where did Madame Brenk study?", "Harald Brenk", "He studied in Karsa.", False),
        ("Where did Oda Brenk study?", "Harald Brenk", "His sister Oda studied in Karsa.", False),
        ("Where did Oda Brenk study?", "Oda Brenk", "She studied in Karsa.", False),
        ("Where did Oda Maria Brenk study?", "Oda Brenk", "She studied in Karsa.", False),
        ("Where did Oda Brenk study?", "Oda Brenk (painter)", "She studied in Karsa.", False),
        ("When did Oda Brenk finish the Elm Tower?", "Elm Tower", "It was finished in 1973.", False),
        ("Where did Edith Brenk study?", "Harald Brenk", "He studied in Karsa. Edith did not.", True),
        ("Where did Edith Brenk study?", "Harald Brenk", "Edith studied in Karsa.", False),
        ("In which country is Orm Airport?", "Crystal Airport", "It lies in Karsa.", True),
        ("Who opened the Tellin Games?", "Summer Games", "Una Orr opened them. They were held in Tellin.", False),
        ("Who raised the Gray Petrel?", "Grey Petrel", "It was raised by Una Orr.", False),
        ("Where did Oda Brenk study?", "School of Karsa", "She studied here.", False),
        ("Who won the 66th Orm Awards?", "68th Orm Awards", "Una Orr won.", True),
        ("Who won the 66th Orm Awards?", "68th Orm Awards", "Bo Lund had won the 66th.", False),
        ("Who won the Tell Cup XXIX?", "Tell Cup XXX", "Una Orr won.", True),
        ("Who won the 1994 Tell Cup?", "1994 Tell Cup", "Una Orr won.", False),
    ],
)
def test_a_sentence_on_the_page_of_a_namesake_is_about_the_namesake(
    question: str, title: str, sentence: str, others: bool
) -> None:
    shown = page(window(title, f"# {title}\n\n{sentence}\n"))
    assert is_of_others(read_query(question), shown, shown.units[0]) is others


@pytest.mark.parametrize(
    ("question", "before", "other"),
    [
        ("When were the Orm Harriers founded?", "One club, the Orm Ramblers, was founded in ", True),
        ("When did Ann Lee die?", "Ann Lee was the wife of Bo Lee and died in ", False),
        ("When did Ann Lee die?", "Her brother Karl Lee died in ", True),
        ("When did Oda Brenk die?", "President Brenk died in ", False),
        ("When did Oda Brenk die?", "She died in ", False),
    ],
)
def test_what_a_sentence_says_of_half_a_namesake_is_of_another(question: str, before: str, other: bool) -> None:
    assert is_told_of_another(read_query(question), before) is other
