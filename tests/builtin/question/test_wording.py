"""Plain facts in many wordings, through the planner with its packaged weights, on invented names."""

from __future__ import annotations

import pytest

from iterative_rag.builtin.question.plan import Computed, Fallback, Literal, Lookup, Node, Operation, slots_of
from iterative_rag.builtin.question.question_planner import QuestionPlanner
from iterative_rag.builtin.question.splitter import Splitter


@pytest.fixture(scope="module")
def planner() -> QuestionPlanner:
    return QuestionPlanner(Splitter())


def lookups(node: Node) -> list[str]:
    """The look-ups of a plan, innermost first."""
    inner = [one for slot in slots_of(node) for one in lookups(slot)]
    return [*inner, node.template] if isinstance(node, Lookup) else inner


BORN = ["Who is the director of Harvest Lantern?", "Where was {0} born?"]
FATHER = ["Who is Mira Dolvane's father?", "When did {0} die?"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where was the director of Harvest Lantern born?", BORN),
        ("Harvest Lantern was directed by someone. In which town was that person born?", BORN),
        ("the person who directed the movie Harvest Lantern, where did they come into the world", BORN),
        ("Harvest Lantern is a film and I'd like to know where its director was born.", BORN),
        ("Could you please tell me the birthplace of whoever directed Harvest Lantern?", BORN),
        ("When did Mira Dolvane's father die?", FATHER),
        ("Mira Dolvane had a father; when did he pass away?", FATHER),
        ("On what day did the dad of Mira Dolvane leave this world?", FATHER),
        ("Who was the grandfather of Mira Dolvane on the father's side?", [FATHER[0], "Who is the father of {0}?"]),
    ],
)
def test_a_look_up_is_planned_alike_in_any_wording(
    planner: QuestionPlanner, question: str, expected: list[str]
) -> None:
    plan = planner.plan(question)
    assert isinstance(plan, Fallback)
    assert lookups(plan.first) == expected


@pytest.mark.parametrize("question", ["What did Mira Dolvane's son win?", "What did Mira Dolvane's son own?"])
def test_what_somebody_did_is_no_relative(planner: QuestionPlanner, question: str) -> None:
    """They were taken to ask for the son of her son."""
    plan = planner.plan(question)
    assert isinstance(plan, Fallback)
    assert lookups(plan.first)[-1].startswith("What did {0} ")


@pytest.mark.parametrize(
    "question",
    [
        "Which film has the director who was born later, Harvest Lantern or Low Tide?",
        "Harvest Lantern and Low Tide are two films. Name the one whose director is younger.",
        "Take the people who directed Harvest Lantern and Low Tide. Which of the two movies was by the younger one?",
        "Of Harvest Lantern and Low Tide, which was made by the director with the later birth date?",
    ],
)
def test_one_of_two_is_planned_alike_in_any_wording(planner: QuestionPlanner, question: str) -> None:
    plan = planner.plan(question)
    assert isinstance(plan, Computed)
    assert plan.operation is Operation.GREATEST
    assert plan.labels == (Literal("Harvest Lantern"), Literal("Low Tide"))
    assert lookups(plan)[:2] == ["Who is the director of Harvest Lantern?", "When was {0} born?"]


@pytest.mark.parametrize(
    "question",
    [
        "Are Selmouth, Orm and Upper Brandell located in the same country?",
        "Selmouth, Orm is a village and so is Upper Brandell. Do they lie in one and the same country?",
        "If I wanted to visit Selmouth, Orm and also Upper Brandell, would I stay in the same country?",
    ],
)
def test_names_with_commas_are_kept_whole(planner: QuestionPlanner, question: str) -> None:
    plan = planner.plan(question)
    assert isinstance(plan, Computed)
    assert plan.operation is Operation.SAME
    assert lookups(plan) == ["In which country is Selmouth, Orm?", "In which country is Upper Brandell?"]


@pytest.mark.parametrize(
    "question",
    [
        "How many films did the director of Harvest Lantern make before 1960?",
        "Which award did the director of Harvest Lantern win first?",
        "Are Selmouth and Upper Brandell in the same county?",
        "Who played the father of Mira Dolvane in Low Tide?",
        "Was the director of Harvest Lantern born in Selmouth?",
        "Why did Mira Dolvane leave Selmouth?",
    ],
)
def test_what_asks_for_something_else_is_left_to_the_rules(planner: QuestionPlanner, question: str) -> None:
    assert planner.plan(question) == QuestionPlanner(Splitter(), without={"wording"}).plan(question)
