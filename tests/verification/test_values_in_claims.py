"""Values in claims and facts: the same in any writing, and told apart where they differ."""

from __future__ import annotations

import pytest

from fakes.tower_facts import fact
from iterative_rag.types import Computation, Draft, Inquiry, Need
from iterative_rag.verification.groundedness import Standing, check
from tests.tables import table
from tests.text.table import rows


def standing(claim: str, quote: str, *computations: Computation, question: str = "What of Velm Tower?") -> Standing:
    """What the rule makes of one claim by one quoted fact."""
    facts = (fact(Need(question), "Velm Tower", quote),)
    draft = Draft(True, f"{claim} [1].", "x", (0,), computations=computations)
    return check(Inquiry(question, question, facts), draft)[0].standing


@pytest.mark.parametrize(("claim", "quote"), table(__file__, "proved"))
def test_a_value_is_proved_in_any_writing(claim: str, quote: str) -> None:
    assert standing(claim, quote) is Standing.PROVED


@pytest.mark.parametrize(("claim", "quote"), table(__file__, "failed"))
def test_another_value_has_failed(claim: str, quote: str) -> None:
    assert standing(claim, quote) is Standing.FAILED


@pytest.mark.parametrize(("claim", "quote", "expression", "result", "proved"), table(__file__, "restated"))
def test_a_result_is_restated_in_its_own_or_another_unit(
    claim: str, quote: str, expression: str, result: str, proved: bool
) -> None:
    assert (standing(claim, quote, Computation(expression, result, (0,))) is Standing.PROVED) is proved


@pytest.mark.parametrize(("claim", "short", "standing"), table(__file__, "counts"))
def test_a_number_may_count_what_the_answer_lists(claim: str, short: str, standing: str) -> None:
    facts = (
        fact(Need("What of it?"), "Velm Tower", "Oda Brenk and Tomas Vey designed Velm Tower."),
        fact(
            Need("What of her?"), "Oda Brenk", "Oda Brenk was on the team of 1912. Oda Brenk was on the team of 1920."
        ),
    )
    draft = Draft(True, f"{claim} [1][2].", short, (0, 1))
    assert check(Inquiry("What of it?", "What of it?", facts), draft)[0].standing == standing


def test_every_text_of_the_table_proves_itself() -> None:
    told = [row for row in rows() if row.meaning]
    failed = [row for row in told if standing(f"Velm: {row.text}", f"Velm: {row.text}.") is Standing.FAILED]
    assert failed == []
