"""Plans through the planner's door: when the splitter is followed, and when the rules are."""

from __future__ import annotations

import pytest

from iterative_rag.builtin.question.plan import Computed, Lookup, Node, slots_of
from iterative_rag.builtin.question.planning import Planner
from iterative_rag.builtin.question.splitter import Splitter


@pytest.fixture(scope="module")
def planner() -> Planner:
    return Planner(Splitter())


def templates(node: Node) -> list[str]:
    """All look-ups of a plan, the innermost first."""
    inner = [one for slot in slots_of(node) for one in templates(slot)]
    return [*inner, node.template] if isinstance(node, Lookup) else inner


def test_a_sure_split_mends_what_the_rules_cut_wrongly(planner: Planner) -> None:
    question = "The songwriter of the hymn Night Ferry plays which instrument?"
    assert templates(Planner(None).plan(question))[0] == "Who is the songwriter of the hymn Night Ferry plays?"
    assert templates(planner.plan(question)) == [
        "Who is the songwriter of the hymn Night Ferry?",
        "{0} plays which instrument?",
    ]


def test_the_rules_hold_where_they_take_a_question_further_apart(planner: Planner) -> None:
    question = "Who was the father-in-law of the president born in Brookline, Massachusetts?"
    assert templates(planner.plan(question)) == templates(Planner(None).plan(question))
    assert len(templates(planner.plan(question))) == 3


@pytest.mark.parametrize(
    "question",
    [
        "Who was born first, Ada Orr or Tove Lind?",
        "How many years after the opening of the Sunday bridge was Edda Holm born?",
    ],
)
def test_what_is_computed_is_left_to_the_rules(planner: Planner, question: str) -> None:
    assert isinstance(planner.plan(question), Computed)
    assert planner.plan(question) == Planner(None).plan(question)


@pytest.mark.parametrize("question", ["Who is the mayor of Aldermere?", "?", "lamp", "Wer ist der Bürgermeister?"])
def test_a_plain_question_is_one_look_up(planner: Planner, question: str) -> None:
    assert len(templates(planner.plan(question))) == 1


def test_the_same_plan_again_and_again(planner: Planner) -> None:
    question = "Who is the mayor of the town where the Sunday bridge stands?"
    assert planner.plan(question) == planner.plan(question) == Planner(Splitter()).plan(f" {question}  ")
