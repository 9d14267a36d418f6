"""The splitter with its packaged weights, on invented sentences."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iterative_rag.builtin.question.plan import Lookup
from iterative_rag.builtin.question.span_decoding import Asks, QuestionKind, QuestionSpan, Split
from iterative_rag.builtin.question.splitter import Splitter
from iterative_rag.builtin.question.substitution import plan_split, sub_question, substitute
from iterative_rag.builtin.reasoning.plan_evaluation import Evaluation
from iterative_rag.types import Inquiry


@pytest.fixture(scope="module")
def splitter() -> Splitter:
    return Splitter()


def inner(split: Split) -> list[str]:
    return [split.question[span.start : span.end] for span in split.inner]


def parts(split: Split) -> list[str]:
    return [split.question[span.start : span.end] for span in split.parts]


# --- splits -------------------------------------------------------------------------------------

NESTED = [
    ("Where was the director of the film Harvest Lantern born?", ["the director of the film Harvest Lantern"]),
    ("What is the population of the city where Mira Dolvane was born?", ["the city where Mira Dolvane was born"]),
    ("When did Oskar Brandell's father die?", ["Oskar Brandell's father"]),
    ("Who is the mayor of the town in which Selm Castle is located?", ["the town in which Selm Castle is located"]),
    (
        "What award did the actress who played Hetty Vane in Low Tide win?",
        ["the actress who played Hetty Vane in Low Tide"],
    ),
    (
        "What is the capital of the country that the author of The Glass Orchard is from?",
        ["the author of The Glass Orchard", "the country that the author of The Glass Orchard is from"],
    ),
    (
        "Quiet Harbour is a novel by an American writer who was born in what year?",
        ["Quiet Harbour is a novel by an American writer"],
    ),
]


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
    assert (split.inner, split.parts) == ((), ())
    assert plan_split(split) is None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which film came out first, Harvest Lantern or Low Tide?", ["Harvest Lantern", "Low Tide"]),
        ("Are Mira Dolvane and Oskar Brandell from the same country?", ["Mira Dolvane", "Oskar Brandell"]),
        (
            "Was the director of Harvest Lantern born before the director of Low Tide?",
            ["the director of Harvest Lantern", "the director of Low Tide"],
        ),
    ],
)
def test_a_comparison_has_its_two_sides(splitter: Splitter, question: str, expected: list[str]) -> None:
    split = splitter.split(question)
    assert split.kind is QuestionKind.COMPARISON
    assert parts(split) == expected


def test_two_conditions_are_told_apart(splitter: Splitter) -> None:
    split = splitter.split("Which actor starred in Harvest Lantern and was born in Selmouth?")
    assert split.kind is QuestionKind.INTERSECTION
    assert len(parts(split)) == 2


def test_what_a_description_stands_for(splitter: Splitter) -> None:
    asked = {
        "When was the composer of Salt Road born?": Asks.WHO,
        "What is the population of the city where Mira Dolvane died?": Asks.WHERE,
        "Who owns the company that published The Glass Orchard?": Asks.WHICH,
    }
    assert {question: splitter.split(question).inner[0].asks for question in asked} == asked


def test_a_question_in_lower_case_is_split_as_well(splitter: Splitter) -> None:
    split = splitter.split("where was the director of the film harvest lantern born")
    assert inner(split) == ["the director of the film harvest lantern"]


@pytest.mark.parametrize(
    "name", ["Łódź Ångström", "Ωμέγα", "東京タワー", "ქართული", "e\u0301te\u0301", "😀 Smile", "ﬁve"]
)
def test_offsets_are_those_of_the_characters(splitter: Splitter, name: str) -> None:
    question = f"{name}: when was the director of the film “{name}” born?"
    (found,) = inner(splitter.split(question))[:1]
    assert found.startswith("the director of the film")
    assert found.endswith((name, f"{name}”"))


def test_the_confidence_is_higher_for_a_plain_question(splitter: Splitter) -> None:
    plain = splitter.split("When was the director of the film Harvest Lantern born?")
    odd = splitter.split("Of what did it, which the one who sang had, that he was in?")
    assert 0 <= odd.confidence < plain.confidence <= 1


@pytest.mark.parametrize(
    "text", ["", " \n\t", "???", "—", "\x00", "\ud800", "a", "x" * 5000, "who " * 2000, "{0} {1}?"]
)
def test_odd_texts_raise_nothing(splitter: Splitter, text: str) -> None:
    split = splitter.split(text)
    assert split.question == text
    for found in (*split.inner, *split.parts):
        assert 0 <= found.start < found.end <= len(text)


def test_a_text_without_words_is_single(splitter: Splitter) -> None:
    assert splitter.split("?!").kind is QuestionKind.SINGLE


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=120))
def test_spans_lie_inside_and_never_cross(text: str) -> None:
    split = _SHARED.split(text)
    assert sum(split.probabilities) == pytest.approx(1, abs=1e-5)
    for one in split.inner:
        assert 0 <= one.start < one.end <= len(text)
        for other in split.inner:
            assert one == other or one.holds(other) or other.holds(one) or not _cross(one, other)
    if split.parts:
        first, second = split.parts
        assert first.end <= second.start


_SHARED = Splitter()


def _cross(one: QuestionSpan, other: QuestionSpan) -> bool:
    return one.start < other.end and other.start < one.end


def test_a_split_does_not_depend_on_what_else_is_asked(splitter: Splitter) -> None:
    questions = [question for question, _ in NESTED] * 4
    alone = [Splitter().split(question) for question in questions[: len(NESTED)]] * 4
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(splitter.split, questions)) == alone


def test_a_split_is_a_plan_whose_slots_are_its_spans(splitter: Splitter) -> None:
    question = "What is the capital of the country that the author of The Glass Orchard is from?"
    assert plan_split(splitter.split(question)) == Lookup(
        question,
        "What is the capital of {0}?",
        (
            Lookup(
                "the country that the author of The Glass Orchard is from",
                "Which country is {0} from?",
                (Lookup("the author of The Glass Orchard", "Who is the author of The Glass Orchard?"),),
            ),
        ),
    )


def test_the_plan_asks_for_the_innermost_first(splitter: Splitter) -> None:
    question = "What is the capital of the country that the author of The Glass Orchard is from?"
    plan = plan_split(splitter.split(question))
    assert plan is not None
    assert Evaluation(Inquiry(question, question)).of(plan).needs == ("Who is the author of The Glass Orchard?",)


def test_splitting_and_substituting_ends_in_a_single_look_up(splitter: Splitter) -> None:
    question = "What is the capital of the country that the author of The Glass Orchard is from?"
    asked = []
    for value in ("Mira Dolvane", "Westmark"):
        first = splitter.split(question).inner[0]
        asked.append(sub_question(question, first))
        question = substitute(question, first, value)
    assert asked == ["Who is the author of The Glass Orchard?", "Which country is Mira Dolvane from?"]
    assert question == "What is the capital of Westmark?"
    assert splitter.split(question).kind is QuestionKind.SINGLE
