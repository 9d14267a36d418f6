"""One run: what it works with, and its loop driven to the FinalStep, whatever happens on the way.

Where the user allows the web, it is searched before a run declines, whatever the strategy has found in the corpus. A
limit ends in an `incomplete` answer, and so does a fault once there are facts to show; before that, it raises.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from typing import TypeAlias

from iterative_rag.engine.components import RunComponents
from iterative_rag.engine.data_finder import DataFinder
from iterative_rag.engine.drafting import Drafting
from iterative_rag.engine.final_answer import Ending, best_so_far, final_answer
from iterative_rag.engine.revision import carried_steps
from iterative_rag.engine.run_state import Progress, RunState
from iterative_rag.errors import CapReached, IterativeRAGError, LLMError
from iterative_rag.protocols import Corpus
from iterative_rag.types import Fact, FinalStep, Inquiry, Need, Needs, Step, WebStep

# How often a run that would decline searches the web instead.
WEB_ROUNDS = 2
# Works from the state that it is given, so that it can be resumed, and returns the state that it has come to.
Loop: TypeAlias = Callable[[RunState], Generator[Progress, None, RunState]]


class Run:
    """Implements Engine. It keeps the state that its loop passed on last: what is left after a limit or a fault."""

    def __init__(
        self,
        parts: RunComponents,
        loop: Loop,
        drafting: Drafting,
        finder: DataFinder | None = None,
        *,
        searched: Corpus | None = None,
        begin: RunState | None = None,
        facts: tuple[Fact, ...] = (),
    ) -> None:
        """`finder` is None where nothing can be read again; `searched` is then the corpus that was searched, None for
        none. The run begins with these `facts`, or in the state `begin`."""
        self._budget, self._loop, self._drafting, self._finder = parts.budget, loop, drafting, finder
        self._begin, self._facts = begin, facts
        self._steps: list[Step] = []
        self._ending = Ending(parts.traits, finder.corpus if finder else searched, steps=self._steps)

    def steps(self, question: str) -> Iterator[Step]:
        if self._begin:
            yield from carried_steps(self._begin)
        form = self._drafting.form_of(question)
        self._state = self._begin or RunState(Inquiry(question, question, self._facts, form=form))
        cap: CapReached | None = None
        fault: IterativeRAGError | None = None
        try:
            yield from self._with_retries()
        except CapReached as error:
            cap = error
            try:  # the model says what can be said while calls, tokens and time allow, else the best fact does
                yield from self._advance(self._last_attempt(self._state, self._state.next_hop))
            except CapReached:
                self._state = replace(self._state, draft=best_so_far(self._state.inquiry))
        except IterativeRAGError as error:
            if not self._state.inquiry.facts:
                raise
            fault = error
            self._state = replace(self._state, draft=best_so_far(self._state.inquiry))
        state = self._state
        if state.unreadable and not state.inquiry.facts and not self._budget.replies:
            raise state.unreadable  # nothing at all came back: it is the server, not a document
        if isinstance(state.ended_by, CapReached):
            cap = cap or state.ended_by
        else:
            fault = fault or state.ended_by
        yield FinalStep(final_answer(state, replace(self._ending, cap=cap, fault=fault), self._budget.usage()))

    def _with_retries(self) -> Iterator[Step]:
        """The loop; resumed once where a call failed in every attempt, and again where a search of the web brings facts
        that the answer lacked."""
        try:
            yield from self._advance(self._loop(self._state))
        except LLMError as error:
            if error.fatal:
                raise
            yield from self._advance(self._loop(self._state))
        finder = self._finder
        for _ in range(WEB_ROUNDS):
            if finder is None or not (needs := self._open_needs(finder)):
                return
            draft, known = self._state.draft, self._state.inquiry.facts
            yield from self._advance(finder.search(self._state, needs, wider=False, online=True))
            if self._state.inquiry.facts == known:
                return
            yield from self._advance(self._loop(self._state))
            if self._state.draft is draft:  # no hop was left in which to answer
                yield from self._advance(self._last_attempt(self._state, len(self._state.hops)))

    def _open_needs(self, finder: DataFinder) -> tuple[Need, ...]:
        """What a run that declines has not looked for on the web, though it may: what it still needs, else what it
        looked for last."""
        state, analysis = self._state, self._ending.analysis
        declines = state.draft is not None and not (state.draft.answered or state.draft.false_premise)
        if not (finder.searches_web and declines):
            return ()
        last = state.hops[-1].needs if state.hops else (state.inquiry.original,)
        needs = analysis.needs if isinstance(analysis, Needs) else tuple(map(Need, last))
        asked = {step.need.key for step in self._ending.of(WebStep)}
        return tuple(need for need in needs if need.key not in asked)

    def _last_attempt(self, state: RunState, hop: int) -> Generator[Progress, None, RunState]:
        drafted = yield from self._drafting.draft(hop, state.inquiry, last_attempt=True)
        return state.with_draft(drafted, last_attempt=True)

    def _advance(self, part: Generator[Progress, None, RunState]) -> Iterator[Step]:
        """The steps of a part of the run. The state that it passed on last, or returns, is kept."""
        while True:
            try:
                passed = next(part)
            except StopIteration as end:
                self._state = end.value
                return
            if isinstance(passed, RunState):
                self._state = passed
                continue
            self._steps.append(passed)
            yield passed
