"""The course of a loop against the steps that were expected of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fakes.evaluation_records import record
from iterative_rag.evaluation.records import FoundFact, Hop, QuestionRecord
from iterative_rag.evaluation.scoring.trajectories import TrajectoryMatch, check, trajectory

STEPS = ("Karsa", "Oda Brenk", "1911")


def hops(*values: str) -> tuple[Hop, ...]:
    """One hop a string; the values of its facts stand between bars."""
    facts = [
        tuple(FoundFact("?", value, "", "", "Some article", "d") for value in found.split("|") if value)
        for found in values
    ]
    return tuple(Hop(n, "?", facts=found) for n, found in enumerate(facts, start=1))


def course(*values: str, steps: tuple[str, ...] = STEPS) -> TrajectoryMatch:
    found = check(record("q", hops=hops(*values), expected_steps=steps))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("values", "exact", "in_order", "any_order", "subset", "found"),
    [
        (["Karsa", "Oda Brenk", "1911"], True, True, True, True, 1.0),
        (["in Karsa", "Öda Brenk", "5 May 1911"], True, True, True, True, 1.0),  # matched as answers are
        (["Karsa|a harbour", "Oda Brenk", "1911|blue"], True, True, True, True, 1.0),  # beside a step: no detour
        (["Karsa|Oda Brenk", "1911"], True, True, True, True, 1.0),  # found at the same time
        (["Oda Brenk|Karsa", "1911"], True, True, True, True, 1.0),
        (["Karsa", "", "Oda Brenk", "1911"], True, True, True, True, 1.0),  # a hop that found nothing
        (["Karsa", "a harbour", "Oda Brenk", "1911"], False, True, True, False, 1.0),  # a detour
        (["Oda Brenk", "Karsa", "1911"], False, False, True, True, 1.0),
        (["Oda Brenk", "Karsa", "Oda Brenk", "1911"], True, True, True, True, 1.0),  # found again in its turn
        (["1911", "a harbour", "Oda Brenk|Karsa"], False, False, True, False, 1.0),
        (["Karsa", "Oda Brenk"], False, False, False, True, 2 / 3),
        (["Karsa", "Ludwig Holm", "1912"], False, False, False, False, 1 / 3),
        ([], False, False, False, True, 0.0),
    ],
)
def test_courses(values: list[str], exact: bool, in_order: bool, any_order: bool, subset: bool, found: float) -> None:
    match = course(*values)
    assert replace(match, found=found) == TrajectoryMatch(exact, in_order, any_order, subset, found)
    assert match.found == pytest.approx(found)


def test_a_value_must_be_the_step_and_not_only_near_it() -> None:
    assert course("not Karsa", "Oda Brenk or Ida Brenk", "1912").found == 0.0


def test_a_title_is_a_step_too_and_a_statement_where_there_is_no_value() -> None:
    facts = (
        FoundFact("?", "a town", "", "", "Karsa", "a"),
        FoundFact("?", "", "The tower was designed by Oda Brenk.", "", "Velm Tower", "b"),
        FoundFact("?", "high", "It was finished in 1911.", "", "Velm Tower", "b"),
    )
    found = check(record("q", hops=(Hop(1, "?", facts=facts),), expected_steps=STEPS))
    assert found is not None
    assert found.found == pytest.approx(2 / 3)


def test_without_expected_steps_there_is_nothing_to_check() -> None:
    assert check(record("q", hops=hops("Karsa"))) is None


def test_the_trajectory_lists_what_was_found_once() -> None:
    one: QuestionRecord = record("q", hops=hops("Karsa|", "Karsa|Oda Brenk", "1911"))
    assert trajectory(one) == ("Karsa", "Oda Brenk", "1911")
    no_value = Hop(1, "?", facts=(FoundFact("?", "", "It stands.", "", "Velm Tower", "b"),))
    assert trajectory(record("q", hops=(no_value,))) == ("Velm Tower",)
