"""The loop: which fact is missing, find it, put it into the question, until the question is answerable.

Each turn decides on one thing, a search, a draft of the answer or the end. Besides that end there are only a limit of
the run (CapReached) and a fault, which `run.py` makes endings of. No hop repeats itself: a need that was tried is
looked for once more, wider, and then given up.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from iterative_rag.engine.components import RunComponents
from iterative_rag.engine.data_finder import DataFinder
from iterative_rag.engine.drafting import Drafting, optional
from iterative_rag.engine.foreseen_needs import foreseen, is_foretold
from iterative_rag.engine.run_state import Progress, RunState
from iterative_rag.engine.texts import TextPlanning, open_aspects
from iterative_rag.errors import CapReached, LLMError
from iterative_rag.text.languages import content_words
from iterative_rag.types.loop import Analysis, Fact, Inquiry, Known, Need, Needs, Stuck
from iterative_rag.types.outcomes import Cap, Continuation, Draft, Usage
from iterative_rag.types.steps import AnalysisStep, RephrasingStep

# Hops in a row that may bring no new fact: the first is followed by a wider search, the second ends the loop.
EMPTY_HOPS = 2
# A backend that words needs of its own may look for something else after that, which was never searched, up to this
# many empty hops in a row: of 25 right answers two came after two of them, and none after three.
MOST_EMPTY_HOPS = 3
# The share of a need's words that another one has, of which it is only another wording.
SAME_WORDS = 2 / 3


class Cause(Enum):
    """Why an answer is drafted."""

    SETTLED = "the last search found what the question asks for"
    ENOUGH = "nothing is left to look for"
    GIVEN_UP = "something is missing that will not be looked for"
    REFUSED = "the last draft is none: what do the facts make likely?"


@dataclass(frozen=True, slots=True)
class Search:
    """Look for these needs. `last`: nothing else is missing. `plan` is the analysis behind them."""

    needs: tuple[Need, ...]
    wider: bool = False
    last: bool = False
    plan: Needs | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Draft an answer."""

    cause: Cause
    last_attempt: bool = False


@dataclass(frozen=True, slots=True)
class Stop:
    """The state's draft is the answer."""


Decision: TypeAlias = Search | Answer | Stop


@dataclass(slots=True)
class _Outlook:
    """What is known beside the state. `since` is what the run had used when the present hop began; `ahead` is to be
    looked up in the next one, whose `analysis` may have come with the rephrasing; `fresh` are facts that were not put
    into the question yet; `decided` is the next decision, where it follows from the one before; `draft` came with the
    rephrasing, too."""

    since: Usage
    ahead: tuple[Need, ...] = ()
    fresh: tuple[Fact, ...] = ()
    analysis: Analysis | None = None
    empty_hops: int = 0
    decided: Decision | None = None
    draft: Draft | None = None


