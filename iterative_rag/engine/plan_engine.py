"""Plan, step, evaluate: a plan for a hard question, a step of it carried out by the finder, the plan evaluated again.

Whoever plans sees all results and all that was tried, so the loop never goes round; it takes at most twice as many
steps as the first plan has.
"""

from __future__ import annotations

from collections.abc import Iterator

from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.data_finder import DataFinder
from iterative_rag.engine.drafting import Drafting
from iterative_rag.engine.run_state import Record
from iterative_rag.engine.running import begun, search, to_its_end
from iterative_rag.protocols import Planner
from iterative_rag.settings import Settings
from iterative_rag.types import Cap, Inquiry, Need, Plan, PlannedStep, PlanningStep, Step

# Steps that may be taken, for each step of the first plan.
STEPS_PER_PLANNED = 2


class PlanEngine:
    """One engine serves one run."""

    def __init__(
        self, planner: Planner, finder: DataFinder, drafting: Drafting, budget: RunBudget, settings: Settings
    ) -> None:
        self._planner, self._finder, self._drafting = planner, finder, drafting
        self._budget, self._settings = budget, settings

    def steps(self, question: str) -> Iterator[Step]:
        record = begun(question, self._budget)
        return to_its_end(record, self._planned, self._drafting, self._finder)

    def _planned(self, record: Record) -> Iterator[Step]:
        plan = self._planner.plan(record.inquiry)
        hop = len(record.hops)
        yield PlanningStep(hop + 1, plan)
        if not plan.steps and not record.inquiry.tried:  # a question that nobody can plan is looked up as it is
            plan = Plan((PlannedStep(record.inquiry.original),), plan.reason)
        most = hop + STEPS_PER_PLANNED * len(plan.steps)
        while (need := _next(plan, record.inquiry)) and hop < most:
            hop += 1
            if hop > self._settings.max_hops:
                raise self._budget.reached(Cap.HOPS)
            self._budget.check()
            record.begin_hop()
            yield from search(record, self._finder, hop, [need], wider=record.inquiry.looks(need) > 0)
            record.end_hop(record.inquiry.question)
            plan = self._planner.plan(record.inquiry, plan)
            yield PlanningStep(hop, plan)
        drafted = yield from self._drafting.draft(max(hop, 1), record.inquiry, last_attempt=True)
        record.take(drafted)


def _next(plan: Plan, inquiry: Inquiry) -> Need | None:
    """The first step that was not taken; else the first that was taken just once and is still wanted, wider."""
    needs = [Need(step.question) for step in plan.steps]
    fresh = (need for need in needs if not inquiry.looks(need))
    return next(fresh, None) or next((need for need in needs if inquiry.looks(need) == 1), None)
