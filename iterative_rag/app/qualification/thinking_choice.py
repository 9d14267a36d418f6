"""Whether a model that can think should: the role cases with thinking on, and with it off."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from iterative_rag.app.qualification.cases import RoleCase
from iterative_rag.app.qualification.observed_model import ObservedModel
from iterative_rag.app.qualification.role_cases import run_case
from iterative_rag.engine.budget import RunBudget
from iterative_rag.llm.llm_backend import LLMBackend
from iterative_rag.protocols import ChatModel
from iterative_rag.settings import Settings
from iterative_rag.storage.cache import NoCache
from iterative_rag.storage.trace import Trace

Thinking = Literal["on", "off"]
MakeModel = Callable[[Thinking], ChatModel]
# Seconds of so few calls vary on a busy machine: less than this is no difference.
CLEARLY_SLOWER = 1.5


@dataclass(frozen=True, slots=True)
class ThinkingCases:
    """What came of the cases in one of the two ways: how many were right, and their seconds together."""

    right: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ThinkingChoice:
    """Both ways side by side, and how many cases there were."""

    cases: int
    on: ThinkingCases
    off: ThinkingCases

    @property
    def value(self) -> Thinking:
        """Off where that answers as well and is not slower."""
        slower = self.off.seconds > CLEARLY_SLOWER * self.on.seconds
        return "off" if self.off.right >= self.on.right and not slower else "on"


def choose(make: MakeModel, cases: Sequence[RoleCase], settings: Settings) -> ThinkingChoice | None:
    """Run the cases both ways; None for a model that does not think where it is told to. Raises LLMError."""
    on = ObservedModel(make("on"))
    _run(on, cases[:1], settings)
    if not any(call.thought for call in on.calls):
        return None
    return ThinkingChoice(len(cases), _run(on, cases, settings), _run(ObservedModel(make("off")), cases, settings))


def _run(model: ObservedModel, cases: Sequence[RoleCase], settings: Settings) -> ThinkingCases:
    roles = LLMBackend(model, None, NoCache(), settings).roles(RunBudget(settings, Trace("", [])))
    started = time.monotonic()
    right = sum(run_case(case, roles, model).right for case in cases)
    return ThinkingCases(right, time.monotonic() - started)
