"""The loop: which fact is missing, find it, put it into the question, until the question is answerable.

No hop repeats itself: a need that was tried is looked for once more, wider, and then given up.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.data_finder import DataFinder
from iterative_rag.engine.drafting import Drafting
from iterative_rag.engine.driver import RunDriver
from iterative_rag.engine.hop import search
from iterative_rag.engine.optional_call import optional
from iterative_rag.engine.run_state import Progress, RunState
from iterative_rag.errors import LLMError
from iterative_rag.protocols import Roles, SufficiencyJudge
from iterative_rag.settings import Settings
from iterative_rag.types import (
    Analysis,
    AnalysisStep,
    Cap,
    Continuation,
    Fact,
    Inquiry,
    Need,
    Needs,
    RephrasingStep,
    Step,
    SufficiencyStep,
)

# Hops in a row that may bring no new fact: the first is followed by a wider search, the second ends the loop.
EMPTY_HOPS = 2


class StepEngine:
    """One engine serves one run: its roles and finder are bound to the run's budget."""

    def __init__(
        self,
        roles: Roles,
        finder: DataFinder,
        drafting: Drafting,
        budget: RunBudget,
        settings: Settings,
        *,
        judge: SufficiencyJudge | None = None,
    ) -> None:
        """`judge` is None where nobody judges whether the facts suffice before an answer is drafted."""
        self._roles, self._finder, self._drafting = roles, finder, drafting
        self._budget, self._settings, self._judge = budget, settings, judge
        self._joint_analyst = roles.joint_analyst

    def steps(self, question: str) -> Iterator[Step]:
        return RunDriver(question, self._loop, self._drafting, self._budget, self._finder).steps()

    def _loop(self, state: RunState) -> Generator[Progress, None, RunState]:
        """Each turn analyses, then shortlists, reads and corrects, then rephrases; or it answers and reflects."""
        empty_hops = 0
        gap: tuple[Need, ...] = ()  # what reflection wants looked up next
        analysis: Analysis | None = None  # of the next hop, where it came with the rephrasing
        for hop in range(state.next_hop, self._settings.max_hops + 2):
            self._budget.check()
            inquiry, started = state.inquiry, self._budget.usage()
            needs, wider, last = gap, False, False
            if not gap:
                analysis = analysis or self._roles.analyst.analyse(inquiry)
                yield AnalysisStep(hop, inquiry.question, analysis)
                needs, wider, last = _untried(analysis, inquiry)
            if not needs or empty_hops >= EMPTY_HOPS:
                # The judge is asked only while the loop finds something.
                state, needs = yield from self._answer(hop, state, judged=empty_hops < EMPTY_HOPS)
                wider = False
                if not needs:
                    return state
            if hop > self._settings.max_hops:
                raise self._budget.reached(Cap.HOPS)
            state, new = yield from search(state, self._finder, self._budget, needs, wider=wider, since=started)
            empty_hops, gap, analysis = 0 if new else empty_hops + 1, (), None
            if _settles(new, inquiry.question) or (last and _have_values(needs, state.inquiry)):
                state, gap = yield from self._answer(hop, state, judged=False)
                if state.draft and state.draft.answered:
                    return state
            elif new:
                question, analysis = yield from self._proceed(hop, inquiry, state.inquiry, new)
                state = state.with_rephrasing(question, self._budget.used_since(started))
                yield state
        return state

    def _answer(
        self, hop: int, state: RunState, *, judged: bool
    ) -> Generator[Step, None, tuple[RunState, tuple[Need, ...]]]:
        """Drafts an answer. Returns what is to be looked up first: what the judge names beforehand or reflection
        afterwards; nothing where the draft is the answer."""
        if judged and (gap := (yield from self._insufficient(hop, state.inquiry))):
            return state, gap
        drafted = yield from self._drafting.draft(hop, state.inquiry)
        return state.with_draft(drafted), _new_gap(drafted.gap, state.inquiry) if drafted.search else ()

    def _insufficient(self, hop: int, inquiry: Inquiry) -> Generator[Step, None, tuple[Need, ...]]:
        """The gap that the judge names, if it was not looked for yet; none where the judge's calls fail."""
        if self._judge is None or not inquiry.facts:
            return ()
        judge = self._judge
        judged = yield from optional(hop, "suffice", lambda: judge.judge(inquiry))
        if judged is None:
            return ()
        yield SufficiencyStep(hop, judged)
        return () if judged.enough else _new_gap(judged.gap, inquiry)

    def _proceed(
        self, hop: int, before: Inquiry, after: Inquiry, new: Sequence[Fact]
    ) -> Generator[Step, None, tuple[str, Analysis | None]]:
        """The question with the new facts put into it (as it was where the rephraser's calls fail), and its analysis
        where one call made both."""
        made = self._ask_jointly(after, new)
        question = made.question
        if question is None:
            rephrase = self._roles.rephraser.rephrase
            question = (yield from optional(hop, "rephrase", lambda: rephrase(before, new))) or before.question
        if question != before.question:
            yield RephrasingStep(hop, before.question, question)
        return question, made.analysis

    def _ask_jointly(self, inquiry: Inquiry, new: Sequence[Fact]) -> Continuation:
        """Both halves of the joint reply; neither where one role at a time is asked. A model that fails at the joint
        reply is asked for the halves apart, from then on: its failure is in the trace, and nothing is lost."""
        if self._joint_analyst is None:
            return Continuation()
        try:
            return self._joint_analyst.proceed(inquiry, new)
        except LLMError as error:
            if error.fatal:
                raise
            self._joint_analyst = None
            return Continuation()


def _untried(analysis: Analysis, inquiry: Inquiry) -> tuple[tuple[Need, ...], bool, bool]:
    """What to look for: the needs that are new; if none is, those that were tried just once, then wider. None where
    the facts suffice or nothing would help. And whether nothing else is missing."""
    if not isinstance(analysis, Needs):
        return (), False, False
    unique = list({need.key: need for need in analysis.needs}.values())
    if new := tuple(need for need in unique if not inquiry.looks(need)):
        return new, False, analysis.last
    return tuple(need for need in unique if inquiry.looks(need) == 1), True, analysis.last


def _new_gap(gap: str, inquiry: Inquiry) -> tuple[Need, ...]:
    need = Need(" ".join(gap.split()))
    return (need,) if need.question and not inquiry.looks(need) else ()


def _have_values(needs: Sequence[Need], inquiry: Inquiry) -> bool:
    valued = {fact.need.key for fact in inquiry.facts if fact.value}
    return all(need.key in valued for need in needs)


def _settles(new: Sequence[Fact], question: str) -> bool:
    """Whether the question itself was looked up and a value found: nothing to rephrase, nothing to analyse again."""
    return any(fact.value and fact.need.key == Need(question).key for fact in new)
