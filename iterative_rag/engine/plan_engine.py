"""Plan, step, evaluate: a plan for a hard question, a step of it carried out, the plan evaluated again.

A step is a search of the corpus, a search of the web where the user allows it, or a calculation. The planner sees all
results and all that was tried, so the loop never goes round; it takes at most twice as many steps as the first plan.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace

from iterative_rag.computing import ComputeError, compute
from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.data_finder import DataFinder
from iterative_rag.engine.drafting import Drafting
from iterative_rag.engine.driver import RunDriver
from iterative_rag.engine.hop import search
from iterative_rag.engine.run_state import Progress, RunState
from iterative_rag.protocols import Planner
from iterative_rag.settings import Settings
from iterative_rag.types import (
    Cap,
    Computation,
    Inquiry,
    Need,
    Plan,
    PlannedStep,
    PlanningStep,
    PlanTool,
    Step,
    ToolStep,
)

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
        left = STEPS_PER_PLANNED * len(plan.steps)
        while left and (step := _next(plan, state.inquiry)):
            left -= 1
            hop = state.next_hop
            self._budget.check()
            if step.tool is PlanTool.CALCULATE:
                state = yield from _calculated(state, step)
                if len(plan.steps) == 1 and state.inquiry.computed:  # only the answer waits for the result
                    break
            else:
                state = yield from self._looked_up(state, step)
            plan = self._planner.plan(state.inquiry, plan)
            yield PlanningStep(hop, plan)
        hop = max(len(state.hops), 1)
        return state.with_draft((yield from self._drafting.draft(hop, state.inquiry, last_attempt=True)))

    def _looked_up(self, state: RunState, step: PlannedStep) -> Generator[Progress, None, RunState]:
        """The state after a search of the corpus, or of the web where that is allowed."""
        if state.next_hop > self._settings.max_hops:
            raise self._budget.reached(Cap.HOPS)
        need = Need(step.question)
        online = step.tool is PlanTool.WEB and self._finder.searches_web
        wider = state.inquiry.looks(need) > 0 and not online
        state, _ = yield from search(state, self._finder, self._budget, [need], wider=wider, online=online)
        return state


def _calculated(state: RunState, step: PlannedStep) -> Generator[Progress, None, RunState]:
    """The state with the result of an expression. One that is refused counts as tried, so it is not asked for again."""
    inquiry, hop = state.inquiry, max(len(state.hops), 1)
    try:
        result = compute(step.question)
    except ComputeError as error:
        yield ToolStep(hop, step.tool.value, step.question, f"refused, {error}")
        return replace(state, inquiry=replace(inquiry, tried=(*inquiry.tried, Need(step.question))))
    yield ToolStep(hop, step.tool.value, step.question, result)
    facts = tuple(place for place in step.facts if 0 <= place < len(inquiry.facts))
    done = Computation(step.question, result, facts)
    return replace(state, inquiry=replace(inquiry, computed=(*inquiry.computed, done)))


def _next(plan: Plan, inquiry: Inquiry) -> PlannedStep | None:
    """The first step that was not taken; else the first search that was made just once and is still wanted, wider."""
    computed = {one.expression for one in inquiry.computed}

    def looks(step: PlannedStep) -> int:
        looked = inquiry.looks(Need(step.question))
        return 2 * (step.question in computed or looked > 0) if step.tool is PlanTool.CALCULATE else looked

    new = (step for step in plan.steps if not looks(step))
    return next(new, None) or next((step for step in plan.steps if looks(step) == 1), None)
