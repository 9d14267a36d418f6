"""Findings of a page: values with their quotes and trust."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Most findings of one page, and the least share of the best score that another must reach.
BEST, NEAR_BEST = 2, 0.75
# Exponent by which probabilities below 0.5 are lifted.
SPREAD = 0.37
# Words that deny a value ("Spouse: none"), and the value that is answered for them.
NONE = frozenset({"none", "never married", "unmarried", "no", "nobody"})
NOTHING = "none"
# What is found is cached under these: the rules of `page_reader` and those of `passage_extracts`.
RULES, EXTRACTS = "69", "extracts-2"
# The statement of a finding that may be one of several ends so.
INCOMPLETE = "(the list may be incomplete)"


@dataclass(frozen=True, slots=True)
class Finding:
    """A value with its verbatim quote. `score` is the trust in it, 0 to 1; at 0.5 it is as likely right as wrong.

    `statement` is the quote as shown to the user, with a table row written as a sentence. `rows` are further quotes,
    each with its statement, that the value rests on: the other rows that were counted.
    """

    value: str
    quote: str
    score: float
    statement: str
    rows: tuple[tuple[str, str], ...] = ()

    @property
    def quotes(self) -> tuple[tuple[str, str], ...]:
        """Every quote that the value rests on, with its statement."""
        return ((self.quote, self.statement), *self.rows)


def trust(probability: float) -> float:
    """Map a probability to the trust in a fact (0 to 1): values below 0.5 are lifted so that they remain comparable."""
    return 0.5 * (2 * probability) ** SPREAD if probability < 0.5 else probability


def probability(score: float) -> float:
    """The probability of which `score` is the trust."""
    return 0.5 * (2 * score) ** (1 / SPREAD) if score < 0.5 else score


def best_of(findings: Sequence[Finding]) -> list[Finding]:
    """The best finding and at most one nearly as good, from different quotes."""
    best: dict[str, Finding] = {}
    for finding in sorted(findings, key=lambda finding: -finding.score):
        best.setdefault(finding.quote, finding)
    kept = list(best.values())[:BEST]
    return [finding for finding in kept if finding.score >= NEAR_BEST * kept[0].score]
