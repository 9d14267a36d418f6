"""`iterative-rag doctor --qualify`: tests a model, says what comes of each case, and what `ask` does with it now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iterative_rag.cli.console import clean, err, out, write_json
from iterative_rag.errors import UsageError

if TYPE_CHECKING:
    from iterative_rag.app.qualification.cases import CaseResult
    from iterative_rag.app.qualification.qualify import Qualification
    from iterative_rag.settings import Settings

_ABILITIES = {
    "read": "reads values",
    "decline": "declines what is not stated",
    "plan": "plans look-ups",
    "check": "checks documents",
    "answer": "words the answer",
    "extract": "copies quotes, keeps texts apart",
    "window": "reads long windows",
    "drive": "drives the strategy agent",
}
_WHO = {"model": "the model", "builtin": "the built-in models", "both": "both: they must agree", "": "not tested"}
_NOW = {
    "on": "From now on `ask` lets {} read again what the built-in models have found; they do the rest.",
    "off": "From now on `ask` lets {} play every role.",
    "builtin": "From now on `ask` answers with the built-in models alone: {} reads worse than they do.",
    "": "`ask` does as before: too little of {} was tested.",
}


def qualify_model(settings: Settings, *, minutes: float, as_json: bool) -> None:
    """Qualify the model of the settings and print what came out. Raises UsageError for the built-in models."""
    from iterative_rag.app.factory import make_chat_model, model_identity
    from iterative_rag.app.qualification.qualify import qualify
    from iterative_rag.llm.providers.model_choice import chosen

    spec, _ = chosen(settings.llm)
    model = make_chat_model(spec, settings)
    if model is None:
        raise UsageError(
            "The built-in models need no profile.", hint="iterative-rag doctor --qualify --llm ollama/llama3.1:8b"
        )
    err().line((f"At most {minutes:g} minutes. Whenever you stop it, the same command goes on where it was.", "dim"))
    qualification = qualify(model, model_identity(spec), settings, _say, minutes=minutes)
    if as_json:
        profile = qualification.profile
        told = {"model": profile.identity.model, "server": profile.identity.server, "made": profile.made}
        told |= {"file": str(profile.identity.file)}
        write_json({**told, "settings": dict(profile.settings), "report": dict(profile.report)})
    else:
        _show(qualification)


def _say(result: CaseResult, kept: bool) -> None:
    """One line for each case, with what was said where that is wrong."""
    mark = ("right", "green") if result.right else ("wrong", "yellow")
    took = "kept" if kept else f"{result.seconds:.1f} s"
    said = "" if result.right else f"  said: {clean(result.told)}"[:120]
    err().line(f"{result.id:<28}", mark, f"  {took}{said}", hang=" " * 4)


def _show(qualification: Qualification) -> None:
    """Who is better at each role, what is set because of it, and what `ask` does now."""
    printer, profile, outcome = out(), qualification.profile, qualification.outcome
    printer.line(("Tested ", "bold"), clean(f"{profile.identity.model} {profile.identity.server}".rstrip()))
    for role, ability in _ABILITIES.items():
        right, rivals, played = outcome.scores(role)
        if played:
            who = f"  built-in {rivals}  better: {_WHO[outcome.players[role]]}" if role in outcome.players else ""
            printer.line(f"  {ability:<34}{right} of {played}{who}")
    for name, value in profile.settings.items():
        printer.line(f"  {name} = {value}")
    printer.line(("Profile ", "bold"), str(profile.identity.file))
    if not qualification.complete:
        printer.line(("For now: ", "yellow"), "the time was up; the same command goes on with the cases that are left.")
    now = _NOW[profile.settings.get("careful", "")]
    printer.line((clean(now.format(profile.identity.model)), "bold"))
