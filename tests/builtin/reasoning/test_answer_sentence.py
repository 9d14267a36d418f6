"""The built-in backend's answer as a sentence, where the question's own words make one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iterative_rag.builtin.reasoning.answering import sentence


@pytest.mark.parametrize(
    ("question", "value", "said"),
    [
        ("If she has Ann's first name and Bo's surname, what is her name?", "Ann Dahl", "Her name is Ann Dahl [1]."),
        ("Who was the mother of Ann Lee?", "Eva Reed", "The mother of Ann Lee was Eva Reed [1]."),
        ("Who is Ann Lee's mother?", "Eva Reed", "Ann Lee's mother is Eva Reed [1]."),
        ("When was Ann Lee born?", "3 May 1801", "Ann Lee was born on 3 May 1801 [1]."),
        ("When was the Old Spire completed?", "May 1899", "The Old Spire was completed in May 1899 [1]."),
        ("In which year was the Old Spire completed?", "1899", "The Old Spire was completed in 1899 [1]."),
        ("When was Mount Orm first climbed?", "1899", "Mount Orm was first climbed in 1899 [1]."),
        ("When did Ann Lee die?", "1866", "Ann Lee died in 1866 [1]."),
        ("Where was Ann Lee born?", "Tellby", "Ann Lee was born in Tellby [1]."),
        ("Was the Sky Pin completed before the Orm Mast?", "No", "No [1]."),
        ("How many towers stand in Orm?", "5", "5 [1]."),
        ("Which telephone was sold first?", "iPhone", "iPhone [1]."),
        ("Which river flows through Orm?", "the Elm", "The Elm [1]."),
        ("Who had children?", "Two children.", "Two children [1]."),
        ("Which country is Orm in?", "the U.S.", "The U.S. [1]."),
    ],
)
def test_forms_of_a_sentence(question: str, value: str, said: str) -> None:
    assert sentence(question, value, "[1]") == said


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is the town of Orm known for?", "Its mast"),
        ("Who was the founder of Orm and when did he die?", "Bo Dahl"),
        ("Who is older Ann Lee or Bo Dahl?", "Bo Dahl"),
        ("What is the older one, the Sky Pin or the Orm Mast?", "Orm Mast"),
        ("Who was president when Ann Lee died?", "Bo Dahl"),
        ("When was Ann Lee born?", "In the days of King Bo"),
        ("How old was he when he died?", "65"),
        ("What is the Old Spire nicknamed?", "The Thumb"),
        ("What was the Old Spire called before?", "Orm Mast"),
        ("What is the length of the Elm Bridge? I forgot?", "516 m"),
        ("Wer war die Mutter von Ann Lee?", "Eva Reed"),
    ],
)
def test_no_sentence_is_made_where_its_grammar_is_not_known(question: str, value: str) -> None:
    assert sentence(question, value, "[1]") == f"{value} [1]."


@given(st.text(max_size=80), st.text(min_size=1, max_size=20).filter(str.strip))
def test_the_value_is_always_said(question: str, value: str) -> None:
    assert value[1:] in sentence(question, value, "[1]")
