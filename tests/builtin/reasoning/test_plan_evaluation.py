"""Which values a plan is worked out from, for facts as the engine hands them over."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fakes.index_free_loop import ROLES
from iterative_rag.builtin.question.plan import Computed, Fallback, Literal, Lookup, Operation
from iterative_rag.builtin.reasoning.plan_evaluation import Evaluation
from iterative_rag.types import Fact, Inquiry, Need, Needs

LUND, VALE = "When was Bo Lund born?", "When was Ada Vale born?"


def fact(need: str, value: str, title: str, score: float = 0.8) -> Fact:
    quote = f"{title} was born in {value}."
    return Fact(quote, quote, value, title, title, f"{title}.md", 0, len(quote), Need(need), score)


@pytest.mark.parametrize(
    ("title", "score", "first"),
    [("Bo Lund", 0.7, "Ada Vale"), ("Bo Lund (painter)", 0.7, "Ada Vale"), ("Bo Lund", 0.55, "Bo Lund")],
)
def test_a_comparison_takes_a_value_nearly_as_sure_from_the_article_on_its_subject(
    title: str, score: float, first: str
) -> None:
    asked = "Who was born first, Bo Lund or Ada Vale?"
    facts = (fact(LUND, "1850", "Bo Lund Reed", 0.9), fact(LUND, "1901", title, score), fact(VALE, "1880", "Ada Vale"))
    inquiry = Inquiry(asked, asked, facts, tried=(Need(LUND), Need(VALE)))
    draft = ROLES.answerer.answer(inquiry)
    assert draft.short_answer == first


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("In what year did Bo Lund, who left the 1950 Orm Race, win the Tellby Cup?", "1937"),
        ("In what year did Bo Lund win the Tellby Cup, 1950 or 1937?", "1950"),
    ],
)
def test_a_value_that_only_repeats_the_question_comes_last_unless_that_offers_a_choice(asked: str, given: str) -> None:
    facts = (fact(asked, "1950", "Bo Lund", 0.9), fact(asked, "1937", "Bo Lund", 0.88))
    inquiry = Inquiry(asked, asked, facts, tried=(Need(asked),))
    assert ROLES.answerer.answer(inquiry).short_answer == given


@pytest.mark.parametrize(
    ("values", "given"),
    [
        (("Sarn", "Tell", "Tell, Karsa"), "Tell"),
        (("Sarn", "Tell"), "Sarn"),
        (("12 km", "2 km", "2"), "12 km"),  # "2" may be two of anything
    ],
)
def test_quotes_that_agree_outweigh_one_that_is_a_little_surer(values: tuple[str, ...], given: str) -> None:
    asked = "How far is Orm?" if given[0].isdigit() else "Where was the Orm built?"
    scores = (0.65, 0.6, 0.58)
    facts = tuple(fact(asked, value, "Orm", score) for value, score in zip(values, scores, strict=False))
    plan = Lookup(asked, asked)
    best = Evaluation(Inquiry(asked, asked, facts, tried=(Need(asked),))).of(plan).values[0]
    assert best.text == given
    assert (best.score > max(scores)) is (given == "Tell")


def test_a_row_on_a_name_of_the_question_does_not_tell_of_what_it_describes() -> None:
    step, whole = "Which river flows under the Orm Bridge?", "How long is the river that flows under the Orm Bridge?"
    row = replace(fact(whole, "516 m", "Orm Bridge", 0.9), quote="| Length | 516 m |")
    facts = (fact(step, "Vell", "Orm Bridge", 0.5), fact("How long is Vell?", "88 km", "Vell", 0.4), row)
    inquiry = Inquiry(whole, whole, facts, tried=tuple(one.need for one in facts))
    plan = Fallback(whole, Lookup("", "How long is {0}?", (Lookup("the river", step),)), Lookup(whole, whole))
    assert [one.text for one in Evaluation(inquiry).of(plan).values] == ["88 km"]


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ("What religion did the painter of Dawn have?", ""),
        ("What is the name of the painter of Dawn?", "Lund"),
        ("By which artist is the painter of Dawn in Tell?", "Lund"),
    ],
)
def test_who_was_described_answers_only_where_a_name_or_a_person_is_asked_for(asked: str, value: str) -> None:
    step = "Who is the painter of Dawn?"
    facts = (fact(step, "Bo Lund", "Dawn"), fact(asked, "Lund", "Dawn", 0.9))
    inner = asked.replace("the painter of Dawn", "{0}")
    tried = (*(one.need for one in facts), Need(inner.format("Bo Lund")))
    plan = Fallback(asked, Lookup("", inner, (Lookup("the painter of Dawn", step),)), Lookup(asked, asked))
    assert [one.text for one in Evaluation(Inquiry(asked, asked, facts, tried=tried)).of(plan).values] == value.split()


@pytest.mark.parametrize(("quote", "given"), [("Tell had 2,598 people.", ()), ("Tell lost 182 people.", ("182",))])
def test_by_how_much_is_told_by_a_change(quote: str, given: tuple[str, ...]) -> None:
    asked = "By how many people did Tell shrink from 2010 to 2020?"
    value = "182" if given else "2,598"
    inquiry = Inquiry(asked, asked, (replace(fact(asked, value, "Tell"), quote=quote),), tried=(Need(asked),))
    assert tuple(one.text for one in Evaluation(inquiry).of(Lookup(asked, asked)).values) == given


def test_another_is_none_that_the_question_names() -> None:
    asked, step = "Which book was also written by the author of Dawn?", "Which book was also written by Bo Lund?"
    facts = (fact(step, "Dawn", "Dawn", 0.9), fact(step, "Dusk", "Bo Lund", 0.6))
    inquiry = Inquiry(asked, asked, facts, tried=(Need(step),))
    assert [one.text for one in Evaluation(inquiry).of(Lookup(asked, step)).values] == ["Dusk"]


@pytest.mark.parametrize(
    ("operation", "said", "given"),
    [
        (Operation.CHOICE, "yes", "the Lee"),
        (Operation.CHOICE, "no", ""),
        (Operation.BOTH, "no", "No"),
        (Operation.BOTH, "yes", ""),
    ],
)
def test_one_side_may_decide_where_nothing_is_known_of_the_other(operation: Operation, said: str, given: str) -> None:
    asked, sides = "Which is a river, the Orm or the Lee?", ("Is the Orm a river?", "Is the Lee a river?")
    inquiry = Inquiry(asked, asked, (fact(sides[1], said, "Lee"),), tried=tuple(map(Need, sides)))
    looked_up = tuple(Lookup(side, side) for side in sides)
    plan = Computed(asked, operation, looked_up, (Literal("the Orm"), Literal("the Lee")))
    assert "".join(value.text for value in Evaluation(inquiry).of(plan).values) == given


def test_what_is_bigger_has_more_inhabitants_where_no_areas_are_found() -> None:
    asked = "Which is bigger, Tellby or Orm?"
    areas = [Need(f"What is the area of {name}?") for name in ("Tellby", "Orm")]
    facts = tuple(
        replace(fact(f"What is the population of {name}?", number, name), quote=f"{name} has {number} inhabitants.")
        for name, number in (("Tellby", "41,000"), ("Orm", "900"))
    )
    before = Inquiry(asked, asked, (), tried=tuple(areas))
    assert ROLES.analyst.analyse(before) == Needs(tuple(one.need for one in facts))
    draft = ROLES.answerer.answer(replace(before, facts=facts, tried=(*areas, *(one.need for one in facts))))
    assert draft.short_answer == "Tellby"
    assert [one.expression for one in draft.computations] == ["41000 > 900"]


STEP, WHOLE = "Which town has the Orm bridge?", "Who is the mayor of the town that has the Orm bridge?"


@pytest.mark.parametrize(
    ("steps", "whole", "told", "needs", "value"),
    [
        (0.8, None, "", (), "Bo Lund"),  # trusted: nothing more is asked
        (0.3, None, "", (WHOLE,), ""),
        (0.3, 0.6, "Ada Vale is the mayor of the town.", (), "Ada Vale"),
        (0.3, 0.28, "Ada Vale is the mayor of the town.", (), "Bo Lund"),
        (0.3, 0.6, "Ada Vale runs the inn.", (), "Bo Lund"),  # nothing tells of what the question describes
        (0.3, 0.8, "Ada Vale runs the inn.", (), "Ada Vale"),  # sure, in the article on what it names
    ],
)
def test_where_the_steps_are_not_trusted_the_whole_question_is_asked(
    steps: float, whole: float | None, told: str, needs: tuple[str, ...], value: str
) -> None:
    facts = [
        fact(STEP, "Tellby", "Orm bridge", steps),
        fact("Who is the mayor of Tellby?", "Bo Lund", "Tellby", steps),
        *([replace(fact(WHOLE, "Ada Vale", "Orm", whole), statement=told)] if whole else []),
    ]
    inquiry = Inquiry(WHOLE, WHOLE, tuple(facts), tried=tuple(one.need for one in facts))
    plan = Fallback(WHOLE, Lookup("", "Who is the mayor of {0}?", (Lookup("the town", STEP),)), Lookup(WHOLE, WHOLE))
    found = Evaluation(inquiry).of(plan)
    assert found.needs == needs
    assert [one.text for one in found.values[:1]] == [value] * bool(value)
