"""The strategies: each a short composition of the parts, with the description that it follows and where it departs.

| strategy | course | parts | follows |
|---|---|---|---|
| naive | single | – | one retrieval, one answer (Lewis et al., 2020) |
| crag | single | grading, refinement, correction | corrective RAG: labels, thresholds of 0.3 and 0.7, key points |
| self-rag | single | those and reflection | corrective with self-reflection |
| plan | plan | – | plan, step, evaluate |
| iterative | loop | – | iterative extraction with rephrasing: the default |
| full | loop | all | everything together |

Where they depart: documents are read for quoted facts in every strategy but naive, so that each claim can be checked
against a text; queries are reworded before the web is asked; the web is asked only where the user allows it, and then
after any verdict that is not correct; a plan is revised after every step by who made it; nothing is done twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from iterative_rag.correction.corrector import Corrector
from iterative_rag.correction.refinement import Refiner
from iterative_rag.engine.baselines import ClosedBookEngine, NaiveEngine
from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.data_finder import DataFinder
from iterative_rag.engine.drafting import Drafting
from iterative_rag.engine.driver import Engine
from iterative_rag.engine.plan_engine import PlanEngine
from iterative_rag.engine.single_engine import SingleEngine
from iterative_rag.engine.step_engine import StepEngine
from iterative_rag.protocols import Corpus, Grader, Reflector, Roles
from iterative_rag.retrieval.document_reader import DocumentReader
from iterative_rag.settings import Settings
from iterative_rag.types import Strategy

if TYPE_CHECKING:  # a question that the built-in backend answers by the default strategy does without it
    from iterative_rag.correction.web_search import WebSearch


class Course(StrEnum):
    """How hops follow one another."""

    SINGLE = "single"  # one search with the question as it is
    PLAN = "plan"  # the steps of a plan
    LOOP = "loop"  # which fact is missing, find it, put it into the question


@dataclass(frozen=True, slots=True)
class Composition:
    """A strategy: its course, and which parts are switched on."""

    course: Course
    grading: bool = False
    refinement: bool = False
    correction: bool = False
    sufficiency: bool = False
    reflection: bool = False
    corroboration: bool = False


COMPOSITIONS = {
    Strategy.CRAG: Composition(Course.SINGLE, grading=True, refinement=True, correction=True),
    Strategy.SELF_RAG: Composition(Course.SINGLE, grading=True, refinement=True, correction=True, reflection=True),
    Strategy.PLAN: Composition(Course.PLAN),
    Strategy.ITERATIVE: Composition(Course.LOOP),
    Strategy.FULL: Composition(
        Course.LOOP,
        grading=True,
        refinement=True,
        correction=True,
        sufficiency=True,
        reflection=True,
        corroboration=True,
    ),
}
_PARTS = ("grading", "refinement", "correction", "sufficiency", "reflection", "corroboration")


def composition(strategy: Strategy, settings: Settings) -> Composition:
    """The strategy's parts, as the settings switch them on or off. Baselines have none: see `build`."""
    switched = {part: getattr(settings, part) == "on" for part in _PARTS if getattr(settings, part) != "auto"}
    return replace(COMPOSITIONS[strategy], **switched)


@dataclass(frozen=True, slots=True)
class Means:
    """What an engine works with: `corpus` and its `reader`, a backend's `roles`, who grades, the web if allowed.

    `thrifty`: every call of the backend costs.
    """

    corpus: Corpus
    reader: DocumentReader
    roles: Roles
    grader: Grader
    budget: RunBudget
    settings: Settings
    thrifty: bool
    web: WebSearch | None = None


def build(strategy: Strategy, means: Means) -> Engine:
    """The engine of one run. Raises UsageError where the backend cannot work by this strategy."""
    roles, budget, settings = means.roles, means.budget, means.settings
    if strategy is Strategy.CLOSED_BOOK:
        return ClosedBookEngine(roles, budget)
    # What the built-in backend says is made of facts alone; a model may add to them.
    guarded = _guarded(means)
    if strategy is Strategy.NAIVE:
        finder = DataFinder(means.corpus, means.reader, settings)
        return NaiveEngine(finder, guarded, budget, means.corpus, reads=not means.thrifty)
    parts = composition(strategy, settings)
    corrects = parts.grading or parts.correction or means.web is not None
    corrective = Corrector(
        means.corpus,
        settings,
        grader=means.grader if parts.grading else None,
        rewriter=roles.rewriter if parts.correction else None,
        web=means.web,
    )
    finder = DataFinder(
        means.corpus,
        means.reader.corroborating() if parts.corroboration else means.reader,
        settings,
        corrective=corrective if corrects else None,
        refiner=Refiner(means.grader, settings.grade_lower) if _refines(parts, means) else None,
    )
    drafting = guarded
    if parts.reflection:
        drafting = Drafting(roles.answerer, roles.reflector or _rules())
    match parts.course:
        case Course.SINGLE:
            return SingleEngine(finder, drafting, budget)
        case Course.PLAN:
            return PlanEngine(roles.planner, finder, drafting, budget, settings)
        case Course.LOOP:
            judge = roles.judge if parts.sufficiency else None
            return StepEngine(roles, finder, drafting, budget, settings, judge=judge)


def _guarded(means: Means) -> Drafting:
    """Drafting of strategies that do not reflect."""
    if not means.thrifty:
        return Drafting(means.roles.answerer)
    from iterative_rag.verification.rule_reflector import ClaimGuard

    return Drafting(means.roles.answerer, ClaimGuard(), guards=True)


def _rules() -> Reflector:
    from iterative_rag.verification.rule_reflector import RuleReflector

    return RuleReflector()


def _refines(parts: Composition, means: Means) -> bool:
    """Whether windows are cut into strips: where every grade costs a call, reading the whole window costs less (half of
    all calls of a strategy went into the grades of strips), so there it takes the user's word."""
    dear = means.thrifty and means.settings.grader == "backend"
    return parts.refinement and (not dear or means.settings.refinement == "on")
