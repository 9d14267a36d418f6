"""The loop: which fact is missing, find it, put it into the question, until the question is answerable.

No hop repeats itself: a need that was tried is looked for once more, wider, and then given up.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.data_finder import DataFinder
from iterative_rag.engine.drafting import Drafting
from iterative_rag.engine.driver import RunDriver
from iterative_rag.engine.hop import search
from iterative_rag.engine.optional_call import optional
from iterative_rag.engine.revision import carried_steps
from iterative_rag.engine.run_state import Progress, RunState
from iterative_rag.engine.text_planning import TextPlanning, open_aspects
from iterative_rag.errors import CapReached, LLMError
from iterative_rag.protocols import Roles, SufficiencyJudge
from iterative_rag.retrieval.known_facts import KnownFacts
from iterative_rag.settings import Settings
from iterative_rag.text.languages import content_words
from iterative_rag.types import (
    Analysis,
    AnalysisStep,
    Cap,
    Continuation,
    Fact,
    FinalStep,
    Inquiry,
    Known,
    Need,
    Needs,
    RephrasingStep,
    Step,
    Stuck,
    SufficiencyStep,
)

# Hops in a row that may bring no new fact: the first is followed by a wider search, the second ends the loop.
EMPTY_HOPS = 2
# An LLM may look for something else after that, which was never searched, up to this many empty hops in a row: of 25
# right answers two came after two of them, and none after three.
MOST_EMPTY_HOPS = 3
# The share of a need's words that another one has, of which it is only another wording.
SAME_WORDS = 2 / 3


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
        metered: bool = False,
        known: KnownFacts | None = None,
        begin: RunState | None = None,
    ) -> None:
        """`judge` is None where nobody judges whether the facts suffice before an answer is drafted. `metered`: an LLM
        plays the roles, so that a refusal is worth a last attempt. `known` is what earlier questions have found;
        `begin` is where an edited run goes on, for which that does not count."""
        self._roles, self._finder, self._drafting = roles, finder, drafting
        self._budget, self._settings, self._judge = budget, settings, judge
        self._joint_analyst, self._metered, self._begin = roles.joint_analyst, metered, begin
        self._known = None if begin else known
        self._texts = TextPlanning(drafting, roles.outliner)

    def steps(self, question: str) -> Iterator[Step]:
        if self._begin:
            yield from carried_steps(self._begin)
        known = self._known.about(question) if self._known else ()
        driver = RunDriver(question, self._loop, self._drafting, self._budget, self._finder, known, begin=self._begin)
        for step in driver.steps():
            if self._known and isinstance(step, FinalStep):
                self._known.remember(question, known, (fact for hop in step.answer.hops for fact in hop.facts))
            yield step

    def _loop(self, state: RunState) -> Generator[Progress, None, RunState]:
        """The turns; where they end in a refusal, a last attempt to name what the facts make likely."""
        state = yield from self._turns(state)
        if not self._metered or not _is_refused(state):
            return state
        yield state
        try:
            drafted = yield from self._drafting.draft(max(len(state.hops), 1), state.inquiry, last_attempt=True)
        except CapReached:  # it took only the last attempt: the refusal stands
            return state
        if not drafted.draft.answered:
            return state
        return state.with_draft(drafted, last_attempt=True).as_last_attempt()

    def _turns(self, state: RunState) -> Generator[Progress, None, RunState]:
        """Each turn analyses, then shortlists, reads and corrects, then rephrases; or it answers and reflects."""
        empty_hops = 0
        gap, fresh = state.ahead, state.fresh  # what reflection or an edit wants looked up next
        analysis: Analysis | None = None  # of the next hop, where it came with the rephrasing
        state = state.under_way()
        if fresh and not gap:
            state, analysis = yield from self._take_up(state, fresh)
            fresh = ()
        if not (gap or analysis):  # where the user asks for a report, no analysis has to say so
            state, analysis = yield from self._texts.outlined(state)
        for hop in range(state.next_hop, self._settings.max_hops + 2):
            self._budget.check()
            inquiry, started = state.inquiry, self._budget.usage()
            needs, wider, last = gap, False, False
            given_up = self._metered and empty_hops >= MOST_EMPTY_HOPS
            exhausted = given_up  # nothing more will be looked up, and something is missing
            if not gap and not given_up:
                analysis = analysis or self._roles.analyst.analyse(inquiry)
                state, analysis = yield from self._texts.shaped(state, analysis)
                inquiry = state.inquiry
                yield AnalysisStep(hop, inquiry.question, analysis, () if state.hops else inquiry.facts)
                needs, wider, last = _untried(analysis, inquiry)
                exhausted = isinstance(analysis, Stuck)
            if empty_hops >= EMPTY_HOPS:
                missing, needs = needs, _never_searched(needs, inquiry) if self._metered and not given_up else ()
                given_up = given_up or bool(self._metered and missing and not needs)
            if not needs:
                # The judge is asked only while the loop finds something.
                state, needs = yield from self._answer(
                    hop, state, judged=empty_hops < EMPTY_HOPS, exhausted=exhausted or given_up
                )
                wider = False
                if not needs:
                    return state.as_last_attempt() if given_up or state.is_doubtful else state
            if hop > self._settings.max_hops:
                raise self._budget.reached(Cap.HOPS)
            brief = self._metered and empty_hops >= EMPTY_HOPS
            state, new = yield from search(
                state, self._finder, self._budget, needs, wider=wider, brief=brief, since=started
            )
            if self._metered and not _brings_something(new, inquiry):
                new = ()
            new, fresh = (*fresh, *new), ()
            empty_hops, gap, analysis = 0 if new else empty_hops + 1, (), None
            if state.inquiry.outline:  # what a report needs is known: only what was not found is looked for again
                analysis = open_aspects(state.inquiry) if hop < self._settings.max_hops else Known()
                continue
            if _settles(new, inquiry.question) or (last and _have_facts(needs, state.inquiry)):
                state, gap = yield from self._answer(hop, state, judged=False)
                if state.draft and state.draft.answered:
                    return state
            elif new:
                question, analysis = yield from self._proceed(hop, inquiry, state.inquiry, new)
                state = state.with_rephrasing(question, self._budget.used_since(started))
                yield state
        return state

    def _answer(
        self, hop: int, state: RunState, *, judged: bool, exhausted: bool = False
    ) -> Generator[Step, None, tuple[RunState, tuple[Need, ...]]]:
        """Drafts an answer. Returns what is to be looked up first: what the judge names beforehand or reflection
        afterwards; nothing where the draft is the answer.

        Where the search is `exhausted`, the draft of an LLM is the last attempt: a refusal would be followed by one.
        """
        if judged and (gap := (yield from self._insufficient(hop, state.inquiry))):
            return state, gap
        last = self._metered and exhausted and not state.lacks_a_window
        drafted = yield from self._drafting.draft(hop, state.inquiry, last_attempt=last, may_search=True)
        gap = _new_gap(drafted.gap, state.inquiry) if drafted.search else ()
        return state.with_draft(drafted, last_attempt=last), gap

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

    def _take_up(
        self, state: RunState, fresh: Sequence[Fact]
    ) -> Generator[Progress, None, tuple[RunState, Analysis | None]]:
        """Goes on from an edit: the facts of its hop are put into the question, as after a search."""
        started = self._budget.usage()
        before = replace(state.inquiry, facts=tuple(fact for fact in state.inquiry.facts if fact not in fresh))
        question, analysis = yield from self._proceed(len(state.hops), before, state.inquiry, fresh)
        state = state.with_rephrasing(question, self._budget.used_since(started))
        yield state
        return state, analysis

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


def _never_searched(needs: Sequence[Need], inquiry: Inquiry) -> tuple[Need, ...]:
    """The needs that are not just other words for one that brought nothing, and those that name an article which none
    of the needs so far has named: its text is new, whatever the words."""
    found = {fact.need.key for fact in inquiry.facts}
    barren = [content_words(need.question) for need in inquiry.tried if need.key not in found]
    seen = {need.see.casefold() for need in inquiry.tried}

    def is_new(need: Need) -> bool:
        elsewhere = bool(need.see) and need.see.casefold() not in seen
        return elsewhere or not any(_rewords(content_words(need.question), one) for one in barren)

    return tuple(need for need in needs if is_new(need))


def _rewords(words: frozenset[str], barren: frozenset[str]) -> bool:
    return len(words & barren) >= SAME_WORDS * len(words)


def _is_refused(state: RunState) -> bool:
    """Whether the answerer itself refused for want of a fact, and every need was read for in full."""
    draft = state.draft
    refused = draft is not None and not draft.answered and not draft.false_premise and state.reflection is None
    return refused and not state.last_attempt and bool(state.inquiry.facts) and not state.lacks_a_window


def _brings_something(new: Sequence[Fact], before: Inquiry) -> bool:
    """Whether one of the new facts says what was not known: a quote that was found for another need, without a value
    that is new, does not."""
    return any(not any(_is_said(fact, known) for known in before.facts) for fact in new)


def _is_said(fact: Fact, known: Fact) -> bool:
    """Whether a known fact holds the quote and the value of another one."""
    holds = known.document_id == fact.document_id and known.start <= fact.start and fact.end <= known.end
    return holds and (not fact.value or fact.value.casefold() == known.value.casefold())


def _have_facts(needs: Sequence[Need], inquiry: Inquiry) -> bool:
    """Whether each need has a value; for a text, whether each aspect has a fact."""
    served = {fact.need.key for fact in inquiry.facts if fact.value or inquiry.form.is_text}
    return all(need.key in served for need in needs)


def _settles(new: Sequence[Fact], question: str) -> bool:
    """Whether the question itself was looked up and a value found: nothing to rephrase, nothing to analyse again."""
    return any(fact.value and fact.need.key == Need(question).key for fact in new)
