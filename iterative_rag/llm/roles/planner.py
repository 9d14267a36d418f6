"""Planning by an LLM: the steps that are left, the outline of a report, and whether the facts suffice."""

from __future__ import annotations

from iterative_rag.computing.display import shown
from iterative_rag.llm.prompts import lines
from iterative_rag.llm.replies.forms import OutlineReply, PlannedReply, PlanReply, SufficiencyReply
from iterative_rag.llm.roles.need_analyst import named_need
from iterative_rag.llm.roles.role_call import LLMRole, RoleCall
from iterative_rag.text.asked_forms import as_aspect
from iterative_rag.text.citation_markers import MARKER
from iterative_rag.text.markup import plain
from iterative_rag.types import Inquiry, Need, OutlineSection, Plan, PlannedStep, PlanTool, Sufficiency

MOST_STEPS = 8
NO_PLAN = "(none yet: make one)"
NOTHING_COMPUTED = "(nothing yet)"
WEB = '\n- "web": a question that only the web can answer, because it is about what is new or was tried in vain.'
MOST_SECTIONS, MOST_QUESTIONS = 6, 2
# Characters of a heading; a longer one is a sentence.
LONGEST_HEADING = 60
# Searches for one need: the second is wider.
SEARCHES_PER_NEED = 2


class LLMPlanner(LLMRole[PlanReply]):
    """`web`: the user allows searching the web."""

    def __init__(self, call: RoleCall[PlanReply], web: bool = False) -> None:
        super().__init__(call)
        self._web = web

    def plan(self, inquiry: Inquiry, before: Plan | None = None) -> Plan:
        """A plan, or what is left of `before` after the last result; no steps if the question can be answered."""
        computed = lines(shown(computation.expression, computation.result) for computation in inquiry.computed)
        reply = self.call.about(
            inquiry,
            lambda reply: _unplanned(reply, inquiry),
            question=inquiry.original,
            computed=computed or NOTHING_COMPUTED,
            plan=_shown(before),
            web=WEB if self._web else "",
        )
        steps = [] if reply.done else [step for step in reply.steps if step.question]
        return Plan(tuple(_planned(step) for step in steps[:MOST_STEPS]), reply.reason)


class LLMOutliner(LLMRole[OutlineReply]):
    def outline(self, inquiry: Inquiry) -> tuple[OutlineSection, ...]:
        """The sections, each with one or two needs that no section before it has."""
        reply = self.call.about(
            inquiry, _unlined, most=str(MOST_SECTIONS), questions=str(MOST_SECTIONS * MOST_QUESTIONS)
        )
        seen: set[str] = set()
        sections = []
        for part in reply.sections[:MOST_SECTIONS]:
            needs = [need for need in map(named_need, part.questions) if need.key and need.key not in seen]
            needs = needs[:MOST_QUESTIONS]
            seen |= {need.key for need in needs}
            heading = " ".join(plain(MARKER.sub("", part.heading)).split()).rstrip(".:")
            if needs and heading:
                sections.append(OutlineSection(heading[:LONGEST_HEADING], tuple(map(as_aspect, needs))))
        return tuple(sections) or (OutlineSection("Overview", (as_aspect(Need(inquiry.question)),)),)


class LLMSufficiencyJudge(LLMRole[SufficiencyReply]):
    """`always`: the model is asked even where every need has a value, for models that say too early that all is
    known."""

    def __init__(self, call: RoleCall[SufficiencyReply], always: bool = False) -> None:
        super().__init__(call)
        self._always = always

    def judge(self, inquiry: Inquiry) -> Sufficiency:
        """Without any fact the question itself is the gap; where every need has a value, there is none. Neither costs a
        call: the analyst, who sees the same facts, has just found nothing else to ask for.

        `gap` is empty where the facts do not suffice but no further search is worth it: they have to do.
        """
        if not inquiry.facts:
            return Sufficiency(False, open_gap(inquiry.question, inquiry), "No fact was found.")
        if _all_valued(inquiry) and not self._always:
            return Sufficiency(True, reason="Every need that was looked up has a value.")
        reply = self.call.about(inquiry, lambda reply: _insufficient(reply, inquiry))
        if reply.enough:
            return Sufficiency(True, reason=reply.reason)
        return Sufficiency(False, open_gap(reply.gap, inquiry), reply.reason)


def open_gap(question: str, inquiry: Inquiry) -> str:
    """The question in one line, "" where it was searched for twice already: a third search finds nothing new."""
    gap = " ".join(question.split())
    return gap if inquiry.looks(Need(gap)) < SEARCHES_PER_NEED else ""


def _all_valued(inquiry: Inquiry) -> bool:
    """Whether every need that was looked up has a value."""
    valued = {fact.need.key for fact in inquiry.facts if fact.value}
    return valued.issuperset(need.key for need in inquiry.tried)


def _insufficient(reply: SufficiencyReply, inquiry: Inquiry) -> str:
    if reply.enough:
        return ""
    if not reply.gap:
        return '"enough" is false, but "gap" names no question'
    if inquiry.looks(Need(reply.gap)):
        return 'the "gap" was tried already; ask in other words or by another way, or set "enough" to true'
    return ""


def _unlined(reply: OutlineReply) -> str:
    """What is wrong with a readable outline, in words for the model."""
    if not any(part.heading and part.questions for part in reply.sections):
        return '"sections" names no section with a "heading" and its "questions"'
    return ""


def _planned(step: PlannedReply) -> PlannedStep:
    tool = PlanTool(step.tool)
    facts = tuple(n - 1 for n in step.facts) if tool is PlanTool.CALCULATE else ()
    return PlannedStep(" ".join(step.question.split()), step.purpose, tool, facts)


def _unplanned(reply: PlanReply, inquiry: Inquiry) -> str:
    if reply.done and not inquiry.facts:
        return '"done" is true, but there are no facts yet; plan the first look-ups'
    if not reply.done and not any(step.question for step in reply.steps):
        return '"steps" names no question, and "done" is not true'
    return ""


def _shown(plan: Plan | None) -> str:
    if plan is None:
        return NO_PLAN
    left = (f"{n}. {step.tool.value}: {step.question}{_purpose(step)}" for n, step in enumerate(plan.steps, start=1))
    return lines(left) or "(no step was left)"


def _purpose(step: PlannedStep) -> str:
    return f" ({step.purpose})" if step.purpose else ""