class StepLoop:
    """The loop of one run."""

    def __init__(self, run: RunComponents, finder: DataFinder, drafting: Drafting) -> None:
        self._roles, self._budget, self._settings = run.roles, run.budget, run.settings
        self._finder, self._drafting = finder, drafting
        self._joint_analyst, self._own_words = run.roles.joint_analyst, run.traits.own_words
        self._texts = TextPlanning(drafting, run.roles.outliner)

    def __call__(self, state: RunState) -> Generator[Progress, None, RunState]:
        state, outlook = yield from self._begun(state)
        while True:
            state, decision = yield from self._decide(state, outlook)
            match decision:
                case Search():
                    state = yield from self._search(state, decision, outlook)
                case Answer():
                    state = yield from self._answer(state, decision, outlook)
                case Stop():
                    return state

    def _begun(self, state: RunState) -> Generator[Progress, None, tuple[RunState, _Outlook]]:
        """What comes before the first decision: an edit is taken up, a report outlined."""
        outlook = _Outlook(self._budget.usage(), state.ahead, state.fresh)
        state = replace(state, ahead=(), fresh=())
        if outlook.fresh and not outlook.ahead:  # the facts of the edited hop are put into the question
            known = tuple(fact for fact in state.inquiry.facts if fact not in outlook.fresh)
            state = yield from self._proceed(state, replace(state.inquiry, facts=known), outlook.fresh, outlook)
            outlook.fresh = ()
        if not (outlook.ahead or outlook.analysis):  # where the user asks for a report, no analysis has to say so
            state, outlook.analysis = yield from self._texts.outlined(state)
        return state, outlook

    # --- deciding ----------------------------------------------------------------------------

    def _decide(self, state: RunState, outlook: _Outlook) -> Generator[Progress, None, tuple[RunState, Decision]]:
        """The decision, and the state with the form of answer that the analysis asks for."""
        if decided := outlook.decided:
            outlook.decided = None
            return state, decided
        if state.next_hop > self._settings.max_hops + 1:  # resumed where no hop is left
            return state, self._end(state)
        self._budget.check()
        outlook.since = self._budget.usage()
        given_up = self._own_words and outlook.empty_hops >= MOST_EMPTY_HOPS
        search, exhausted = Search(outlook.ahead), given_up
        if not (outlook.ahead or given_up):
            analysis = outlook.analysis or self._roles.analyst.analyse(state.inquiry)
            if isinstance(analysis, Needs):
                analysis = foreseen(analysis, state.inquiry) or analysis
            state, analysis = yield from self._texts.shaped(state, analysis)
            facts = () if state.hops else state.inquiry.facts
            yield AnalysisStep(state.next_hop, state.inquiry.question, analysis, facts)
            search, exhausted = _untried(analysis, state.inquiry), isinstance(analysis, Stuck)
        needs = search.needs
        if outlook.empty_hops >= EMPTY_HOPS:
            needs = _never_searched(needs, state.inquiry) if self._own_words and not given_up else ()
            given_up = given_up or (self._own_words and bool(search.needs) and not needs)
        if needs:
            return state, replace(search, needs=needs)
        # Where nothing more will be looked up, the draft of a backend with words of its own is the last attempt at
        # once: a refusal would be followed by one.
        last = self._own_words and (exhausted or given_up) and not state.lacks_a_window
        return state, Answer(Cause.GIVEN_UP if given_up else Cause.ENOUGH, last_attempt=last)

    def _end(self, state: RunState) -> Decision:
        """The last decision; where the draft is a refusal, one before it."""
        return Answer(Cause.REFUSED, last_attempt=True) if self._own_words and _is_refused(state) else Stop()

    # --- carrying out ------------------------------------------------------------------------

    def _search(self, state: RunState, search: Search, outlook: _Outlook) -> Generator[Progress, None, RunState]:
        """One hop, with its findings put into the question."""
        before, hop, most = state.inquiry, state.next_hop, self._settings.max_hops
        if hop > most:
            raise self._budget.reached(Cap.HOPS)
        state = yield from self._finder.search(state, search.needs, wider=search.wider, since=outlook.since)
        new = state.hops[-1].facts
        if self._own_words and not _brings_something(new, before):
            new = ()
        outlook.empty_hops = 0 if new else outlook.empty_hops + 1
        new = (*outlook.fresh, *new)
        outlook.ahead, outlook.fresh, outlook.analysis, outlook.draft = (), (), None, None
        if before.outline:  # what a report needs is known: only what was not found is looked for again
            outlook.analysis = open_aspects(state.inquiry) if hop < most else Known()
        elif _settles(new, before.question) or (_ends(search, state) and _have_facts(search.needs, state.inquiry)):
            outlook.decided = Answer(Cause.SETTLED)
        elif search.plan and not state.answer_noted and (following := foreseen(search.plan, state.inquiry)):
            outlook.analysis, outlook.fresh = following, new
        elif new:
            state = yield from self._proceed(state, before, new, outlook)
        return state

    def _answer(self, state: RunState, answer: Answer, outlook: _Outlook) -> Generator[Progress, None, RunState]:
        """A draft of the answer, and what follows from it: the end, or a search for what reflection names."""
        outlook.decided = Stop()
        if answer.cause is Cause.REFUSED:
            yield state
            try:
                likely = yield from self._drafting.draft(max(len(state.hops), 1), state.inquiry, last_attempt=True)
            except CapReached:
                return state
            answered = likely.draft.answered
            return state.with_draft(likely, last_attempt=True).as_last_attempt() if answered else state
        settled = answer.cause is Cause.SETTLED
        hop = len(state.hops) if settled else state.next_hop
        last = answer.last_attempt
        written = outlook.draft
        drafted = yield from self._drafting.draft(hop, state.inquiry, last_attempt=last, may_search=True, draft=written)
        need = Need(" ".join(drafted.gap.split()))
        gap = (need,) if drafted.search and need.question and not state.inquiry.looks(need) else ()
        state = state.with_draft(drafted, last_attempt=last)
        if settled and not drafted.draft.answered:
            outlook.ahead, outlook.decided = gap, None
            return replace(state, inquiry=replace(state.inquiry, missing=drafted.draft.missing))
        if gap and not settled:
            outlook.decided = Search(gap)
            return state
        if answer.cause is Cause.GIVEN_UP or state.is_doubtful:
            state = state.as_last_attempt()
        outlook.decided = self._end(state)
        return state

    def _proceed(
        self, state: RunState, before: Inquiry, new: Sequence[Fact], outlook: _Outlook
    ) -> Generator[Progress, None, RunState]:
        """The state with the new facts put into the question, which stays as it was where the rephraser's calls fail;
        its analysis follows where one call made both. `before` is the inquiry without these facts."""
        hop, made = len(state.hops), self._ask_jointly(state.inquiry, new)
        question, outlook.analysis, outlook.draft = made.question, made.analysis, made.draft
        if question is None:
            rephrase = self._roles.rephraser.rephrase
            question = (yield from optional(hop, "rephrase", lambda: rephrase(before, new))) or before.question
        if question != before.question:
            yield RephrasingStep(hop, before.question, question)
        state = state.with_rephrasing(question, self._budget.used_since(outlook.since))
        yield state
        return state

    def _ask_jointly(self, inquiry: Inquiry, new: Sequence[Fact]) -> Continuation:
        """Both halves of the joint reply; neither where one role at a time is asked. A model that fails at the joint
        reply is asked for the halves apart, from then on: its failure is in the trace, and nothing is lost."""
        try:
            if self._joint_analyst is not None:
                return self._joint_analyst.proceed(inquiry, new)
        except LLMError as error:
            if error.fatal:
                raise
            self._joint_analyst = None
        return Continuation()


