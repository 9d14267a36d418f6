"""Planning by an LLM: the steps that are left, the outline of a report, and what is searched with."""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.computing.display import shown
from iterative_rag.llm.prompts import lines
from iterative_rag.llm.replies.forms import OutlineReply, PlannedReply, PlanReply, RewordingReply, WebQueryReply
from iterative_rag.llm.roles.need_analyst import named_need
from iterative_rag.llm.roles.role_call import LLMRole, RoleCall
from iterative_rag.text.asked_forms import as_aspect
from iterative_rag.text.citation_markers import MARKER
from iterative_rag.text.folding import folded_words
from iterative_rag.text.markup import plain
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Inquiry, Need, OutlineSection, Plan, PlannedStep, PlanTool, Rewording

MOST_STEPS = 8
NO_PLAN = "(none yet: make one)"
NOTHING_COMPUTED = "(nothing yet)"
WEB = '\n- "web": a question that only the web can answer, because it is about what is new or was tried in vain.'
MOST_SECTIONS, MOST_QUESTIONS = 6, 2
# Characters of a heading; a longer one is a sentence.
LONGEST_HEADING = 60
# How many other searches the model is asked for.
PHRASINGS = 3
LONGEST_PHRASING, LONGEST_PASSAGE, LONGEST_WEB_QUERY = 300, 800, 120
REPEATED = 'every one of "phrasings" was tried already; write others that differ from the question and what was tried'

_OPERATORS = lazy_pattern(r'["“”()]|\b(?:site|intitle|inurl|filetype):\S*')


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
        questions = str(MOST_SECTIONS * MOST_QUESTIONS)
        reply = self.call.about(inquiry, _unlined, most=str(MOST_SECTIONS), questions=questions)
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
    purposes = (f" ({step.purpose})" if step.purpose else "" for step in plan.steps)
    left = enumerate(zip(plan.steps, purposes, strict=True), start=1)
    return lines(f"{n}. {step.tool.value}: {step.question}{why}" for n, (step, why) in left) or "(no step was left)"


# --- what is searched with: other queries for a need, a query for the web ----------------------


class LLMRewriter:
    """Implements protocols.Rewriter. The passage is invented: it is only searched with, never shown or quoted."""

    def __init__(self, reworder: RoleCall[RewordingReply], querier: RoleCall[WebQueryReply]) -> None:
        self._reworder, self._querier = reworder, querier

    def reword(self, need: Need, tried: Sequence[str]) -> Rewording:
        """Returns nothing that was tried before. Raises LLMError, CapReached."""
        reply = self._reworder.ask(
            lambda reply: "" if _untried(reply.phrasings, (need.question, *tried)) else REPEATED,
            count=str(PHRASINGS),
            need=need.question,
            tried=lines(f"- {query}" for query in tried) or "(nothing yet)",
            languages=self._reworder.languages.for_searches(need.question),
        )
        phrasings = _untried(reply.phrasings, (need.question, *tried))[:PHRASINGS]
        broader = "".join(_untried([reply.broader], (need.question, *tried, *phrasings)))
        return Rewording(phrasings, broader, _line(reply.passage)[:LONGEST_PASSAGE])

    def web_query(self, need: Need) -> str:
        """A few words, on one line. Raises LLMError, CapReached."""
        empty = '"query" is empty'
        reply = self._querier.ask(lambda reply: "" if _plain_query(reply.query) else empty, need=need.question)
        return _plain_query(reply.query) or _line(need.question)


def _untried(phrasings: Sequence[str], tried: Sequence[str]) -> tuple[str, ...]:
    """The phrasings whose words differ from what was tried, and from one another; on one line each."""
    seen = {tuple(folded_words(query)) for query in tried} | {()}
    by_words: dict[tuple[str, ...], str] = {}
    for phrasing in phrasings:
        line = _line(phrasing)[:LONGEST_PHRASING]
        by_words.setdefault(tuple(folded_words(line)), line)
    return tuple(line for words, line in by_words.items() if words not in seen)


def _plain_query(query: str) -> str:
    return _line(_OPERATORS.sub(" ", query))[:LONGEST_WEB_QUERY].strip()


def _line(text: str) -> str:
    return " ".join(text.split())
