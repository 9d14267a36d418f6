"""The strategies without a loop over needs: one search, a plan, no document at all, and what a conversation holds."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from iterative_rag.computing import ComputeError, compute
from iterative_rag.engine.components import Engine, RunComponents
from iterative_rag.engine.corrector import Corrector
from iterative_rag.engine.data_finder import DataFinder
from iterative_rag.engine.drafting import Drafted, Drafting
from iterative_rag.engine.run import Loop, Run
from iterative_rag.engine.run_state import Progress, RunState
from iterative_rag.errors import UsageError
from iterative_rag.protocols import Analyst, Corpus
from iterative_rag.retrieval.need_reading import fact_at
from iterative_rag.types.correcting import Plan, PlannedStep, PlanTool
from iterative_rag.types.documents import ShortlistedDocument
from iterative_rag.types.loop import Analysis, Computation, Extract, Fact, Inquiry, Known, Need, Needs
from iterative_rag.types.outcomes import Cap, Draft, Status
from iterative_rag.types.steps import (
    AnalysisStep,
    AnsweringStep,
    FinalStep,
    PlanningStep,
    ReadingStep,
    ShortlistStep,
    Step,
    ToolStep,
)
from iterative_rag.verification.rule_reflector import ClaimGuard

# Searches of one question: the first, and those that reflection asks for.
SEARCHES = 3
# Steps that may be taken, for each step of the first plan.
STEPS_PER_PLANNED = 2
# The score of a passage that was not read, as a fact.
UNREAD_SCORE = 0.5


# --- one search ------------------------------------------------------------------------------


def single_search(run: RunComponents, finder: DataFinder, drafting: Drafting) -> Loop:
    """One search with the question as it is, corrected where it falls short, and an answer: corrective RAG.

    Where the strategy reflects and finds that the answer does not answer what was asked, the gap is searched for, too.
    """

    def loop(state: RunState) -> Generator[Progress, None, RunState]:
        original = state.inquiry.original
        # When the loop is resumed, the search is done and only the answer is left.
        need = None if state.inquiry.tried else Need(original)
        while True:
            hop = state.next_hop
            if need:
                run.budget.check()
                state = yield from finder.search(state, [need], wider=state.inquiry.looks(need) > 0)
            may_search = len(state.inquiry.tried) < SEARCHES
            drafted = yield from drafting.draft(hop, state.inquiry, last_attempt=True, may_search=may_search)
            state = state.with_draft(drafted)
            need = Need(drafted.gap or original)
            # The second search for a need is wider; a third would bring nothing else.
            if not drafted.search or state.inquiry.looks(need) > 1:
                return state

    return loop


def naive(run: RunComponents) -> Engine:
    """One retrieval with the question as it is, and one answer (Lewis et al., 2020).

    Where calls cost, the passages themselves are the facts, so that a question is one call. The built-in backend can
    answer only from what it has read, so it reads the shortlist once.
    """
    corrector = Corrector(run.corpus, run.settings, web=run.web, sparing=run.traits.calls_cost) if run.web else None
    finder, drafting = DataFinder(run, corrector=corrector), run.drafting()

    def loop(state: RunState) -> Generator[Progress, None, RunState]:
        need = Need(state.inquiry.original)
        if not state.inquiry.tried and run.traits.calls_cost:
            started = run.budget.usage()
            (documents,) = finder.shortlist([need], wider=False)
            yield ShortlistStep(1, need, documents)
            reading = _passages(need, documents, run.corpus)
            yield reading
            titles = [entry.title for entry in documents]
            state = state.with_hop([need], titles, reading.facts, run.budget.used_since(started))
            yield state
        elif not state.inquiry.tried:
            state = yield from finder.search(state, [need], wider=False)
        return state.with_draft((yield from drafting.draft(1, state.inquiry, last_attempt=True)))

    return Run(run, loop, drafting, finder)


def _passages(need: Need, documents: Sequence[ShortlistedDocument], corpus: Corpus) -> ReadingStep:
    """The passages that the query hit, best first, as facts that quote the whole passage."""
    hits = sorted((hit for entry in documents for hit in entry.hits), key=lambda hit: -hit.score)
    passage = Extract("Passage", "", "", UNREAD_SCORE)
    facts = tuple(fact_at(corpus.document(hit.document_id), hit.start, hit.end, need, passage) for hit in hits)
    return ReadingStep(1, need, facts, len(documents), 0, 0, 0, (), tuple(entry.document_id for entry in documents))


# --- a plan ----------------------------------------------------------------------------------


def planned_steps(run: RunComponents, finder: DataFinder, drafting: Drafting) -> Loop:
    """Plan, step, evaluate: a plan for a hard question, a step of it carried out, the plan evaluated again.

    A step is a search of the corpus, a search of the web where the user allows it, or a calculation. The planner sees
    all results and all that was tried, so the loop never goes round.
    """

    def loop(state: RunState) -> Generator[Progress, None, RunState]:
        planner = run.roles.planner
        plan = planner.plan(state.inquiry)
        yield PlanningStep(state.next_hop, plan)
        if not plan.steps and not state.inquiry.tried:  # a question without a plan is looked up as it is
            plan = Plan((PlannedStep(state.inquiry.original),), plan.reason)
        left = STEPS_PER_PLANNED * len(plan.steps)
        while left and (step := _next_step(plan, state.inquiry)):
            left -= 1
            hop = state.next_hop
            run.budget.check()
            if step.tool is PlanTool.CALCULATE:
                state = yield from _calculated(state, step)
                if len(plan.steps) == 1 and state.inquiry.computed:  # only the answer waits for the result
                    break
            elif hop > run.settings.max_hops:
                raise run.budget.reached(Cap.HOPS)
            else:
                need, online = Need(step.question), step.tool is PlanTool.WEB and finder.searches_web
                wider = state.inquiry.looks(need) > 0 and not online
                state = yield from finder.search(state, [need], wider=wider, online=online)
            plan = planner.plan(state.inquiry, plan)
            yield PlanningStep(hop, plan)
        hop = max(len(state.hops), 1)
        return state.with_draft((yield from drafting.draft(hop, state.inquiry, last_attempt=True)))

    return loop


def _calculated(state: RunState, step: PlannedStep) -> Generator[Progress, None, RunState]:
    """The state with the result of an expression. One that is refused counts as tried, so it is not asked for again."""
    inquiry, hop = state.inquiry, max(len(state.hops), 1)
    try:
        result = compute(step.question)
    except ComputeError as error:
        yield ToolStep(hop, step.tool.value, step.question, f"refused, {error}")
        return replace(state, inquiry=replace(inquiry, tried=(*inquiry.tried, Need(step.question))))
    yield ToolStep(hop, step.tool.value, step.question, result)
    facts = tuple(index for index in step.facts if 0 <= index < len(inquiry.facts))
    done = Computation(step.question, result, facts)
    return replace(state, inquiry=replace(inquiry, computed=(*inquiry.computed, done)))


def _next_step(plan: Plan, inquiry: Inquiry) -> PlannedStep | None:
    """The first step that was not taken; else the first search that was made just once and is still wanted, wider."""
    computed = {computation.expression for computation in inquiry.computed}

    def looks(step: PlannedStep) -> int:
        looked = inquiry.looks(Need(step.question))
        return 2 * (step.question in computed or looked > 0) if step.tool is PlanTool.CALCULATE else looked

    new = (step for step in plan.steps if not looks(step))
    return next(new, None) or next((step for step in plan.steps if looks(step) == 1), None)


# --- no document -----------------------------------------------------------------------------


def closed_book(run: RunComponents) -> Engine:
    """The backend alone, without a corpus: what a corpus adds is measured against it."""
    recaller = run.roles.recaller
    if recaller is None:
        hint = "Add --llm ollama/MODEL, or use the mode naive."
        raise UsageError("The built-in backend knows nothing by heart: closed-book needs an LLM.", hint=hint)

    def loop(state: RunState) -> Generator[Progress, None, RunState]:
        draft = recaller.recall(state.inquiry.original)
        yield AnsweringStep(1, draft)
        return state.with_draft(Drafted(draft))

    return Run(run, loop, Drafting(run.roles.answerer))


@dataclass(frozen=True, slots=True)
class KnownFactsEngine:
    """Answers a follow-up by a draft from the facts that its conversation has cited. The draft is checked as any other;
    one that is refused, or cites nothing, is not written again: the question is then looked up by the engine
    `otherwise`, so that no answer is lost."""

    run: RunComponents
    draft: Draft
    facts: tuple[Fact, ...]
    otherwise: Engine

    def steps(self, question: str) -> Iterator[Step]:
        drafting = Drafting(self, ClaimGuard(), guards=True)

        def loop(state: RunState) -> Generator[Progress, None, RunState]:
            yield AnalysisStep(1, state.inquiry.question, Known(), self.facts)
            return state.with_draft((yield from drafting.draft(1, state.inquiry, last_attempt=False)))

        for step in Run(self.run, loop, drafting, facts=self.facts).steps(question):
            if isinstance(step, FinalStep) and (step.answer.status is not Status.ANSWERED or not step.answer.citations):
                yield from self.otherwise.steps(question)
                return
            yield step

    def answer(self, inquiry: Inquiry, *, last_attempt: bool = False, advice: str = "") -> Draft:
        """Implements protocols.Answerer: the draft, and nothing where it is asked for another one."""
        return replace(self.draft, answered=False) if advice or last_attempt else self.draft


@dataclass(frozen=True, slots=True)
class SingleLookUp:
    """Implements protocols.Analyst: a question that one look-up answers is its own need; where that brought nothing, or
    not enough, `analyst` is asked as ever."""

    analyst: Analyst

    def analyse(self, inquiry: Inquiry) -> Analysis:
        if inquiry.facts or inquiry.tried:
            return self.analyst.analyse(inquiry)
        return Needs((Need(inquiry.original),), last=True)