def _untried(analysis: Analysis, inquiry: Inquiry) -> Search:
    """What to look for: the needs that are new; if none is, those that were tried just once, then wider, but
    for those whose rows the corpus lacks. None where the facts suffice or nothing would help."""
    if not isinstance(analysis, Needs):
        return Search(())
    unique = list({need.key: need for need in analysis.needs}.values())
    if new := tuple(need for need in unique if not inquiry.looks(need)):
        return Search(new, last=analysis.last and not analysis.then, plan=analysis)
    lost = {rows.need for rows in inquiry.lost_rows}
    again = (need for need in unique if inquiry.looks(need) == 1 and need.key not in lost)
    return Search(tuple(again), wider=True, last=analysis.last)


def _never_searched(needs: Sequence[Need], inquiry: Inquiry) -> tuple[Need, ...]:
    """The needs that are not just other words for one that brought nothing, and those that name an article which none
    of the needs so far has named: its text is new, whatever the words."""
    met = {fact.need.key for fact in inquiry.facts}
    barren = [content_words(need.question) for need in inquiry.tried if need.key not in met]
    seen = {need.see.casefold() for need in inquiry.tried}

    def is_new(need: Need) -> bool:
        elsewhere, words = bool(need.see) and need.see.casefold() not in seen, content_words(need.question)
        return elsewhere or not any(len(words & tried) >= SAME_WORDS * len(words) for tried in barren)

    return tuple(need for need in needs if is_new(need))


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
    """Whether half of the needs have a value, since several may ask for the same in other words, or of each thing that
    a description fits: a draft of the answer costs no more than to ask what is missing, and says it, too. For a text,
    whether each aspect has a fact."""
    served = {fact.need.key for fact in inquiry.facts if fact.value or inquiry.form.is_text}
    met = sum(need.key in served for need in needs)
    return met == len(needs) if inquiry.form.is_text else 2 * met >= len(needs)


def _ends(search: Search, state: RunState) -> bool:
    """Whether nothing is missing once the needs have their values: the one link that would follow may have been read,
    too."""
    plan = search.plan
    noted = state.answer_noted and plan is not None and plan.last and len(plan.then) == 1
    return search.last or noted or (plan is not None and is_foretold(plan, state.inquiry))


def _settles(new: Sequence[Fact], question: str) -> bool:
    """Whether the question itself was looked up and a value found: nothing to rephrase, nothing to analyse again."""
    return any(fact.value and fact.need.key == Need(question).key for fact in new)
