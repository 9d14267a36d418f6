"""Thresholds on trust: for a fact to be used in the next hop, and for a value to be given as the answer."""

from __future__ import annotations

from dataclasses import dataclass

from iterative_rag.builtin.language.lexicon import AnswerKind
from iterative_rag.builtin.question.need_query import Query, read_query
from iterative_rag.builtin.question.plan import Fallback, Lookup, Node


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Least trust (0 to 1) of facts that are built on (`built_on`) and of answers that are given (`given`).

    `unclear` and `unclear_number` replace `built_on` where the need contains an unresolved description; numbers and
    dates are matched too easily and need more. `direct` replaces `given` for answers from a single look-up, `date` for
    dates.
    """

    built_on: float
    unclear: float
    unclear_number: float
    given: float
    direct: float
    date: float

    def to_build_on(self, query: Query, *, unclear: bool) -> float:
        if not unclear:
            return self.built_on
        return (
            self.unclear_number if query.kind in {AnswerKind.NUMBER, AnswerKind.YEAR, AnswerKind.DATE} else self.unclear
        )

    def to_answer(self, plan: Node) -> float:
        if isinstance(plan, Fallback):
            return self.to_answer(plan.first)
        if not isinstance(plan, Lookup):
            return self.given
        if read_query(plan.template).kind in {AnswerKind.YEAR, AnswerKind.DATE}:
            return self.date
        return self.given if plan.slots else self.direct


# Chosen on HotpotQA, 2WikiMultihopQA and MuSiQue train rows and on the tuning questions of the starter corpus.
CAREFUL = Thresholds(built_on=0.25, unclear=0.3, unclear_number=0.45, given=0.27, direct=0.32, date=0.38)
# Never abstain: give the best answer whatever its trust.
GUESSING = Thresholds(built_on=0.15, unclear=0.15, unclear_number=0.2, given=0.0, direct=0.0, date=0.0)
