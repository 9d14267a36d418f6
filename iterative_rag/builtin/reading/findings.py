"""What reading a page brings: values with the words that say them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Findings handed on from one page, and how near to the best one they must be.
BEST, NEAR_BEST = 2, 0.75


@dataclass(frozen=True, slots=True)
class Finding:
    """`value` out of `quote`, verbatim, and the trust in it, 0 to 1; at 0.5 it is as likely right as wrong.

    `statement` is the quote as it is shown: a row of a table as a sentence.
    """

    value: str
    quote: str
    score: float
    statement: str


def best_of(found: Sequence[Finding]) -> list[Finding]:
    """The best finding of a page, and one more that is nearly as good; one a quote."""
    best: dict[str, Finding] = {}
    for finding in sorted(found, key=lambda finding: -finding.score):
        best.setdefault(finding.quote, finding)
    kept = list(best.values())[:BEST]
    return [finding for finding in kept if finding.score >= NEAR_BEST * kept[0].score]
