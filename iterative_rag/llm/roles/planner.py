"""Planning by an LLM: the steps that are left, given everything that was found and tried."""

from __future__ import annotations

from dataclasses import dataclass

from iterative_rag.llm.replies.forms import PlanReply
from iterative_rag.llm.roles.analyst import tried_needs
from iterative_rag.llm.roles.role_call import RoleCall, fact_lines
from iterative_rag.types import Inquiry, Plan, PlannedStep

MOST_STEPS = 8
NO_PLAN = "(none yet: make one)"


@dataclass(frozen=True, slots=True)
class LLMPlanner:
    """`fact_chars`: how many characters of facts a prompt may hold."""

    role_call: RoleCall[PlanReply]
    fact_chars: int

    def plan(self, inquiry: Inquiry, before: Plan | None = None) -> Plan:
        """A plan, or what is left of `before` after the last result; no steps if the question can be answered."""
        reply = self.role_call.ask(
            lambda reply: _complaint(reply, inquiry),
            question=inquiry.original,
            facts=fact_lines(inquiry.facts, self.fact_chars),
            plan=_shown(before),
            tried=tried_needs(inquiry),
        )
        steps = [] if reply.done else [step for step in reply.steps if step.question]
        planned = tuple(PlannedStep(" ".join(step.question.split()), step.purpose) for step in steps[:MOST_STEPS])
        return Plan(planned, reply.reason)


def _complaint(reply: PlanReply, inquiry: Inquiry) -> str:
    if reply.done and not inquiry.facts:
        return '"done" is true, but there are no facts yet; plan the first look-ups'
    if not reply.done and not any(step.question for step in reply.steps):
        return '"steps" names no question, and "done" is not true'
    return ""


def _shown(plan: Plan | None) -> str:
    if plan is None:
        return NO_PLAN
    lines = [f"{n}. {step.question}{_purpose(step)}" for n, step in enumerate(plan.steps, start=1)]
    return "\n".join(lines) or "(no step was left)"


def _purpose(step: PlannedStep) -> str:
    return f" ({step.purpose})" if step.purpose else ""
