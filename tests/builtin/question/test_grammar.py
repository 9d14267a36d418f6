"""Plans of the hand-written rules, on invented names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iterative_rag.builtin.question.grammar import parse
from iterative_rag.builtin.question.plan import Computed, Literal, Lookup, NamePart, Node, Operation, Part, slots_of


def lookups(node: Node) -> list[Lookup]:
    """The look-ups of a plan, innermost first."""
    found = [lookup for child in slots_of(node) for lookup in lookups(child)]
    return [*found, node] if isinstance(node, Lookup) else found


def needs(question: str) -> list[str]:
    """The templates of a plan, innermost first."""
    return [lookup.template for lookup in lookups(parse(question))]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "Where was the architect of the Brell Tower born?",
            ["Who is the architect of the Brell Tower?", "Where was {0} born?"],
        ),
        (
            "Who is the third chancellor of Ostrava's mother?",
            ["Who is the third chancellor of Ostrava?", "Who is {0}'s mother?"],
        ),
        (
            "What is the capital of the country whose anthem Ann Orley wrote?",
            ["Which country's anthem Ann Orley wrote?", "What is the capital of {0}?"],
        ),
        (
            "When did the singer who won the Harp Prize die?",
            ["Which singer won the Harp Prize?", "When did {0} die?"],
        ),
        (
            "On which river lies the town in which the man known as Tom the Miller was born?",
            ["In which town was Tom the Miller born?", "On which river lies {0}?"],
        ),
        (
            "In which state was the successor of the mayor whom Karl B. Voss shot born?",
            ["Which mayor did Karl B. Voss shoot?", "Who is the successor of {0}?", "In which state was {0} born?"],
        ),
        (
            "Who was the wife of the painter born in Lorn in 1799?",
            ["Which painter was born in Lorn in 1799?", "Who was the wife of {0}?"],
        ),
        (
            "In which lake does the river rise that separates Orm from Tell?",
            ["Which river separates Orm from Tell?", "In which lake does {0} rise?"],
        ),
        (
            "Where did the sculptor die with whom Ann Orley's brother worked in 1912?",
            ["Who is Ann Orley's brother?", "With which sculptor did {0} work in 1912?", "Where did {0} die?"],
        ),
        (
            "Which town hosted the fair in the year in which the author of Dust died?",
            ["Who is the author of Dust?", "In which year did {0} die?", "Which town hosted the fair in {0}?"],
        ),
        (
            "What was the tallest mast when Ann Orley was given the Harp Prize?",
            ["In which year was Ann Orley given the Harp Prize?", "What was the tallest mast in {0}?"],
        ),
        (
            "Who was the father-in-law of Ann Orley?",
            ["Who is Ann Orley's spouse?", "Who is {0}'s father?"],
        ),
        (
            "What is the currency of the country Ann Orley is from?",
            ["Which country is Ann Orley from?", "What is the currency of {0}?"],
        ),
        (
            "When did the director of film The Song Of The Hill (1976 film) die?",
            ["Who is the director of film The Song Of The Hill (1976 film)?", "When did {0} die?"],
        ),
        ("Who founded Brell?", ["Who founded Brell?"]),
        ("How tall is the Brell Tower?", ["How tall is the Brell Tower?"]),
    ],
)
def test_a_chain_becomes_one_question_after_another(question: str, expected: list[str]) -> None:
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
            "How many more workers did the Orm Works have in 1938 than in 1890?",
            Operation.DIFFERENCE,
            "",
            ["How many workers did the Orm Works have in 1938?", "How many workers did the Orm Works have in 1890?"],
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
            "How many more cups than medals did Ann Orley win?",
            Operation.DIFFERENCE,
            "",
            ["How many cups did Ann Orley win?", "How many medals did Ann Orley win?"],
        ),
        (
            "How many years separate the birth of Ann Orley and the death of Karl Voss?",
            Operation.YEARS,
            "",
            ["In which year was Ann Orley born?", "In which year did Karl Voss die?"],
        ),
        (
            "Which of the two rivers Brell and Orm is longer?",
            Operation.GREATEST,
            "",
            ["What is the length of Brell?", "What is the length of Orm?"],
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


CHAINS = [
    (
        "In which city did the composer whose last opera was finished by Karl Voss die?",
        ["Which composer's last opera was finished by Karl Voss?", "In which city did {0} die?"],
    ),
    (
        "Whose name does the river that divides Orm from Tell bear?",
        ["Which river divides Orm from Tell?", "Whose name does {0} bear?"],
    ),
    (
        "Who taught the judge who sent Ann Orley's brother to prison?",
        ["Who is Ann Orley's brother?", "Which judge sent {0} to prison?", "Who taught {0}?"],
    ),
    ("The town where Karl Voss died is the capital of what region?", ["In which town did Karl Voss die?"]),
    (
        "When was the country that made the Long Boat taken by the Ormish?",
        ["Which country made the Long Boat?", "When was {0} taken by the Ormish?"],
    ),
    ("What is the name of the mother of Ann Orley's teacher?", ["Who is Ann Orley's teacher?"]),
    ("Where did the director of Awake! The Hill die?", ["Who is the director of Awake! The Hill?"]),
    (
        "When Ann Orley died, who was mayor of Orm?",
        ["In which year did Ann Orley die?", "Who was mayor of Orm in {0}?"],
    ),
    ("Where did the tutor of Ann Orley's mother live?", ["Who is Ann Orley's mother?"]),
    ("Where did Joan, Lady of Orm's father die?", ["Who is Joan, Lady of Orm's father?", "Where did {0} die?"]),
]


@pytest.mark.parametrize(("question", "expected"), CHAINS)
def test_clauses_premises_and_titles(question: str, expected: list[str]) -> None:
    assert needs(question)[: len(expected)] == expected


@pytest.mark.parametrize(
    ("question", "operation", "expected"),
    [
        ("How old was Bo Li at his death?", Operation.YEARS, ["When was Bo Li born?", "When did Bo Li die?"]),
        (
            "Who got older, Bo Li or Ann Li?",
            Operation.GREATEST,
            ["When was Bo Li born?", "When did Bo Li die?", "When was Ann Li born?", "When did Ann Li die?"],
        ),
        (
            "How many years after Bo Li did his son win the Harp Prize?",
            Operation.YEARS,
            [
                "In which year did Bo Li win the Harp Prize?",
                "Who is Bo Li's son?",
                "In which year did {0} win the Harp Prize?",
            ],
        ),
        (
            "Does Bo Li have the same nationality as Ann Li?",
            Operation.SAME,
            ["What is the nationality of Bo Li?", "What is the nationality of Ann Li?"],
        ),
        (
            "What is the difference in running time between Dawn and Dusk?",
            Operation.DIFFERENCE,
            ["What is the running time of Dawn?", "What is the running time of Dusk?"],
        ),
        ("Who designed Orm Hall, Bo Li or Ann Li?", Operation.PICK, ["Who designed Orm Hall?"]),
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


def test_the_directors_of_two_films_are_looked_up_first() -> None:
    plan = parse("Which film has the director who died first, Dust or Long Hill?")
    assert isinstance(plan, Computed)
    assert [label.source for label in plan.labels] == ["Dust", "Long Hill"]
    assert [lookup.template for lookup in lookups(plan.operands[0])] == [
        "Who is the director of Dust?",
        "When did {0} die?",
    ]


def test_every_phrase_of_a_plan_stands_in_the_question() -> None:
    question = "Who is the wife of the painter who drew the oldest map of the town in which Ann Orley died?"
    pending: list[Node] = [parse(question)]
    seen = 0
    while pending:
        node = pending.pop()
        seen += 1
        assert node.source in question
        pending += slots_of(node)
    assert seen >= 3


WORDS = (
    "who what which when the of in Ann Orley Brell's mother that was born died first and or , ? than how many years "
    "after same name whose is { } 1912 's ("
)
QUESTION_LIKE = st.lists(st.sampled_from(WORDS.split()), max_size=40).map(" ".join)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=300), QUESTION_LIKE))
def test_no_text_breaks_the_grammar(text: str) -> None:
    plan = parse(text)
    assert isinstance(plan, Literal | Lookup | NamePart | Computed)
    for lookup in lookups(plan):
        # Every placeholder of a template has its slot, and no other brace is left.
        assert lookup.template.format(*("x" for _ in lookup.slots)) is not None
