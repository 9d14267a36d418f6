"""`iterative-rag doctor --qualify`: tests a model, writes its profile and explains both in one table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iterative_rag.cli.console import clean, err, out, write_json
from iterative_rag.cli.live import RunStatus
from iterative_rag.errors import UsageError

if TYPE_CHECKING:
    from iterative_rag.app.qualification.decisions import Measured
    from iterative_rag.app.qualification.qualify import Qualification
    from iterative_rag.settings import Settings

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
    told = {"model": profile.identity.model, "server": profile.identity.server, "made": profile.made}
    told |= {"file": str(profile.identity.file)}
    write_json({**told, "settings": dict(profile.settings), "report": dict(profile.report)})


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
    printer = err()
    if quiet or not printer.terminal:
        return qualify(model, model_identity(spec), settings, lambda name: None)
    status = RunStatus(printer.console)
    status.start()
    try:
        return qualify(model, model_identity(spec), settings, lambda name: status.doing(f"testing {name}"))
    finally:
        status.stop()


def show(qualification: Qualification) -> None:
    """The table: what was tested and what came out, then what is set because of it."""
    printer = out()
    profile, measured = qualification.profile, qualification.measured
    printer.line(("Tested ", "bold"), clean(f"{profile.identity.model} {profile.identity.server}".rstrip()))
    for name, result in _rows(measured):
        printer.line(f"  {name:<38}", clean(result), hang=" " * 40)
    for case in measured.cases:
        if not case.right:
            printer.line(("  not right: ", "yellow"), clean(f"{case.id}: {case.told}")[:160], hang=" " * 4)
    for defect in measured.defects:
        printer.line(("  It ", "yellow"), defect)
    printer.blank()
    printer.line(("Set", "bold"), " unless you set it yourself")
    for decision in qualification.decisions:
        printer.line(f"  {f'{decision.name} = {decision.value}':<38}", clean(decision.because), hang=" " * 40)
    printer.blank()
    printer.line(f"Profile: {profile.identity.file}")


def _rows(measured: Measured) -> Iterator[tuple[str, str]]:
    yield "replies in the form asked for", f"{measured.in_form} of {len(measured.calls)}"
    yield "quotes word for word", "{} of {}".format(*measured.quotes)
    for shows, name in _ABILITIES:
        yield name, "{} of {}".format(*measured.share(shows))
    yield "instructions in documents", f"followed {measured.followed} times"
    yield "longest window read", f"{measured.window:,} characters" if measured.window else "none"
    for result in measured.strategies:
        yield f"strategy {result.strategy}", f"{result.right} of {result.questions} right, {result.calls} calls"
    yield "slowest call", f"{measured.slowest:.1f} s"
