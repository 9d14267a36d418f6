"""Closed questions and choices: their plans, the verdict of a page on a closed need, and the computed answer."""

from __future__ import annotations

import pytest

from iterative_rag.builtin.language.nations import country_of, nations_in, within
from iterative_rag.builtin.question.grammar import parse
from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.question.plan import Computed, Lookup, Operation
from iterative_rag.builtin.reading.closed_needs import describe, verify
from iterative_rag.builtin.reading.page_units import UnitPage, page
from iterative_rag.builtin.reasoning.computed_values import compute
from iterative_rag.types import Window

LEE = "Ann Lee (3 May 1941 – 9 June 1999) was a Norwegian novelist and poet. She lived in Orm. She won the Harp Prize."
DAWN = "Dawn is a 1976 British drama film directed by Bo Orm. It was released by Tell Pictures."


def _page(title: str, text: str) -> UnitPage:
    return page(Window(title, title, "", (), text))


@pytest.mark.parametrize(
    ("question", "operation", "expected"),
    [
        (
            "Are Ann Lee and Bo Orm both film directors?",
            Operation.BOTH,
            ["Is Ann Lee a film director?", "Is Bo Orm a film director?"],
        ),
        (
            "Are both magazines, the Orm Review and Tell Me, British publications?",
            Operation.BOTH,
            ["Is the magazine the Orm Review a British publication?", "Is the magazine Tell Me a British publication?"],
        ),
        (
            "Are both Ann Lee and Bo Orm American?",
            Operation.BOTH,
            ["Is Ann Lee American?", "Is Bo Orm American?"],
        ),
        (
            "Are Dawn and Lost in Tell both animated features?",
            Operation.BOTH,
            ["Is Dawn an animated feature?", "Is Lost in Tell an animated feature?"],
        ),
        (
            "Did Ann Lee and Bo Orm both win a doubles title?",
            Operation.BOTH,
            ["Did Ann Lee win a doubles title?", "Did Bo Orm win a doubles title?"],
        ),
        (
            "Were either Ann Lee or Bo Orm winners of the Harp Prize?",
            Operation.EITHER,
            ["Was Ann Lee a winner of the Harp Prize?", "Was Bo Orm a winner of the Harp Prize?"],
        ),
        (
            "The director Ann Lee has an OBE. Does the director Bo Orm also have one?",
            Operation.BOTH,
            ["Does the director Bo Orm have an OBE?"],
        ),
        (
            "Which singer is American, Ann Lee or Bo Orm?",
            Operation.CHOICE,
            ["Is the singer Ann Lee American?", "Is the singer Bo Orm American?"],
        ),
        (
            "Which canal was built between 1836 and 1847, Orm Canal or Tell Canal?",
            Operation.CHOICE,
            ["Was Orm Canal built between 1836 and 1847?", "Was Tell Canal built between 1836 and 1847?"],
        ),
        (
            "Which magazine ran for only one year, Dawn or Dusk?",
            Operation.CHOICE,
            ["Did the magazine Dawn run for only one year?", "Did the magazine Dusk run for only one year?"],
        ),
        (
            "Which plant is larger, the Ormia or the Tellia?",
            Operation.CHOICE,
            ["Is the Ormia large?", "Is the plant Tellia large?"],
        ),
        (
            "Which film, Dawn or Dusk, was released first?",
            Operation.LEAST,
            ["When did Dawn come out?", "When did Dusk come out?"],
        ),
        (
            "Between the two bands Orm and Tell, which group formed earlier?",
            Operation.LEAST,
            ["When was the band Orm founded or published?", "When was the band Tell founded or published?"],
        ),
        (
            "Who is younger Ann Lee or Bo Orm?",
            Operation.GREATEST,
            ["When was Ann Lee born?", "When was Bo Orm born?"],
        ),
        (
            "Which city has a higher population, Orm or Tell?",
            Operation.GREATEST,
            ["What is the population of Orm?", "What is the population of Tell?"],
        ),
        (
            "Between Ann Lee and Bo Orm, which writer has had a more diverse career?",
            Operation.RICHEST,
            ["What is the occupation of Ann Lee?", "What is the occupation of Bo Orm?"],
        ),
        ("What do Ann Lee and Bo Orm have in common?", Operation.SHARED, ["What is Ann Lee?", "What is Bo Orm?"]),
        (
            "Which profession do Ann Lee and Bo Orm have in common?",
            Operation.SHARED,
            ["What is the occupation of Ann Lee?", "What is the occupation of Bo Orm?"],
        ),
        (
            "Both Dawn and Dusk were released by what label?",
            Operation.COMMON,
            ["By what label was Dawn released?", "By what label was Dusk released?"],
        ),
        (
            "What role did Ann Lee and Bo Orm perform in their respective bands, Dawn and Dusk?",
            Operation.COMMON,
            ["What role did Ann Lee perform in Dawn?", "What role did Bo Orm perform in Dusk?"],
        ),
        (
            "Do Ann Lee and Bo Orm have the same occupation?",
            Operation.SAME,
            ["What is the occupation of Ann Lee?", "What is the occupation of Bo Orm?"],
        ),
    ],
)
def test_each_side_is_asked(question: str, operation: Operation, expected: list[str]) -> None:
    plan = parse(question)
    assert isinstance(plan, Computed)
    assert plan.operation is operation
    assert [operand.template for operand in plan.operands if isinstance(operand, Lookup)] == expected


