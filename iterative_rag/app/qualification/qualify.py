"""Tests one model, role by role, against the built-in models, and writes its profile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from pydantic import TypeAdapter, ValidationError

from iterative_rag.app.qualification.cases import RIVALLED, CaseResult, Player, RoleCase, cases, run_case
from iterative_rag.app.qualification.players import builtin_player, model_player
from iterative_rag.app.qualification.verdicts import Outcome, in_order
from iterative_rag.engine.budget import RunBudget
from iterative_rag.errors import CapReached, SettingsError
from iterative_rag.protocols import ChatModel
from iterative_rag.settings import Settings
from iterative_rag.settings.model_profile import ModelIdentity, ModelProfile, read_profile, write_profile
from iterative_rag.storage.trace import Trace

# The limits of a run are for questions of users; all cases are one run here.
_UNLIMITED = {"max_calls": 100_000, "max_tokens": 1_000_000_000}


@dataclass(frozen=True, slots=True)
class Qualification:
    """What came out, and the profile that was written. `complete`: no case is left that could change it."""

    outcome: Outcome
    complete: bool
    profile: ModelProfile


def qualify(
    model: ChatModel,
    identity: ModelIdentity,
    settings: Settings,
    progress: Callable[[CaseResult, bool], None],
    *,
    minutes: float,
) -> Qualification:
    """Ask the cases that are left of an earlier test, for so many minutes, and write the profile. `progress` is told
    what came of each, and whether it is one that was kept. A test that is broken off leaves its cases and sets nothing.

    Raises LLMError where the model cannot be called at all, SettingsError and OSError where the profile cannot be
    written.
    """
    asked, builtin = in_order(cases()), builtin_player(RunBudget(settings.model_copy(update=_UNLIMITED), Trace("", [])))
    outcome = Outcome(_kept(identity), tuple(run_case(case, builtin) for case in asked if case.role in RIVALLED))
    # The minutes are the model's: on a busy machine the built-in models alone may take one.
    budget = RunBudget(settings.model_copy(update={**_UNLIMITED, "max_seconds": 60 * minutes}), Trace("", []))
    player = model_player(model, settings, budget)
    for result in outcome.results:
        progress(result, True)
    complete = True
    for case in asked:
        if any(result.id == case.id for result in outcome.results) or not outcome.wants(case):
            continue
        if (came := _asked(case, player, budget)) is None:
            complete = False
            break
        outcome = Outcome((*outcome.results, came), outcome.rivals)
        _written(identity, outcome, complete=False, settings={})
        progress(came, False)
    profile = _written(identity, outcome, complete=complete, settings=dict(outcome.settings()))
    return Qualification(outcome, complete, profile)


def _asked(case: RoleCase, player: Player, budget: RunBudget) -> CaseResult | None:
    """What came of a case; None where the time was up before its end."""
    try:
        result = run_case(case, player)
    except CapReached:
        return None
    return result if result.right or budget.seconds_left() > 0 else None


def _kept(identity: ModelIdentity) -> tuple[CaseResult, ...]:
    """The cases of a test that was not completed."""
    try:
        profile = read_profile(identity)
        if profile is None or profile.report.get("complete"):
            return ()
        return TypeAdapter(tuple[CaseResult, ...]).validate_python(profile.report.get("cases"))
    except (SettingsError, ValidationError):
        return ()


def _written(identity: ModelIdentity, outcome: Outcome, *, complete: bool, settings: dict[str, object]) -> ModelProfile:
    report = {
        "complete": complete,
        "better": outcome.players,
        "cases": [asdict(result) for result in outcome.results],
        "builtin": [asdict(result) for result in outcome.rivals],
    }
    profile = ModelProfile(identity, datetime.now(UTC).isoformat(timespec="seconds"), settings, report)
    write_profile(profile)
    return profile
