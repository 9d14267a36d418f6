"""Runs an engine's loop to its FinalStep, whatever happens on the way.

A limit ends in an `incomplete` answer, and so does a fault once there are facts to show; before that, it raises. A
window that could not be read is read once more before the run ends: an abstention without that would be a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from typing import Protocol, TypeAlias

from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.data_finder import DataFinder
from iterative_rag.engine.drafting import Drafting
from iterative_rag.engine.endings import Ending
from iterative_rag.engine.final_answer import best_so_far, final_answer
from iterative_rag.engine.hop import read_again
from iterative_rag.engine.run_state import Progress, RunState
from iterative_rag.errors import CapReached, IterativeRAGError, LLMError
from iterative_rag.protocols import Corpus
from iterative_rag.types import (
    AnalysisStep,
    Cap,
    CorrectionStep,
    DegradedStep,
    Fact,
    FinalStep,
    Inquiry,
    LostRowsStep,
    ShortlistStep,
    Step,
    WebStep,
)

# Works from the state that it is given, so that it can be resumed, and returns the state that it has come to.
Loop: TypeAlias = Callable[[RunState], Generator[Progress, None, RunState]]


class Engine(Protocol):
    """One engine serves one run."""

    def steps(self, question: str) -> Iterator[Step]:
        """All steps of answering `question`; the last one is the FinalStep."""
        ...


class RunDriver:
    """Drives the loop of one run. It keeps the state that was passed on last: what is left after a limit or a fault."""

    def __init__(
        self,
        question: str,
        loop: Loop,
        drafting: Drafting,
        budget: RunBudget,
        finder: DataFinder | None = None,
        known: tuple[Fact, ...] = (),
        corpus: Corpus | None = None,
        begin: RunState | None = None,
    ) -> None:
        """`finder` is None where nothing can be read again; `corpus` is then what was searched, None for nothing. The
        run begins with the facts that are `known`, or in the state `begin`."""
        self._loop, self._drafting, self._budget, self._finder = loop, drafting, budget, finder
        form = drafting.form_of(question)
        self._state = begin or RunState(Inquiry(original=question, question=question, facts=known, form=form))
        searched = finder.corpus if finder else corpus
        self._ending = Ending(corpus=searched, metered=drafting.metered)

    def steps(self) -> Iterator[Step]:
        cap: CapReached | None = None
        fault: IterativeRAGError | None = None
        try:
            yield from self._with_retries()
        except CapReached as error:
            cap = error
            yield from self._advance(self._at_limit(self._state, error.cap))
        except IterativeRAGError as error:
            if not self._state.inquiry.facts:
                raise
            fault = error
            self._state = replace(self._state, draft=best_so_far(self._state.inquiry))
        state = self._state
        if state.unreadable and not state.inquiry.facts and not self._budget.replied:
            raise state.unreadable  # nothing at all came back: it is the server, not a document
        if isinstance(state.ended_by, CapReached):
            cap = cap or state.ended_by
        else:
            fault = fault or state.ended_by
        ending = replace(self._ending, cap=cap, fault=fault)
        yield FinalStep(final_answer(state, ending, self._budget.usage()))

    def _with_retries(self) -> Iterator[Step]:
        """The loop; resumed once where a call failed in every attempt, and again where a second read of windows that
        failed brings facts that the answer lacked."""
        try:
            yield from self._advance(self._loop(self._state))
        except LLMError as error:
            if error.fatal:
                raise
            yield from self._advance(self._loop(self._state))
        while self._finder and self._state.falls_short:
            known = self._state.inquiry.facts
            yield from self._advance(read_again(self._state, self._finder, self._budget))
            if self._state.inquiry.facts == known:
                return
            yield from self._advance(self._loop(self._state))

    def _at_limit(self, state: RunState, cap: Cap) -> Generator[Progress, None, RunState]:
        """What can be said at a limit: by the model while calls, tokens and time allow, else the best fact."""
        try:
            if self._finder and cap is Cap.HOPS:
                state = yield from read_again(state, self._finder, self._budget)
            drafted = yield from self._drafting.draft(state.next_hop, state.inquiry, last_attempt=True)
            return state.with_draft(drafted)
        except CapReached:
            return replace(state, draft=best_so_far(state.inquiry))

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
            self._ending = _noted(self._ending, passed)
            yield passed


def _noted(ending: Ending, step: Step) -> Ending:
    """With what the step tells of how the run will have ended."""
    match step:
        case DegradedStep():
            return replace(ending, degraded=(*ending.degraded, step))
        case LostRowsStep():
            return replace(ending, lost=(*ending.lost, step))
        case ShortlistStep() | CorrectionStep() | WebStep():
            return replace(ending, listed=(*ending.listed, *step.documents))
        case AnalysisStep():
            return replace(ending, analysis=step.analysis)
    return ending
