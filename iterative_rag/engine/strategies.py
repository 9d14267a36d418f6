"""What a strategy is put together from, and the strategies that are combinations of the same parts.

| strategy | flow | parts | follows |
|---|---|---|---|
| naive | one search | – | one retrieval, one answer (Lewis et al., 2020); see `flows.py` |
| crag | one search | grading, correction | corrective RAG: labels, thresholds of 0.3 and 0.7, key points |
| self-rag | one search | the same and reflection | corrective RAG with self-reflection |
| plan | the steps of a plan | – | plan, step, evaluate |
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

from iterative_rag.engine.components import Engine, RunComponents
from iterative_rag.engine.corrector import Corrector
from iterative_rag.engine.data_finder import DataFinder
from iterative_rag.engine.drafting import Drafting
from iterative_rag.engine.flows import planned_steps, single_search
from iterative_rag.engine.loop import StepLoop
from iterative_rag.engine.run import Loop, Run
from iterative_rag.verification.rule_reflector import RuleReflector, UnsureReflector

_PARTS = ("grading", "correction", "reflection", "corroboration")


@dataclass(frozen=True, slots=True)
class Composition:
    """A strategy made of the parts of this package: its flow, which says how hops follow one another, and which parts
    are switched on."""

    flow: Callable[[RunComponents, DataFinder, Drafting], Loop]
    grading: bool = False
    correction: bool = False
    reflection: bool = False
    corroboration: bool = False

    def __call__(self, run: RunComponents) -> Engine:
        """The engine of one run, with the parts that the settings switch on or off."""
        switches = {part: getattr(run.settings, part) for part in _PARTS}
        parts = replace(self, **{part: value != "off" for part, value in switches.items() if value != "auto"})
        finder, drafting = parts._finder(run), parts._drafting(run)
        begin = run.begin if parts.flow is StepLoop else None
        return Run(run, parts.flow(run, finder, drafting), drafting, finder, begin=begin)

    def _finder(self, run: RunComponents) -> DataFinder:
        settings, reader = run.settings, run.reader
        corrector = None
        if self.grading or self.correction or run.web is not None:
            corrector = Corrector(
                run.corpus,
                settings,
                grader=run.grader if self.grading else None,
                rewriter=run.roles.rewriter if self.correction else None,
                web=run.web,
                sparing=run.traits.calls_cost,
            )
        if self.corroboration:
            reader = reader.corroborating(limited="fact_limit" in settings.model_fields_set)
        return DataFinder(run, reader=reader, corrector=corrector)

    def _drafting(self, run: RunComponents) -> Drafting:
        """Where the strategy reflects, with the backend's reflector, or the rules where it has none."""
        drafting, reflector = run.drafting(), run.roles.reflector
        if not self.reflection:
            return drafting
        if reflector is not None and run.settings.reflection == "unsure":
            reflector = UnsureReflector(reflector)
        return replace(drafting, reflector=reflector or RuleReflector(), guards=False)


CRAG = Composition(single_search, grading=True, correction=True)
SELF_RAG = replace(CRAG, reflection=True)
PLAN = Composition(planned_steps)
ITERATIVE = Composition(StepLoop)
FULL = Composition(StepLoop, **dict.fromkeys(_PARTS, True))
