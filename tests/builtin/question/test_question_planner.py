"""Plans of the question planner: when it follows the splitter, and when the rules."""

from __future__ import annotations

import pytest

from iterative_rag.builtin.question.plan import Computed, Fallback, Lookup, Node, is_well_formed, slots_of
from iterative_rag.builtin.question.question_planner import QuestionPlanner
from iterative_rag.builtin.question.splitter import Splitter


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


MENDED = [
    # A description that contains the name needs no look-up.
    # An extraposed clause belongs to its noun, not to the predicate.
    (
        "What show does a retired Orm player, who missed the whole 2003 season, host?",
        ["Which retired Orm player missed the whole 2003 season?", "What show does {0} host?"],
    ),
    # A question word at the end asks about the person found first.
    (
        "Low Tide is a film by a German director whose wife is who?",
        ["Low Tide is a film by which German director?", "{0}'s wife is who?"],
    ),
    # "taken" belongs to the question, not to the description.
    ("When was the country that made Fist Ferry taken by the British?", ["When was {0} taken by the British?"]),
]


@pytest.mark.parametrize(("question", "asked"), MENDED)
def test_wrong_span_boundaries_are_corrected(planner: QuestionPlanner, question: str, asked: list[str]) -> None:
    assert templates(planner.plan(question))[-len(asked) :] == asked


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("When was {0} born?", True),
        ("Who did {0} for?", False),
        ("Who is {0} born who is known for her voice?", False),
        ("What is {0} is located?", False),
        ("What is the capital of {0}?", True),
        ("{0} was founded by who?", True),
    ],
)
def test_a_missing_or_extra_verb_makes_a_question_malformed(template: str, found: bool) -> None:
    assert is_well_formed(Lookup("", template, (Lookup("", "Who wrote Night Ferry?"),))) is found


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        (
            "Ann Orley led a film about the doctor who healed Tell. Who composed its music?",
            ["Ann Orley led which film about the doctor who healed Tell?", "Who composed {0}'s music?"],
        ),
        (
            "Ann Orley designed the Brell Tower. In which country was she born?",
            ["In which country was Ann Orley born?"],
        ),
        ("Ann Orley was a painter. In which year did she die?", ["In which year did Ann Orley die?"]),
        ("Ann Orley never left Orm. Who wrote about her?", ["Who wrote about Ann Orley?"]),
        (
            "The Brell Bridge was drawn by Ann Orley and a partner. Where was that partner born?",
            ["The Brell Bridge was drawn by Ann Orley and which partner?", "Where was {0} born?"],
        ),
        ("Ann Orley sang an opera in Tell. What is this opera called?", ["Ann Orley sang which opera in Tell?"]),
        (
            "Karl Voss lived in somebody's house. Where was that novelist born?",
            ["Karl Voss lived in whose house?", "Where was {0} born?"],
        ),
        (
            "Karl Voss once ran a city as its mayor. Who built the opera house there?",
            ["Karl Voss once ran which city as its mayor?", "Who built the opera house in {0}?"],
        ),
        (
            "Tove Lind was born in a town in Orm. She is a doctor. What is the population of that town?",
            ["Tove Lind was born in which town in Orm?", "What is the population of {0}?"],
        ),
        (
            "One tower was struck by lightning in 1973. Who is its architect?",
            ["Which tower was struck by lightning in 1973?", "Who is {0}'s architect?"],
        ),
        (
            "Somebody directed the film Dawn. On what date did that person die?",
            ["Who is the director of Dawn?", "When did {0} die?"],
        ),
    ],
)
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
