"""The model drives: it searches, reads and calculates with tools, several at once, and submits an answer with quotes.

What it has seen is not sent again: each turn shows the question, the facts that it has noted, one line for each earlier
call and the results of the last calls. The loop is our own and not LlamaIndex's FunctionAgent: that one keeps every
result in the conversation, and knows neither a budget, nor a cache, nor our errors and steps.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from iterative_rag.computing.display import shortened
from iterative_rag.engine.agent_results import REFUSED, AgentMemory, ShownTexts, values_of, verified
from iterative_rag.engine.agent_tools import Toolbox
from iterative_rag.engine.components import Engine, RunComponents
from iterative_rag.engine.run import Run
from iterative_rag.engine.run_state import Progress, RunState
from iterative_rag.errors import UsageError
from iterative_rag.llm.roles.shown_facts import numbered_places
from iterative_rag.protocols import ToolAgent
from iterative_rag.text.plurals import counted
from iterative_rag.types.loop import Computation, Fact, Inquiry, Need
from iterative_rag.types.outcomes import Cap, Draft, Usage
from iterative_rag.types.steps import ReadingStep, ShortlistStep, Step, ToolStep
from iterative_rag.types.tool_use import (
    AgentView,
    NoteCall,
    QuotedPassage,
    SearchCall,
    SubmitCall,
    ToolCall,
    ToolResult,
)
from iterative_rag.verification.answer_type import is_refusal
from iterative_rag.verification.rule_reflector import ClaimGuard, as_inferred, is_inferred

# The share of the model's context that the results of one turn may take, at 3 characters a token.
RESULT_SHARE, CHARS_PER_TOKEN = 0.35, 3
# Calls that have to be left for another turn: its own, and one for the answer at the limit.
CALLS_OF_A_TURN = 2
# A search that brought nothing is no proof that nothing is there: so many are made before the model may give up.
SEARCHES_BEFORE_GIVING_UP = 2
SUBMIT = "submit"
UNPROVED = "No quote from the corpus proves an answer."
UNPROVED_CLAIMS = (
    "these claims name what no quote says; quote the passage that says it, leave it out, or set "
    '"inferred" to true if it follows from the quotes'
)
INFERRED_NAME = "these claims name what no quote does, and a name is not inferred; search for it, or leave it out"


def build(run: RunComponents) -> Engine:
    """Raises UsageError for a backend that cannot use tools, and where the web is to be searched."""
    agent = run.roles.agent
    if agent is None:
        hint = "Add --llm ollama/MODEL (not a small one), or use the strategy iterative."
        raise UsageError("The built-in backend cannot use tools: the strategy agent needs an LLM.", hint=hint)
    if run.web is not None:
        hint = "Leave out --web, or use the strategy iterative or full."
        raise UsageError("The strategy agent searches the corpus alone.", hint=hint)
    loop = AgentLoop(run, agent)
    return Run(run, loop, loop.drafting, searched=run.corpus)


class AgentLoop:
    """The loop of one run."""

    def __init__(self, run: RunComponents, agent: ToolAgent) -> None:
        self._agent, self._run, self._budget = agent, run, run.budget
        self._tools = Toolbox(run.corpus, run.settings, run.reader.ranker)
        self._shown = ShownTexts(self._tools.titles)
        self.drafting = run.drafting()
        self._memory = AgentMemory()

    def __call__(self, state: RunState) -> Generator[Progress, None, RunState]:
        while True:
            hop, since = state.next_hop, self._budget.usage()
            if hop > self._run.settings.max_hops:
                raise self._budget.reached(Cap.HOPS)
            last = self._is_last_turn(hop, since)
            calls = self._agent.act(self._view(state, last))
            results: list[ToolResult] = []
            needs, computed = yield from self._look_up(hop, calls, results)
            state, places = yield from self._take_quotes(state, calls, needs, since, results)
            results += self._take_computations(computed, places, state.inquiry)
            submitted = next((call for call in calls if isinstance(call, SubmitCall)), None)
            if submitted:
                draft = self._agent.draft(submitted, state.inquiry, places, self._memory.computations)
                objection = None if last else self._objection(submitted, draft, state.inquiry, results)
                if objection is None:
                    return (yield from self._checked(state, draft, inferred=submitted.inferred))
                results.append(objection)
                self._budget.withdraw_answer()
            self._memory.remember(results)

    def _view(self, state: RunState, last: bool) -> AgentView:
        memory = self._memory
        return AgentView(
            question=state.inquiry.original,
            facts=state.inquiry.facts,
            computations=tuple(memory.computations),
            log=tuple(memory.log),
            results=memory.results,
            turns_left=self._run.settings.max_hops - len(state.hops),
            only_submit=last,
        )

    def _is_last_turn(self, hop: int, used: Usage) -> bool:
        """Whether a limit leaves no further turn after this one."""
        settings = self._run.settings
        tokens = used.prompt_tokens + used.completion_tokens
        # Prompts grow: the first one holds no results yet.
        per_turn = max(tokens // max(used.llm_calls, 1), settings.context_window // 4)
        seconds_per_turn = used.seconds / max(used.llm_calls, 1)
        return (
            hop >= settings.max_hops
            or settings.max_calls - used.llm_calls <= CALLS_OF_A_TURN
            or settings.max_tokens - tokens <= 2 * per_turn
            or self._budget.seconds_left() <= 2 * seconds_per_turn
        )

    # --- looking things up -------------------------------------------------------------------

    def _look_up(
        self, hop: int, calls: Sequence[ToolCall], results: list[ToolResult]
    ) -> Generator[Step, None, tuple[list[Need], list[Computation]]]:
        """Carry out the calls of tools over the corpus, all at once; returns what was searched for and computed."""
        wanted = [call for call in calls if not isinstance(call, NoteCall | SubmitCall)]
        new = self._memory.begin(wanted)
        chars = int(self._run.settings.context_window * CHARS_PER_TOKEN * RESULT_SHARE)
        done = self._tools.carry_out(new, chars)
        needs: list[Need] = []
        computed: list[Computation] = []
        for call, result, text in zip(new, done, self._shown.texts(done, chars), strict=True):
            if result.computation:
                computed.append(result.computation)
            if result.lost:
                self._memory.lost.append(result.lost)
            for need, documents in result.shortlists:
                needs.append(need)
                yield ShortlistStep(hop, need, documents)
            if not isinstance(call, SearchCall):
                tool, _, asked = result.asked.partition(" ")
                told = f"{result.told}: {result.listed}" if result.listed and not result.passages else result.told
                yield ToolStep(hop, tool, asked, told, tuple(passages.document.id for passages in result.passages))
            results.append(ToolResult(result.asked, result.told, text))
        if len(new) < len(wanted):
            told = "they were made before; note what they showed, or ask for something else"
            results.append(ToolResult("repeated calls", told))
            yield ToolStep(hop, "repeated", counted(len(wanted) - len(new), "call"), "made before")
        return needs, computed

    def _take_computations(
        self, computed: Sequence[Computation], places: Sequence[Sequence[int]], inquiry: Inquiry
    ) -> Iterator[ToolResult]:
        """Remember what was computed, each with those of its facts that hold one of its values; a value that stands in
        none is told."""
        for computation in computed:
            named = [place for n in computation.facts if 0 < n <= len(places) for place in places[n - 1]]
            facts, lacking = values_of(computation, named, inquiry, self._memory.computations)
            self._memory.computations.append(replace(computation, facts=facts))
            if lacking:
                told = f"no fact that you named holds {' or '.join(lacking)}; note the quote that does"
                yield ToolResult(f"calculate {shortened(computation.expression)}", told)

    # --- quotes ------------------------------------------------------------------------------

    def _take_quotes(
        self, state: RunState, calls: Sequence[ToolCall], needs: list[Need], since: Usage, results: list[ToolResult]
    ) -> Generator[Progress, None, tuple[RunState, list[tuple[int, ...]]]]:
        """The state after the hop, with the quotes of its calls as facts, and the places of the facts that each marker
        of a submission may mean: those noted before, then its own quotes."""
        before = numbered_places(state.inquiry.facts)
        noted = [quote for call in calls if isinstance(call, NoteCall) for quote in call.quotes]
        submitted = [quote for call in calls if isinstance(call, SubmitCall) for quote in call.quotes]
        facts: list[Fact] = []
        refused: list[str] = []
        places = [self._place(quoted, state, facts, refused) for quoted in (*noted, *submitted)]
        if noted or submitted:
            need = facts[0].need if facts else Need(state.inquiry.original)
            ids = tuple(dict.fromkeys(fact.document_id for fact in facts))
            yield ReadingStep(state.next_hop, need, tuple(facts), len(ids), 0, 0, len(refused), documents=ids)
        if refused:
            told = "these stand in no article word for word; copy what it says exactly"
            results.append(ToolResult(REFUSED, told, "\n".join(f'- "{quote}"' for quote in refused)))
        elif noted:
            results.append(ToolResult("note", counted(len(noted), "quote") + " kept"))
        titles = [document.title for document in self._shown.opened.values()] if needs else []
        state = state.with_hop(needs, titles, facts, self._budget.used_since(since))
        yield state
        return state, [*before, *places]

    def _place(self, quoted: QuotedPassage, state: RunState, facts: list[Fact], refused: list[str]) -> tuple[int, ...]:
        """The place of a quote among the facts, to which it is added if it is new; none where it is refused."""
        opened = tuple(self._shown.opened.values())
        checked = verified(quoted, state.inquiry, self._tools.titles, opened, self._run.reader.check)
        if checked is None:
            refused.append(quoted.quote)
            return ()
        known = [*state.inquiry.facts, *facts]
        same = (n for n, fact in enumerate(known) if fact.place == checked.place and fact.value == checked.value)
        if (index := next(same, None)) is not None:
            return (index,)
        facts.append(checked)
        return (len(known),)

    # --- the end -----------------------------------------------------------------------------

    def _objection(
        self, submitted: SubmitCall, draft: Draft, inquiry: Inquiry, results: Sequence[ToolResult]
    ) -> ToolResult | None:
        """All that speaks against a submission, told once; None if it is to be checked as it stands."""
        memory = self._memory
        if not draft.answered:
            searches = sum(isinstance(call, SearchCall) for call in memory.made)
            early = searches < SEARCHES_BEFORE_GIVING_UP and not memory.lost
            if early and memory.first_time("gave up early"):
                told = "refused: search in other words, and for the parts of the question, before giving up"
                return ToolResult(SUBMIT, told)
            return None
        wrong: list[str] = []
        if any(result.call == REFUSED for result in results):
            wrong.append("not all of its quotes stand in the articles; correct them, or leave them out")
        elif not draft.cited:
            wrong.append('it has neither "quotes" nor markers [n] of facts; prove the answer')
        claims = ClaimGuard(submitted.inferred).reflect(inquiry, draft).claims
        if unproved := [claim for claim in claims if not claim.grounded]:
            wrong.append(INFERRED_NAME if submitted.inferred else UNPROVED_CLAIMS)
        if not wrong or not memory.first_time("refused"):
            return None
        told = "\n".join(f"- {claim.text} ({claim.reason})" for claim in unproved)
        return ToolResult(SUBMIT, f"refused: {'; '.join(wrong)}", told)

    def _checked(self, state: RunState, draft: Draft, *, inferred: bool) -> Generator[Progress, None, RunState]:
        """The draft after the checks that every answer passes; what is none becomes an abstention."""
        state = state.with_lost_rows(self._memory.lost)
        if draft.answered and not draft.cited:
            draft = replace(draft, answered=False, short_answer="", missing=UNPROVED)
        # What the agent submits is a sentence or two: where a text is asked for, it is written from the facts noted.
        writer = self.drafting.writer if draft.answered else None
        again = int(self._memory.first_time("refused"))  # who was told of an objection is not asked once more
        drafting = replace(self.drafting, reflector=ClaimGuard(inferred), writer=writer, regenerations=again)
        drafted = yield from drafting.draft(state.next_hop, state.inquiry, last_attempt=True, draft=draft)
        if drafted.draft.form.is_text:
            return state.with_draft(drafted)
        if is_refusal(state.inquiry, drafted.draft):
            missing = drafted.draft.missing or drafted.draft.text
            drafted = replace(drafted, draft=replace(drafted.draft, answered=False, short_answer="", missing=missing))
        # Also what was written again for a submission that claims no more than that.
        if inferred or is_inferred(state.inquiry, drafted.draft):
            drafted = replace(drafted, draft=as_inferred(drafted.draft))
        return state.with_draft(drafted)
