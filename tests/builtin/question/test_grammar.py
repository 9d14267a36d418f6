"""Plans of the hand-written rules, on invented names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iterative_rag.builtin.question.grammar import parse
from iterative_rag.builtin.question.plan import Computed, Lookup, NamePart, Node, Operation, Part, slots_of


def lookups(node: Node) -> list[Lookup]:
    """The look-ups of a plan, innermost first."""
    found = [lookup for child in slots_of(node) for lookup in lookups(child)]
    return [*found, node] if isinstance(node, Lookup) else found


def needs(question: str) -> list[str]:
    """The templates of a plan, innermost first."""
    plan = parse(question)
    return [lookup.template for lookup in lookups(plan)] if plan else []


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who was the father-in-law of Ann Orley?", ["Who is Ann Orley's spouse?", "Who is {0}'s father?"]),
        (
            "What was the tallest mast when Ann Orley was given the Harp Prize?",
            ["In which year was Ann Orley given the Harp Prize?", "What was the tallest mast in {0}?"],
        ),
        ("What is the maiden name of the mayor of Orm?", ["Who is the mayor of Orm?"]),
        ("Who founded Brell?", []),
    ],
)
def test_what_is_looked_up_in_steps(question: str, expected: list[str]) -> None:
    assert needs(question) == expected


def test_the_parts_of_a_name_are_looked_up_side_by_side() -> None:
    plan = parse(
        "If my cat has the same first name as the 4th queen of Orm's mother and her surname is the same as the second "
        "drowned admiral's mother's maiden name, what is her name?"
    )
    assert isinstance(plan, Computed)
    assert plan.operation is Operation.JOIN
    first, last = plan.operands
    assert isinstance(first, NamePart)
    assert isinstance(last, NamePart)
    assert (first.part, last.part) == (Part.FIRST, Part.MAIDEN)
    assert [lookup.template for lookup in lookups(first)] == ["Who is the 4th queen of Orm?", "Who is {0}'s mother?"]
    assert [lookup.template for lookup in lookups(last)] == [
        "Who is the second drowned admiral?",
        "Who is {0}'s mother?",
    ]


def test_the_surname_may_be_named_before_the_first_name() -> None:
    plan = parse(
        "A boy bears the surname of the mayor of Orm and the first name of the mayor of Tell; what is he called?"
    )
    assert isinstance(plan, Computed)
    assert [operand.part for operand in plan.operands if isinstance(operand, NamePart)] == [Part.FIRST, Part.LAST]


@pytest.mark.parametrize(
    ("question", "operation", "unit", "operands"),
    [
        (
            "How many metres taller is the Brell Tower than the Orm Mast?",
            Operation.DIFFERENCE,
            "metres",
            ["What is the height in metres of the Brell Tower?", "What is the height in metres of the Orm Mast?"],
        ),
        (
            "How many years after the Brell Bridge was opened did the Orm Bridge follow?",
            Operation.YEARS,
            "",
            ["In which year was the Brell Bridge opened?", "In which year was the Orm Bridge opened?"],
        ),
        (
            "How many years after Ann Orley did Karl Voss win the Harp Prize?",
            Operation.YEARS,
            "",
            ["In which year did Ann Orley win the Harp Prize?", "In which year did Karl Voss win the Harp Prize?"],
        ),
        (
            "How many more goals did Orm score in 1956 than Tell in 1960?",
            Operation.DIFFERENCE,
            "",
            ["How many goals did Orm score in 1956?", "How many goals did Tell score in 1960?"],
        ),
        (
            "How old was Ann Orley when Karl Voss died?",
            Operation.YEARS,
            "age",
            ["When was Ann Orley born?", "When did Karl Voss die?"],
        ),
        (
            "Who was born earlier, Ann Orley or Karl Voss?",
            Operation.LEAST,
            "",
            ["When was Ann Orley born?", "When was Karl Voss born?"],
        ),
        (
            "Which is longer, the Brell or the Orm?",
            Operation.GREATEST,
            "",
            ["What is the length of the Brell?", "What is the length of Orm?"],
        ),
        (
            "By how many metres is the Brell Tower taller than the Orm Mast?",
            Operation.DIFFERENCE,
            "metres",
            ["What is the height in metres of the Brell Tower?", "What is the height in metres of the Orm Mast?"],
        ),
        (
            "How many years separate the birth of Ann Orley and the death of Karl Voss?",
            Operation.YEARS,
            "",
            ["In which year was Ann Orley born?", "In which year did Karl Voss die?"],
        ),
        (
            "Were Ann Orley and Karl Voss born in the same town?",
            Operation.SAME,
            "",
            ["In which town was Ann Orley born?", "In which town was Karl Voss born?"],
        ),
        (
            "Are Brell and Orm in the same country?",
            Operation.SAME,
            "",
            ["In which country is Brell?", "In which country is Orm?"],
        ),
    ],
)
def test_what_must_be_computed(question: str, operation: Operation, unit: str, operands: list[str]) -> None:
    plan = parse(question)
    assert isinstance(plan, Computed)
    assert (plan.operation, plan.unit) == (operation, unit)
    assert [operand.template for operand in plan.operands if isinstance(operand, Lookup)] == operands


@pytest.mark.parametrize(
    ("question", "operation", "expected"),
    [
        (
            "How many years after Bo Li did his son win the Harp Prize?",
            Operation.YEARS,
            [
                "In which year did Bo Li win the Harp Prize?",
                "In which year did Bo Li's son win the Harp Prize?",
            ],
        ),
        (
            "What is the difference in running time between Dawn and Dusk?",
            Operation.DIFFERENCE,
            ["What is the running time of Dawn?", "What is the running time of Dusk?"],
        ),
        (
            "Who designed Orm Hall, Bo Li or Ann Li?",
            Operation.CHOICE,
            ["Did Bo Li design Orm Hall?", "Did Ann Li design Orm Hall?"],
        ),
    ],
)
def test_what_else_must_be_computed(question: str, operation: Operation, expected: list[str]) -> None:
    plan = parse(question)
    assert isinstance(plan, Computed)
    assert plan.operation is operation
    assert needs(question) == expected


def test_who_lived_longer_compares_two_ages() -> None:
    plan = parse("Who lived longer, Ann Li or Bo Li?")
    assert isinstance(plan, Computed)
    assert plan.operation is Operation.GREATEST
    assert [operand.operation for operand in plan.operands if isinstance(operand, Computed)] == [Operation.YEARS] * 2


WORDS = (
    "who what which when the of in Ann Orley Brell's mother that was born died first and or , ? than how many years "
    "after same name whose is { } 1912 's ("
)
QUESTION_LIKE = st.lists(st.sampled_from(WORDS.split()), max_size=40).map(" ".join)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=300), QUESTION_LIKE))
def test_no_text_breaks_the_grammar(text: str) -> None:
    plan = parse(text)
    for lookup in lookups(plan) if plan else ():
        # Every placeholder of a template has its slot, and no other brace is left.
        assert lookup.template.format(*("x" for _ in lookup.slots)) is not None
