"""Runs all cases against one model and writes its profile."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from iterative_rag.app.qualification.cases import cases, longest_window, run_case
from iterative_rag.app.qualification.decisions import Decision, Measured, advice, decisions
from iterative_rag.app.qualification.measurements import CallFigures, ObservedModel, measure
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
    calls: Callable[[RunProgress], None] | None = None,
) -> Qualification:
    """Run every case, decide, and write the profile. `progress` is told what is tested next, `calls` when a call of the
    model begins or ends.

    Raises LLMError where the model cannot be called at all, SettingsError and OSError where the profile cannot be
    written.
    """
    measured = _measured(model, settings, progress, calls)
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
        "defects": list(measured.defects),
        "settings": [asdict(decision) for decision in decided],
        "advice": list(told),
    }
