"""Plan, step, evaluate: a plan for a hard question, a step of it carried out by the finder, the plan evaluated again.

The planner sees all results and all that was tried, so the loop never goes round; it takes at most twice as many
steps as the first plan has.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.data_finder import DataFinder
from iterative_rag.engine.drafting import Drafting
from iterative_rag.engine.driver import RunDriver
from iterative_rag.engine.hop import search
from iterative_rag.engine.run_state import Progress, RunState
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
        return RunDriver(question, self._loop, self._drafting, self._budget, self._finder).steps()

    def _loop(self, state: RunState) -> Generator[Progress, None, RunState]:
        plan = self._planner.plan(state.inquiry)
        yield PlanningStep(state.next_hop, plan)
        if not plan.steps and not state.inquiry.tried:  # a question without a plan is looked up as it is
            plan = Plan((PlannedStep(state.inquiry.original),), plan.reason)
        last = len(state.hops) + STEPS_PER_PLANNED * len(plan.steps)
        while (need := _next(plan, state.inquiry)) and state.next_hop <= last:
            hop = state.next_hop
            if hop > self._settings.max_hops:
                raise self._budget.reached(Cap.HOPS)
            self._budget.check()
            wider = state.inquiry.looks(need) > 0
            state, _ = yield from search(state, self._finder, self._budget, [need], wider=wider)
            plan = self._planner.plan(state.inquiry, plan)
            yield PlanningStep(hop, plan)
        hop = max(len(state.hops), 1)
        return state.with_draft((yield from self._drafting.draft(hop, state.inquiry, last_attempt=True)))


def _next(plan: Plan, inquiry: Inquiry) -> Need | None:
    """The first step that was not taken; else the first that was taken just once and is still wanted, wider."""
    needs = [Need(step.question) for step in plan.steps]
    new = (need for need in needs if not inquiry.looks(need))
    return next(new, None) or next((need for need in needs if inquiry.looks(need) == 1), None)
