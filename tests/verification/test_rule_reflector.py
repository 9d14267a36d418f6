"""The rule that reflects without an LLM."""

from __future__ import annotations

from fakes.tower_facts import BRENK, INQUIRY, TOWER, draft
from iterative_rag.types import Inquiry
from iterative_rag.verification.rule_reflector import RuleReflector

PROVED = "Oda Brenk designed Velm Tower [1]."
FAILED = "It was finished in 1912 [1]."
OPEN = "Oda Brenk drew up the plans for Velm Tower [1]."


def test_the_rule_alone() -> None:
    found = RuleReflector().reflect(INQUIRY, draft(f"{PROVED} {OPEN} {FAILED}"))
    assert [claim.grounded for claim in found.claims] == [True, True, False]
    strict = RuleReflector(strict=True).reflect(INQUIRY, draft(f"{PROVED} {OPEN} {FAILED}"))
    assert [claim.grounded for claim in strict.claims] == [True, False, False]
    assert RuleReflector().reflect(INQUIRY, draft(PROVED, "Oda Brenk")).useful is True
    year = Inquiry("In which year was Velm Tower finished?", "?", (TOWER, BRENK))
    assert RuleReflector().reflect(year, draft(PROVED, "the great harbour of Karsa")).useful is False
