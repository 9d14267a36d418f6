"""What lowers the confidence in an answer."""

from __future__ import annotations

from dataclasses import replace

from fakes.tower_facts import draft
from iterative_rag.types import Claim, Conflict, Draft, Reflection, Side
from iterative_rag.verification.confidence import confidence

PROVED = "Oda Brenk designed Velm Tower [1]."


def test_a_side_that_a_weighed_answer_does_not_cite_leaves_the_confidence() -> None:
    conflict = Conflict("When?", (Side("1911", (0,)), Side("1912", (2,))))
    cites_one = draft(PROVED, "Oda Brenk")
    weighed = replace(cites_one, weighed=True)
    assert confidence(weighed, None, (conflict,)) == 0.9
    assert confidence(cites_one, None, (conflict,)) == 0.5
    assert confidence(replace(weighed, cited=(0, 2)), None, (conflict,)) == 0.5


def test_confidence_is_held_down_by_what_speaks_against_the_answer() -> None:
    given = draft(PROVED, "Oda Brenk")
    proved, unproved = Claim("a", True, (0,)), Claim("b", False)
    sides = (Side("1911", (0,)), Side("1912", (1,)), Side("1913", (2,)))
    assert confidence(given) == confidence(given, Reflection((proved,))) == 0.9
    assert confidence(given, Reflection((proved, unproved))) == 0.2
    assert confidence(given, Reflection((proved,), useful=False)) == 0.2
    assert confidence(given, None, (Conflict("When?", sides),)) == 0.333
    abstained = Draft(False, "", missing="x", confidence=0.7)
    assert confidence(abstained, Reflection((unproved,), useful=False)) == 0.7
