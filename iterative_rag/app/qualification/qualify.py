"""Runs all cases against one model and writes its profile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from iterative_rag.app.qualification.cases import cases, run_case
from iterative_rag.app.qualification.decisions import Decision, Measured, decisions
from iterative_rag.app.qualification.observed_model import ObservedModel
from iterative_rag.app.qualification.strategy_runs import run_strategy
from iterative_rag.engine.budget import RunBudget
from iterative_rag.llm.llm_backend import LLMBackend
from iterative_rag.protocols import ChatModel
from iterative_rag.registry import STRATEGIES
from iterative_rag.settings import Settings
from iterative_rag.settings.model_profile import ModelIdentity, ModelProfile, write_profile
from iterative_rag.storage.cache import NoCache
from iterative_rag.storage.trace import Trace

# The limits of a run are for questions of users; all role cases are one run here.
_UNLIMITED = {"max_calls": 100_000, "max_tokens": 1_000_000_000, "max_seconds": 86_400.0}


@dataclass(frozen=True, slots=True)
class Qualification:
    """What was measured, the settings that follow, and the profile that was written."""

    measured: Measured
    decisions: tuple[Decision, ...]
    profile: ModelProfile


def qualify(
    model: ChatModel, identity: ModelIdentity, settings: Settings, progress: Callable[[str], None]
) -> Qualification:
    """Run every case, decide, and write the profile. `progress` is told what is tested next.

    Raises LLMError where the model cannot be called at all, SettingsError and OSError where the profile cannot be
    written.
    """
    measured = _measured(model, settings, progress)
    decided = tuple(decisions(measured))
    report = {
        "cases": [asdict(case) for case in measured.cases],
        "window": measured.window,
        "strategies": [asdict(result) for result in measured.strategies],
        "calls": {"calls": len(measured.calls), "in_form": measured.in_form, "slowest": measured.slowest},
        "defects": list(measured.defects),
        "settings": [asdict(decision) for decision in decided],
    }
    made = datetime.now(UTC).isoformat(timespec="seconds")
    profile = ModelProfile(identity, made, {decision.name: decision.value for decision in decided}, report)
    write_profile(profile)
    return Qualification(measured, decided, profile)


def _measured(model: ChatModel, settings: Settings, progress: Callable[[str], None]) -> Measured:
    asked, observed = cases(), ObservedModel(model)
    # The defaults of everything that a profile sets: what is tested must not depend on an earlier profile.
    tested = settings.model_copy(update=_UNLIMITED)
    backend = LLMBackend(observed, None, NoCache(), tested)
    roles = backend.roles(RunBudget(tested, Trace("", [])))
    results = []
    for n, case in enumerate(asked.roles, start=1):
        progress(f"{n} of {len(asked.roles)}: {case.id}")
        results.append(run_case(case, roles, observed))
    progress("long windows")
    window = asked.window
    longest = next((size for size in window.sizes if run_case(window.of(size), roles, observed).right), 0)
    strategies = []
    for strategy in STRATEGIES.offered:
        progress(f"strategy {strategy}")
        strategies.append(run_strategy(strategy, asked, backend, settings))
    return Measured(tuple(results), longest, tuple(strategies), tuple(observed.calls))
