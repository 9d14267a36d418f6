"""What a strategy is put together from, and the strategies that are combinations of the same parts.

| strategy | flow | parts | follows |
|---|---|---|---|
| naive | single | – | one retrieval, one answer (Lewis et al., 2020); see `baselines.py` |
| crag | single | grading, refinement, correction | corrective RAG: labels, thresholds of 0.3 and 0.7, key points |
| self-rag | single | the same and reflection | corrective RAG with self-reflection |
| plan | plan | – | plan, step, evaluate |
| iterative | loop | – | iterative extraction with rephrasing: the default |
| full | loop | all | everything together |

Where they depart: every strategy but naive reads documents for quoted facts, so that each claim can be checked against
a text; queries are reworded before the web is searched; the web is searched only if the user allows it, and then after
any verdict that is not correct; a plan is revised after every step by whoever made it; nothing is done twice.

A strategy is any function from `RunComponents` to an engine; `iterative_rag/registry.py` lists them by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.correction.corrector import Corrector
from iterative_rag.engine.correction.refinement import Refiner
from iterative_rag.engine.data_finder import DataFinder
from iterative_rag.engine.drafting import Drafting
from iterative_rag.engine.driver import Engine
from iterative_rag.engine.plan_engine import PlanEngine
from iterative_rag.engine.run_state import RunState
from iterative_rag.engine.single_engine import SingleEngine
from iterative_rag.engine.step_engine import StepEngine
from iterative_rag.protocols import Corpus, Grader, Reflector, Roles
from iterative_rag.registry import STRATEGIES
from iterative_rag.retrieval.document_reader import DocumentReader
from iterative_rag.settings import Settings

if TYPE_CHECKING:  # the default strategy does not need it, and importing it takes time
    from iterative_rag.engine.correction.web_search import WebSearch
    from iterative_rag.retrieval.known_facts import KnownFacts


@dataclass(frozen=True, slots=True)
class RunComponents:
    """What an engine works with. `metered`: every call costs; `web` is None unless the user allows it, `known` where a
    question does not begin with what earlier ones have found, `begin` unless the run goes on from an edit."""

    corpus: Corpus
    reader: DocumentReader
    roles: Roles
    grader: Grader
    budget: RunBudget
    settings: Settings
    metered: bool
    web: WebSearch | None = None
    known: KnownFacts | None = None
    begin: RunState | None = None


def build(strategy: str, run: RunComponents) -> Engine:
    """The engine of one run. Raises UsageError for an unknown strategy, or one that the backend cannot follow."""
    compose: Callable[[RunComponents], Engine] = STRATEGIES.load(strategy)
    return compose(run)


class Flow(StrEnum):
    """How hops follow one another."""

    SINGLE = "single"  # one search with the question as it is
    PLAN = "plan"  # the steps of a plan
    LOOP = "loop"  # which fact is missing, find it, put it into the question


@dataclass(frozen=True, slots=True)
class Composition:
    """A strategy made of the parts of this package: its flow, and which parts are switched on."""

    flow: Flow
    grading: bool = False
    refinement: bool = False
    correction: bool = False
    sufficiency: bool = False
    reflection: bool = False
    corroboration: bool = False

    def switched(self, settings: Settings) -> Composition:
        """With the parts that the settings switch on or off."""
        switches = {part: getattr(settings, part) for part in _PARTS}
        return replace(self, **{part: value != "off" for part, value in switches.items() if value != "auto"})

    def __call__(self, run: RunComponents) -> Engine:
        return _composed(self.switched(run.settings), run)


_PARTS = ("grading", "refinement", "correction", "sufficiency", "reflection", "corroboration")

CRAG = Composition(Flow.SINGLE, grading=True, refinement=True, correction=True)
SELF_RAG = replace(CRAG, reflection=True)
PLAN = Composition(Flow.PLAN)
ITERATIVE = Composition(Flow.LOOP)
FULL = Composition(Flow.LOOP, **dict.fromkeys(_PARTS, True))


def _composed(parts: Composition, run: RunComponents) -> Engine:
    roles, budget, settings = run.roles, run.budget, run.settings
    corrects = parts.grading or parts.correction or run.web is not None
    corrector = Corrector(
        run.corpus,
        settings,
        grader=run.grader if parts.grading else None,
        rewriter=roles.rewriter if parts.correction else None,
        web=run.web,
        metered=run.metered,
    )
    finder = DataFinder(
        run.corpus,
        run.reader.corroborating(limited="fact_limit" in settings.model_fields_set)
        if parts.corroboration
        else run.reader,
        settings,
        corrector=corrector if corrects else None,
        refiner=Refiner(run.grader, settings.grade_lower) if _refines(parts, run) else None,
    )
    drafting = plain_drafting(run)
    if parts.reflection:
        drafting = replace(drafting, reflector=_reflector(run), guards=False)
    match parts.flow:
        case Flow.SINGLE:
            return SingleEngine(finder, drafting, budget)
        case Flow.PLAN:
            return PlanEngine(roles.planner, finder, drafting, budget, settings)
        case Flow.LOOP:
            judge = roles.judge if parts.sufficiency else None
            # A fact that is known is not looked up again, so nothing would agree with it or contradict it.
            known = None if parts.corroboration else run.known
            return StepEngine(
                roles,
                finder,
                drafting,
                budget,
                settings,
                judge=judge,
                metered=run.metered,
                known=known,
                begin=run.begin,
            )


def plain_drafting(run: RunComponents) -> Drafting:
    """Drafting without reflection. An LLM may add to the facts, so its claims are guarded; built-in models cannot."""
    if not run.metered:
        return Drafting(run.roles.answerer)
    from iterative_rag.verification.rule_reflector import ClaimGuard

    return Drafting(
        run.roles.answerer,
        ClaimGuard(),
        guards=True,
        metered=True,
        writer=run.roles.writer,
        length=run.settings.length,
    )


def _reflector(run: RunComponents) -> Reflector:
    """The backend's reflector, or the rules where it has none."""
    from iterative_rag.verification.rule_reflector import RuleReflector, UnsureReflector

    if run.roles.reflector is None:
        return RuleReflector()
    return UnsureReflector(run.roles.reflector) if run.settings.reflection == "unsure" else run.roles.reflector


def _refines(parts: Composition, run: RunComponents) -> bool:
    """Whether windows are cut into strips. Where every grade costs a call, grading strips took half of all calls and
    reading the whole window costs less, so there the user has to ask for it."""
    costly = run.metered and run.settings.grader == "backend"
    return parts.refinement and (not costly or run.settings.refinement == "on")
