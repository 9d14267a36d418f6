"""`iterative-rag doctor --qualify`: tests a model, writes its profile and explains both in one table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from iterative_rag.cli.console import clean, err, out, write_json
from iterative_rag.cli.live import RunStatus
from iterative_rag.errors import UsageError
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.app.qualification.decisions import Measured
    from iterative_rag.app.qualification.qualify import Qualification
    from iterative_rag.settings import Settings
    from iterative_rag.types import RunProgress

_ABILITIES = (
    ("answers", "answers from facts"),
    ("several", "several needs or documents in a call"),
    ("plans", "plans without claiming to know"),
    ("abstains", "abstains where nothing is stated"),
    ("judges", "judges texts and answers"),
)


def qualify_model(settings: Settings, *, as_json: bool) -> None:
    """Qualify the model of the settings and print what came out. Raises UsageError for the built-in models."""
    qualification = _run(settings, quiet=as_json)
    if not as_json:
        show(qualification)
        return
    profile = qualification.profile
    write_json(
        {
            "model": profile.identity.model,
            "server": profile.identity.server,
            "made": profile.made,
            "file": str(profile.identity.file),
            "settings": dict(profile.settings),
            "report": dict(profile.report),
        }
    )


def _run(settings: Settings, *, quiet: bool) -> Qualification:
    from iterative_rag.app.factory import make_chat_model, model_identity
    from iterative_rag.app.qualification.qualify import qualify
    from iterative_rag.llm.providers.model_choice import chosen

    spec, _ = chosen(settings.llm)
    model = make_chat_model(spec, settings)
    if model is None:
        raise UsageError(
            "The built-in models need no profile.", hint="iterative-rag doctor --qualify --llm ollama/llama3.1:8b"
        )
    with _progress(quiet) as (told, calls):
        return qualify(model, model_identity(spec), settings, told, calls=calls)


def show(qualification: Qualification) -> None:
    """The table: what was tested and what came out, then what is set because of it."""
    printer = out()
    profile = qualification.profile
    printer.line(("Tested ", "bold"), clean(f"{profile.identity.model} {profile.identity.server}".rstrip()))
    for name, result in _rows(qualification.measured):
        printer.line(f"  {name:<38}", clean(result), hang=" " * 40)
    wrong = [case for case in qualification.measured.cases if not case.right]
    for case in wrong:
        printer.line(("  not right: ", "yellow"), clean(f"{case.id}: {case.told}")[:160], hang=" " * 4)
    printer.blank()
    printer.line(("Set", "bold"), " unless you set it yourself")
    for decision in qualification.decisions:
        value = f"{decision.name} = {decision.value}"
        printer.line(f"  {value:<38}", clean(decision.because), hang=" " * 40)
    for sentence in qualification.advice:
        printer.line(("  Note: ", "yellow"), sentence)
    printer.blank()
    printer.line(f"Profile: {profile.identity.file}")


def _rows(measured: Measured) -> Iterator[tuple[str, str]]:
    calls = measured.calls
    yield "replies in the form asked for", f"{calls.in_form} of {calls.calls}"
    yield "quotes word for word", "{} of {}".format(*measured.quotes)
    for shows, name in _ABILITIES:
        yield name, "{} of {}".format(*measured.share(shows))
    planted = sum(case.shows == "planted" for case in measured.cases)
    yield "instructions in documents", f"followed {measured.followed} of {planted}"
    yield "longest window read", f"{measured.window:,} characters" if measured.window else "none"
    for result in measured.strategies:
        told = f"{result.right} of {result.questions} right, {counted(result.calls, 'call')}, {result.seconds:.1f} s"
        yield f"strategy {result.strategy}", told
    tokens = f"{calls.prompt_tokens} + {calls.completion_tokens} tokens"
    yield "one call", f"{calls.seconds:.1f} s, {tokens} (medians), at most {measured.slowest:.1f} s"
    yield "two calls at once", f"{measured.parallel.gain:.1f} times as fast as one after another"


@contextmanager
def _progress(quiet: bool) -> Iterator[tuple[Callable[[str], None], Callable[[RunProgress], None] | None]]:
    """Functions that take what is tested now and what was used by then; both are shown where somebody watches."""
    printer = err()
    if quiet or not (printer.terminal and sys.stdout.isatty()):
        yield lambda name: None, None
        return
    status = RunStatus(printer.console, {})
    status.start()
    try:
        yield lambda name: status.doing(f"testing {name}"), lambda at: status.progress(replace(at, role=""))
    finally:
        status.stop()
