"""The splitter with its packaged weights, and phrases of a question as questions of their own."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iterative_rag.builtin.question.span_decoding import Asks, Form, QuestionKind, QuestionSpan, Split
from iterative_rag.builtin.question.splitter import Splitter
from iterative_rag.builtin.question.substitution import plan_split, sub_question, substitute
from tests.tables import table


@pytest.fixture(scope="module")
def splitter() -> Splitter:
    return Splitter()


def inner(split: Split) -> list[str]:
    return [split.question[span.start : span.end] for span in split.inner]


# --- splits -------------------------------------------------------------------------------------

NESTED = table(__file__, "nested")


@pytest.mark.parametrize(("question", "expected"), NESTED)
def test_descriptions_are_found_innermost_first(splitter: Splitter, question: str, expected: list[str]) -> None:
    split = splitter.split(question)
    assert split.kind is QuestionKind.NESTED
    assert inner(split) == expected


@pytest.mark.parametrize(
    "question",
    [
        "When was Mira Dolvane born?",
        "Who wrote The Glass Orchard?",
        "What is the population of Selmouth?",
        "Who is the director of Harvest Lantern?",
        "How many people live in the Duchy of Orm?",
        "Which river flows through Lower Brandell?",
    ],
)
def test_a_question_of_one_look_up_stays_whole(splitter: Splitter, question: str) -> None:
    split = splitter.split(question)
    assert split.kind is QuestionKind.SINGLE
    assert split.inner == ()
    assert plan_split(split) is None


def test_what_a_description_stands_for(splitter: Splitter) -> None:
    asked = {
        "When was the composer of Salt Road born?": Asks.WHO,
        "What is the population of the city where Mira Dolvane died?": Asks.WHERE,
        "Who owns the company that published The Glass Orchard?": Asks.WHICH,
    }
    assert {question: splitter.split(question).inner[0].asks for question in asked} == asked


@pytest.mark.parametrize(
    "name", ["Łódź Ångström", "Ωμέγα", "東京タワー", "ქართული", "e\u0301te\u0301", "😀 Smile", "ﬁve"]
)
def test_offsets_are_those_of_the_characters(splitter: Splitter, name: str) -> None:
    question = f"{name}: when was the director of the film “{name}” born?"
    (found,) = inner(splitter.split(question))[:1]
    assert found.startswith("the director of the film")
    assert found.endswith((name, f"{name}”"))


@pytest.mark.parametrize(
    "text", ["", " \n\t", "???", "—", "\x00", "\ud800", "a", "x" * 5000, "who " * 2000, "{0} {1}?"]
)
def test_odd_texts_raise_nothing(splitter: Splitter, text: str) -> None:
    split = splitter.split(text)
    assert split.question == text
    for found in split.inner:
        assert 0 <= found.start < found.end <= len(text)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=120))
def test_spans_lie_inside_and_never_cross(text: str) -> None:
    split = _SHARED.split(text)
    assert sum(split.probabilities) == pytest.approx(1, abs=1e-5)
    for one in split.inner:
        assert 0 <= one.start < one.end <= len(text)
        for other in split.inner:
            assert one == other or one.holds(other) or other.holds(one) or not _cross(one, other)


_SHARED = Splitter()


def _cross(one: QuestionSpan, other: QuestionSpan) -> bool:
    return one.start < other.end and other.start < one.end


# --- phrases as questions -------------------------------------------------------------------------


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


@pytest.mark.parametrize(("question", "clause", "asked", "filled"), table(__file__, "clauses"))
def test_a_clause_becomes_a_question_and_is_replaced_by_its_value(
    question: str, clause: str, asked: str, filled: str
) -> None:
    found = span(question, clause, Form.CLAUSE)
    assert sub_question(question, found) == asked
    assert substitute(question, found, "Channel Nine") == filled


@pytest.mark.parametrize(("question", "phrase", "value", "filled"), table(__file__, "values"))
def test_a_value_replaces_a_phrase(question: str, phrase: str, value: str, filled: str) -> None:
    assert substitute(question, span(question, phrase), value) == filled
