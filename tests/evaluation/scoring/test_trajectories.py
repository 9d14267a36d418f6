"""The course of a run against the steps that were expected of it, and the courses that a question allows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes.evaluation_records import record
from iterative_rag.errors import UsageError
from iterative_rag.evaluation.datasets.dataset_forms import load
from iterative_rag.evaluation.metrics.summary import summarise
from iterative_rag.evaluation.records import FoundFact, Hop, from_json, to_json
from iterative_rag.evaluation.scoring.trajectories import allowed, check

STEPS = ("Karsa", "Oda Brenk", "1911")


def hops(*values: str) -> tuple[Hop, ...]:
    """One hop a string; the values of its facts stand between bars."""
    facts = [
        tuple(FoundFact("?", value, "", "", "Some article", "d") for value in found.split("|") if value)
        for found in values
    ]
    return tuple(Hop(n, "?", facts=found) for n, found in enumerate(facts, start=1))


def course(*values: str, steps: tuple[str, ...] = STEPS) -> dict[str, float]:
    found = check(record("q", hops=hops(*values), expected_steps=steps))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("values", "exact", "in_order", "any_order", "subset", "found"),
    [
        (["Karsa", "Oda Brenk", "1911"], True, True, True, True, 1.0),
        (["in Karsa", "Öda Brenk", "5 May 1911"], True, True, True, True, 1.0),  # matched as answers are
        (["Karsa|Oda Brenk", "1911"], True, True, True, True, 1.0),  # found at the same time
        (["Karsa", "", "Oda Brenk", "1911"], True, True, True, True, 1.0),  # a hop that found nothing
        (["Karsa", "a harbour", "Oda Brenk", "1911"], False, True, True, False, 1.0),  # a detour
        (["Oda Brenk", "Karsa", "1911"], False, False, True, True, 1.0),
        (["Oda Brenk", "Karsa", "Oda Brenk", "1911"], True, True, True, True, 1.0),  # found again in its turn
        (["Karsa", "Oda Brenk"], False, False, False, True, 2 / 3),
        (["Karsa", "Ludwig Holm", "1912"], False, False, False, False, 1 / 3),
        ([], False, False, False, True, 0.0),
    ],
)
def test_courses(values: list[str], exact: bool, in_order: bool, any_order: bool, subset: bool, found: float) -> None:
    expected = {"exact": exact, "in_order": in_order, "any_order": any_order, "subset": subset}
    assert course(*values) == {**expected, "found": pytest.approx(found)}


# --- the steps taken -------------------------------------------------------------------------

DIRECT = ("shortlist", "grading", "reading", "answering")
BY_WEB = ("shortlist", "grading", "web", "reading", "answering")


@pytest.mark.parametrize(
    ("taken", "expected"),
    [
        (DIRECT, True),
        (BY_WEB, True),
        (("shortlist", "shortlist", "grading", "grading", "reading", "reading", "answering"), True),
        (("shortlist", "reading", "answering"), False),
        ((*DIRECT, "reflection"), False),
        ((), False),
    ],
)
def test_a_run_may_take_any_of_the_allowed_courses_and_no_other(taken: tuple[str, ...], expected: bool) -> None:
    assert allowed(record("q", taken=taken, courses=(DIRECT, BY_WEB))) is expected
    assert allowed(record("q", taken=taken)) is None


def test_the_courses_are_read_from_the_file_and_summed_up(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    rows = [
        {"question": "One?", "answer": "1", "courses": [DIRECT, BY_WEB]},
        {"question": "Two?", "answer": "2", "courses": DIRECT},
        {"question": "Three?", "answer": "3"},
    ]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    one, two, three = (question.courses for question in load(file).questions)
    assert (one, two, three) == ((DIRECT, BY_WEB), (DIRECT,), ())
    ran = [record("a", taken=BY_WEB, courses=one), record("b", taken=BY_WEB, courses=two), record("c", taken=DIRECT)]
    assert [from_json(json.loads(json.dumps(to_json(single)))) for single in ran] == ran
    assert summarise(ran)["courses"] == {"n": 2, "allowed": 0.5}
    assert summarise(ran[2:])["courses"] is None


@pytest.mark.parametrize("courses", ["shortlist", [["shortlist"], "reading"], [["search the moon"]], {"a": 1}])
def test_courses_that_are_none_are_refused(courses: object, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps({"question": "One?", "answer": "1", "courses": courses}), encoding="utf-8")
    with pytest.raises(UsageError, match=r"courses|unknown step"):
        load(file)