@pytest.mark.parametrize(
    ("question", "template"),
    [
        ("Are the director of Dawn and the director of Dusk both American?", "Is {0} American?"),
        ("Are the directors of both films Dawn and Dusk from the same country?", "What is the nationality of {0}?"),
    ],
)
def test_a_side_that_is_described_is_looked_up_first(question: str, template: str) -> None:
    plan = parse(question)
    assert isinstance(plan, Computed)
    assert [operand.template for operand in plan.operands if isinstance(operand, Lookup)] == [template] * 2
    assert all(isinstance(operand, Lookup) and operand.slots for operand in plan.operands)


@pytest.mark.parametrize(
    ("need", "value", "quoted"),
    [
        ("Is Ann Lee a writer?", "yes", "novelist and poet"),
        ("Is Ann Lee Norwegian?", "yes", "Norwegian"),
        ("Is Ann Lee from Europe?", "yes", "Norwegian"),
        ("Is Ann Lee a Norwegian novelist?", "yes", "Norwegian novelist"),
        ("Did Ann Lee win the Harp Prize?", "yes", "won the Harp Prize"),
        ("Was Ann Lee alive in the 1960s?", "yes", "1941"),
        ("Was Ann Lee alive in 2005?", "no", "1999"),
        ("Is Ann Lee an American novelist?", "no", "Norwegian"),
        ("Is Ann Lee a film director?", "no", "novelist"),
    ],
)
def test_a_page_decides_what_is_said_of_its_subject(need: str, value: str, quoted: str) -> None:
    verdict = verify(read_query(need), _page("Ann Lee", LEE))
    assert verdict is not None
    assert verdict.value == value
    assert quoted in verdict.quote
    assert verdict.quote in LEE


def test_no_is_trusted_less_than_yes_and_a_contradiction_more_than_silence() -> None:
    trusts = []
    for need in ("Is Ann Lee a novelist?", "Is Ann Lee American?", "Did Ann Lee found a Harp school?"):
        verdict = verify(read_query(need), _page("Ann Lee", LEE))
        assert verdict is not None
        trusts.append(verdict.score)
    assert trusts == sorted(trusts, reverse=True)
    assert trusts[0] > trusts[1] > trusts[2]


