"""A phrase of a question becomes a question of its own, and is replaced by its value."""

from __future__ import annotations

import pytest

from iterative_rag.builtin.question.span_decoding import Asks, Form, QuestionSpan
from iterative_rag.builtin.question.substitution import sub_question, substitute


def span(question: str, text: str, form: Form = Form.PHRASE, asks: Asks = Asks.WHO) -> QuestionSpan:
    start = question.index(text)
    return QuestionSpan(start, start + len(text), form, asks, 1.0)


@pytest.mark.parametrize(
    ("phrase", "asks", "question"),
    [
        ("the performer of song Low Tide", Asks.WHO, "Who is the performer of song Low Tide?"),
        ("director of film Low Tide", Asks.WHO, "Who is the director of film Low Tide?"),
        ("Mira Dolvane's hometown", Asks.WHERE, "What is Mira Dolvane's hometown?"),
        (
            "the university where Oskar Brandell was a professor",
            Asks.WHICH,
            "At which university was Oskar Brandell a professor?",
        ),
        ("the city in which she died", Asks.WHERE, "In which city did she die?"),
        ("the city Mira Ann Dolvane is from", Asks.WHERE, "Which city is Mira Ann Dolvane from?"),
        ("the party that Oskar Brandell belongs to", Asks.WHICH, "Which party does Oskar Brandell belong to?"),
        ("the school where Brandell got his degree", Asks.WHICH, "At which school did Brandell get his degree?"),
        ("the country that released Orm Cider", Asks.WHERE, "Which country released Orm Cider?"),
        ("the state whose official bird is the wren", Asks.WHERE, "Which state's official bird is the wren?"),
        ("a singer born in Selmouth", Asks.WHO, "Which singer was born in Selmouth?"),
        ("the continent with the lowest valley", Asks.WHERE, "What is the continent with the lowest valley?"),
        ("the river which the Orm glorps into", Asks.WHERE, "The Orm glorps into which river?"),
    ],
)
def test_a_phrase_becomes_a_question(phrase: str, asks: Asks, question: str) -> None:
    assert sub_question(phrase, span(phrase, phrase, asks=asks)) == question


@pytest.mark.parametrize(
    ("question", "clause", "asked", "filled"),
    [
        (
            "Salt Road is shown on a network founded by who?",
            "Salt Road is shown on a network",
            "Salt Road is shown on which network?",
            "Channel Nine was founded by who?",
        ),
        (
            "Low Tide was sung by a singer whose father is who?",
            "Low Tide was sung by a singer",
            "Low Tide was sung by which singer?",
            "Channel Nine's father is who?",
        ),
        (
            "Low Tide is on the album that was made in what year?",
            "Low Tide is on the album",
            "Low Tide is on which album?",
            "Channel Nine was made in what year?",
        ),
        (
            "Brandell has met the mayor of what city?",
            "Brandell has met the mayor",
            "Brandell has met which mayor?",
            "Channel Nine is the mayor of what city?",
        ),
    ],
)
def test_a_clause_becomes_a_question_and_is_replaced_by_its_value(
    question: str, clause: str, asked: str, filled: str
) -> None:
    found = span(question, clause, Form.CLAUSE)
    assert sub_question(question, found) == asked
    assert substitute(question, found, "Channel Nine") == filled


@pytest.mark.parametrize(
    ("question", "phrase", "value", "filled"),
    [
        (
            "When was the author of Salt Road born?",
            "the author of Salt Road",
            "Mira Dolvane",
            "When was Mira Dolvane born?",
        ),
        (
            "When was the author of Salt Road born?",
            "author of Salt Road",
            "Mira Dolvane.",
            "When was Mira Dolvane born?",
        ),
        (
            "Who is the author of Salt Road's wife?",
            "the author of Salt Road",
            "Tom Dolvanes",
            "Who is Tom Dolvanes's wife?",
        ),
        (
            "The state where Orm lies has which bird?",
            "The state where Orm lies",
            "Westmark",
            "Westmark has which bird?",
        ),
        (
            "the state where Orm lies has which bird?",
            "the state where Orm lies",
            "the Westmark",
            "The Westmark has which bird?",
        ),
        ("Who sang at the son of Ann's wedding?", "the son of Ann", "Bo Jr.", "Who sang at Bo Jr.'s wedding?"),
    ],
)
def test_a_value_replaces_a_phrase(question: str, phrase: str, value: str, filled: str) -> None:
    assert substitute(question, span(question, phrase), value) == filled
