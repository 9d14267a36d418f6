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


DAYS = Computation("days(28 July 1941, 17 July 1959)", "6563", (0,))
LIVED = "Oda Brenk was born on 28 July 1941 and died on 17 July 1959."
HOURS = Computation("143320 min to h", "2388.666667 h", (0,))


@pytest.mark.parametrize(
    ("claim", "quote", "computation", "proved"),
    [
        ("Oda Brenk died 6563 days after she was born", LIVED, DAYS, True),
        ("Oda Brenk died 6,563 days after she was born", LIVED, DAYS, True),
        ("Oda Brenk died 6563 years after she was born", LIVED, DAYS, False),
        ("Oda Brenk died 6564 days after she was born", LIVED, DAYS, False),
        ("The journey took 2388 hours and 40 minutes", "The journey took 143,320 minutes.", HOURS, True),
        ("The journey took 2388.67 hours", "The journey took 143,320 minutes.", HOURS, True),
        ("The journey took 2388 hours and 10 minutes", "The journey took 143,320 minutes.", HOURS, False),
    ],
)
def test_a_result_is_restated_in_its_own_or_another_unit(
    claim: str, quote: str, computation: Computation, proved: bool
) -> None:
    assert (standing(claim, quote, computation) is Standing.PROVED) is proved


@pytest.mark.parametrize(
    ("claim", "short", "standing"),
    [
        ("Oda Brenk was on two teams, those of 1912 and 1920", "2", Standing.OPEN),
        ("Oda Brenk was on three teams, those of 1912 and 1920", "3", Standing.FAILED),
        ("Two designers of Velm Tower are named", "Oda Brenk and Tomas Vey", Standing.OPEN),
        ("Four designers of Velm Tower are named", "Oda Brenk and Tomas Vey", Standing.FAILED),
        ("Oda Brenk was on 1 team", "Oda Brenk", Standing.FAILED),
    ],
)
def test_a_number_may_count_what_the_answer_lists(claim: str, short: str, standing: Standing) -> None:
    facts = (
        fact(Need("What of it?"), "Velm Tower", "Oda Brenk and Tomas Vey designed Velm Tower."),
        fact(
            Need("What of her?"), "Oda Brenk", "Oda Brenk was on the team of 1912. Oda Brenk was on the team of 1920."
        ),
    )
    draft = Draft(True, f"{claim} [1][2].", short, (0, 1))
    assert check(Inquiry("What of it?", "What of it?", facts), draft)[0].standing is standing


def test_every_text_of_the_table_proves_itself() -> None:
    told = [row for row in rows() if row.meaning]
    failed = [row for row in told if standing(f"Velm: {row.text}", f"Velm: {row.text}.") is Standing.FAILED]
    assert failed == []