@pytest.mark.parametrize("title", ["Bo Orm", "Ann Leeson", "Ann Lee discography"])
def test_another_page_decides_nothing(title: str) -> None:
    text = f"{title} was a Norwegian novelist who knew Ann Lee."
    assert verify(read_query("Is Ann Lee a novelist?"), _page(title, text)) is None


def test_a_class_noun_tells_namesakes_apart() -> None:
    need = read_query("Is the film Dawn British?")
    film = verify(need, _page("Dawn (film)", DAWN))
    song = verify(need, _page("Dawn (song)", "Dawn is a British song."))
    assert film is not None
    assert song is not None
    assert film.score > song.score


@pytest.mark.parametrize(
    ("need", "value"),
    [
        ("What is Ann Lee?", "Norwegian novelist and poet"),
        ("What is the occupation of Ann Lee?", "novelist and poet"),
        ("What is the nationality of Ann Lee?", "Norwegian"),
    ],
)
def test_a_lead_describes_its_subject(need: str, value: str) -> None:
    told = describe(read_query(need), _page("Ann Lee", LEE))
    assert told is not None
    assert (told.value, told.quote in LEE) == (value, True)


def test_other_needs_are_not_described() -> None:
    assert describe(read_query("When was Ann Lee born?"), _page("Ann Lee", LEE)) is None
    assert describe(read_query("What is Bo Orm?"), _page("Ann Lee", LEE)) is None


@pytest.mark.parametrize(
    ("operation", "values", "labels", "unit", "expected"),
    [
        (Operation.BOTH, ["yes", "yes"], [], "", "Yes"),
        (Operation.BOTH, ["yes", "no"], [], "", "No"),
        (Operation.EITHER, ["no", "yes"], [], "", "Yes"),
        (Operation.EITHER, ["no", "no"], [], "", "No"),
        (Operation.CHOICE, ["no", "yes"], ["A", "B"], "", "B"),
        (Operation.CHOICE, ["no", "yes"], ["A", "B"], "no", "A"),
        (Operation.CHOICE, ["no", "no"], ["A", "B"], "", "A"),
        (Operation.RICHEST, ["author", "poet, novelist and editor"], ["A", "B"], "", "B"),
        (Operation.SHARED, ["American writer", "American poet and actor"], [], "", "American"),
        (Operation.SHARED, ["poet and film director", "film director, singer"], [], "", "film director"),
        (Operation.SHARED, ["poet", "boxer"], [], "", None),
        (Operation.SAME, ["American", "United States"], [], "", "Yes"),
        (Operation.SAME, ["Lyon, France", "Paris, France"], [], "", "No"),
        (Operation.SAME, ["actor, director", "director, producer"], [], "", "Yes"),
        (Operation.SAME, ["Jiangsu province, China", "Jiangxi province, China"], [], "part", "No"),
        (Operation.SAME, ["United States", "Louisiana"], [], "part", None),
        (Operation.COMMON, ["lead singer", "lead vocalist"], [], "", "lead singer"),
    ],
)
def test_computing(operation: Operation, values: list[str], labels: list[str], unit: str, expected: str | None) -> None:
    worked = compute(operation, values, labels, unit)
    assert (worked and worked.text) == expected


@pytest.mark.parametrize(
    ("values", "trusts", "expected"),
    [(["yes", "yes"], [0.6, 0.9], "B"), (["no", "no"], [0.7, 0.4], "B"), (["no", "no"], [0.4, 0.7], "A")],
)
def test_of_two_that_say_the_same_trust_decides(values: list[str], trusts: list[float], expected: str) -> None:
    worked = compute(Operation.CHOICE, values, ["A", "B"], "", trusts)
    assert worked is not None
    assert worked.text == expected


def test_nations() -> None:
    assert nations_in("an English-American poet from Texas who ate turkey") == ("england", "united_states", "texas")
    assert country_of("texas") == country_of("united_states") == "united_states"
    assert within("england", "united_kingdom")
    assert within("texas", "north_america")
    assert not within("united_kingdom", "england")
