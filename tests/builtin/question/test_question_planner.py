"""Plans of the question planner: when it follows the splitter, and when the rules."""

from __future__ import annotations

import pytest

from iterative_rag.builtin.question.plan import Computed, Fallback, Lookup, Node, is_understood, slots_of
from iterative_rag.builtin.question.question_planner import QuestionPlanner
from iterative_rag.builtin.question.splitter import Splitter
from tests.tables import table


@pytest.fixture(scope="module")
def planner() -> QuestionPlanner:
    return QuestionPlanner(Splitter())


def templates(node: Node) -> list[str]:
    """The look-ups of a plan, innermost first."""
    inner = [one for slot in slots_of(node) for one in templates(slot)]
    return [*inner, node.template] if isinstance(node, Lookup) else inner


def test_the_splitter_finds_what_is_looked_up_first(planner: QuestionPlanner) -> None:
    question = "The songwriter of the hymn Night Ferry plays which instrument?"
    assert templates(planner.plan(question)) == [
        "Who is the songwriter of the hymn Night Ferry?",
        "{0} plays which instrument?",
    ]


@pytest.mark.parametrize(
    "question",
    [
        "Which band has more members, Ada Orr or Tove Lind?",
        "How many years after the opening of the Sunday bridge was Edda Holm born?",
    ],
)
def test_computations_are_left_to_the_rules(planner: QuestionPlanner, question: str) -> None:
    assert isinstance(planner.plan(question), Computed)
    assert planner.plan(question) == QuestionPlanner(None).plan(question)


@pytest.mark.parametrize("question", ["Who is the mayor of Aldermere?", "?", "lamp", "Wer ist der Bürgermeister?"])
def test_a_plain_question_is_one_look_up(planner: QuestionPlanner, question: str) -> None:
    assert len(templates(planner.plan(question))) == 1


def test_a_plan_that_finds_nothing_falls_back_on_the_whole_question(planner: QuestionPlanner) -> None:
    question = "Who is the mayor of the town where the Sunday bridge stands?"
    plan = planner.plan(question)
    assert isinstance(plan, Fallback)
    assert plan.second == Lookup(question, question)
    assert templates(plan.first) == ["In which town does the Sunday bridge stand?", "Who is the mayor of {0}?"]
    assert not isinstance(planner.plan("Who is the mayor of Aldermere?"), Fallback)


MENDED = table(__file__, "mended")


@pytest.mark.parametrize(("question", "asked"), MENDED)
def test_wrong_span_boundaries_are_corrected(planner: QuestionPlanner, question: str, asked: list[str]) -> None:
    assert templates(planner.plan(question))[-len(asked) :] == asked


@pytest.mark.parametrize(("template", "found"), table(__file__, "malformed"))
def test_a_missing_or_extra_verb_makes_a_question_malformed(template: str, found: bool) -> None:
    assert is_understood(Lookup("", template, (Lookup("", "Who wrote Night Ferry?"),))) is found


@pytest.mark.parametrize("row", table(__file__, "not_understood"))
def test_a_part_that_makes_no_sense_by_itself_leaves_the_question_whole(
    planner: QuestionPlanner, row: tuple[str]
) -> None:
    assert templates(planner.plan(row[0])) == list(row)


@pytest.mark.parametrize(("question", "asked"), table(__file__, "statements"))
def test_a_question_after_statements_asks_about_what_they_mean(
    planner: QuestionPlanner, question: str, asked: list[str]
) -> None:
    node = planner.plan(question)
    assert templates(node.first if isinstance(node, Fallback) else node) == asked


@pytest.mark.parametrize(
    "question",
    [
        "Karl Voss won a medal. How high is the Brell Tower?",  # nothing refers back
        "A film won the prize. It was made in Orm. Where was he born?",  # nobody whom "he" can mean
    ],
)
def test_sentences_without_a_reference_are_one_question(planner: QuestionPlanner, question: str) -> None:
    assert not any("which" in template.lower() for template in templates(planner.plan(question)))
