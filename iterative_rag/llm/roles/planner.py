"""Planning by an LLM: the steps that are left, given everything that was found and tried."""

from __future__ import annotations

from dataclasses import dataclass

from iterative_rag.computing.display import shown
from iterative_rag.llm.prompts import lines
from iterative_rag.llm.replies.forms import PlannedReply, PlanReply
from iterative_rag.llm.roles.analyst import tried_needs
from iterative_rag.llm.roles.corpus_languages import AS_ASKED, CorpusLanguages
from iterative_rag.llm.roles.role_call import RoleCall, fact_lines
from iterative_rag.types import Inquiry, Plan, PlannedStep, PlanTool

MOST_STEPS = 8
NO_PLAN = "(none yet: make one)"
NOTHING_COMPUTED = "(nothing yet)"
WEB = '\n- "web": a question that only the web can answer, because it is about what is new or was tried in vain.'


@dataclass(frozen=True, slots=True)
class LLMPlanner:
    """`fact_chars`: how many characters of facts a prompt may hold. `web`: the user allows searching the web."""

    role_call: RoleCall[PlanReply]
    fact_chars: int
    web: bool = False
    languages: CorpusLanguages = AS_ASKED

    def plan(self, inquiry: Inquiry, before: Plan | None = None) -> Plan:
        """A plan, or what is left of `before` after the last result; no steps if the question can be answered."""
        reply = self.role_call.ask(
            lambda reply: _complaint(reply, inquiry),
            question=inquiry.original,
            facts=fact_lines(inquiry.facts, self.fact_chars),
            computed=_computed(inquiry),
            plan=_shown(before),
            web=WEB if self.web else "",
            tried=tried_needs(inquiry),
            languages=self.languages.for_needs(inquiry),
        )
        steps = [] if reply.done else [step for step in reply.steps if step.question]
        return Plan(tuple(_planned(step) for step in steps[:MOST_STEPS]), reply.reason)


def _planned(step: PlannedReply) -> PlannedStep:
    tool = PlanTool(step.tool)
    facts = tuple(n - 1 for n in step.facts) if tool is PlanTool.CALCULATE else ()
    return PlannedStep(" ".join(step.question.split()), step.purpose, tool, facts)


def _complaint(reply: PlanReply, inquiry: Inquiry) -> str:
    if reply.done and not inquiry.facts:
        return '"done" is true, but there are no facts yet; plan the first look-ups'
    if not reply.done and not any(step.question for step in reply.steps):
        return '"steps" names no question, and "done" is not true'
    return ""


def _computed(inquiry: Inquiry) -> str:
    return lines(shown(one.expression, one.result) for one in inquiry.computed) or NOTHING_COMPUTED


def _shown(plan: Plan | None) -> str:
    if plan is None:
        return NO_PLAN
    left = (f"{n}. {step.tool.value}: {step.question}{_purpose(step)}" for n, step in enumerate(plan.steps, start=1))
    return lines(left) or "(no step was left)"


def _purpose(step: PlannedStep) -> str:
    return f" ({step.purpose})" if step.purpose else ""
