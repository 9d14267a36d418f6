"""Runs all cases against one model and writes its profile."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from iterative_rag.app.qualification.cases import RoleCase, cases, longest_window, run_case
from iterative_rag.app.qualification.decisions import Decision, Measured, advice, decisions
from iterative_rag.app.qualification.measurements import (
    CallFigures,
    ObservedModel,
    Thinking,
    ThinkingCases,
    ThinkingChoice,
    measure,
)
from iterative_rag.app.qualification.strategy_runs import run_strategy
from iterative_rag.engine.budget import RunBudget
from iterative_rag.llm.llm_backend import LLMBackend
from iterative_rag.protocols import ChatModel
from iterative_rag.registry import STRATEGIES
from iterative_rag.settings import Settings
from iterative_rag.settings.model_profile import ModelIdentity, ModelProfile, write_profile
from iterative_rag.storage.cache import NoCache
from iterative_rag.storage.trace import Trace
from iterative_rag.types import RunProgress

# The limits of a run are for questions of users; all role cases are one run here.
_UNLIMITED = {"max_calls": 100_000, "max_tokens": 1_000_000_000, "max_seconds": 86_400.0}

Progress = Callable[[str], None]
MakeModel = Callable[[Thinking], ChatModel]


@dataclass(frozen=True, slots=True)
class Qualification:
    """What was measured, the settings that follow, and the profile that was written."""

    measured: Measured
    decisions: tuple[Decision, ...]
    advice: tuple[str, ...]
    profile: ModelProfile


def qualify(
    model: ChatModel,
    identity: ModelIdentity,
    settings: Settings,
    progress: Progress,
    *,
    thinking: MakeModel | None = None,
    calls: Callable[[RunProgress], None] | None = None,
) -> Qualification:
    """Run every case, decide, and write the profile. `progress` is told what is tested next, `calls` when a call of the
    model begins or ends. `thinking` makes the same
    model with thinking on or off; None leaves it as it is.

    Raises LLMError where the model cannot be called at all, SettingsError and OSError where the profile cannot be
    written.
    """
    choice = None
    if thinking is not None:
        progress("thinking")
        choice = _thinking(thinking, cases().roles, settings.model_copy(update=_UNLIMITED))
        model = thinking(choice.value) if choice else model
    measured = replace(_measured(model, settings, progress, calls), thinking=choice)
    decided = decisions(measured)
    told = tuple(advice(measured))
    profile = ModelProfile(
        identity,
        datetime.now(UTC).isoformat(timespec="seconds"),
        {decision.name: decision.value for decision in decided},
        _report(measured, decided, told),
    )
    write_profile(profile)
    return Qualification(measured, decided, told, profile)


def _thinking(make: MakeModel, cases: Sequence[RoleCase], settings: Settings) -> ThinkingChoice | None:
    """Run the cases both ways; None for a model that does not think where it is told to. Raises LLMError."""
    on = ObservedModel(make("on"))
    _thought(on, cases[:1], settings)
    if not any(call.thought for call in on.calls):
        return None
    return ThinkingChoice(
        len(cases), _thought(on, cases, settings), _thought(ObservedModel(make("off")), cases, settings)
    )


def _thought(model: ObservedModel, cases: Sequence[RoleCase], settings: Settings) -> ThinkingCases:
    roles = LLMBackend(model, None, NoCache(), settings).roles(RunBudget(settings, Trace("", [])))
    started = time.monotonic()
    right = sum(run_case(case, roles, model).right for case in cases)
    return ThinkingCases(right, time.monotonic() - started)


def _measured(
    model: ChatModel, settings: Settings, progress: Progress, calls: Callable[[RunProgress], None] | None
) -> Measured:
    held = cases()
    observed = ObservedModel(model, calls)
    numbers, of = itertools.count(1), len(held.roles) + len(STRATEGIES.offered) + 2
    # The defaults of everything that a profile sets: what is tested must not depend on an earlier profile.
    tested = settings.model_copy(update=_UNLIMITED)
    backend = LLMBackend(observed, None, NoCache(), tested)
    roles = backend.roles(RunBudget(tested, Trace("", [])))
    results = []
    for case in held.roles:
        progress(f"{next(numbers)} of {of}: {case.id}")
        results.append(run_case(case, roles, observed))
    progress(f"{next(numbers)} of {of}: long windows")
    window = longest_window(held.window, roles.extractor)
    strategies = []
    for strategy in STRATEGIES.offered:
        progress(f"{next(numbers)} of {of}: strategy {strategy}")
        strategies.append(run_strategy(strategy, held, backend, settings))
    called = observed.calls[1:]  # the first one waits for the server to load the model
    progress(f"{next(numbers)} of {of}: two calls at once")
    parallel = measure(roles.extractor)
    slowest = max(call.seconds for call in called)
    return Measured(tuple(results), window, tuple(strategies), CallFigures.of(called), slowest, parallel)


def _report(measured: Measured, decided: tuple[Decision, ...], told: tuple[str, ...]) -> dict[str, Any]:
    return {
        "cases": [asdict(case) for case in measured.cases],
        "window": measured.window,
        "strategies": [asdict(result) for result in measured.strategies],
        "calls": asdict(measured.calls),
        "parallel": asdict(measured.parallel),
        "thinking": asdict(measured.thinking) if measured.thinking else None,
        "defects": list(measured.defects),
        "settings": [asdict(decision) for decision in decided],
        "advice": list(told),
    }
