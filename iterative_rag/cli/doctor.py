"""`iterative-rag doctor`: checks the installation, and says how to fix what is missing; with `--qualify` it tests a
model, says what comes of each case, and what `ask` does with it now."""

from __future__ import annotations

import contextlib
import os
import platform
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.console import clean, err, out, size, write_json
from iterative_rag.cli.options import AsJson, settings_from
from iterative_rag.errors import CorpusError, IterativeRAGError, LLMError, ReplyTruncated, SettingsError, UsageError
from iterative_rag.registry import EMBEDDERS, LLMS, RERANKERS
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.app.qualification.cases import CaseResult
    from iterative_rag.app.qualification.qualify import Qualification
    from iterative_rag.registry import Registry
    from iterative_rag.remote.model_spec import Spec
    from iterative_rag.settings import Settings

# Free bytes in the data folder: the least that indexing needs, and what leaves some room.
_DISK_NEEDED = 200_000_000
_DISK_WANTED = 2_000_000_000

_CALL_SECONDS = 60.0
_MARKS = {True: ("ok  ", "green"), None: ("note", "yellow"), False: ("bad ", "bold red")}


@dataclass(frozen=True)
class Check:
    """One line of the report. `ok` is None for a remark; `code` is the exit code where `ok` is False."""

    name: str
    ok: bool | None
    found: str
    fix: str = ""
    code: int = 1


def doctor(
    llm: Annotated[str | None, typer.Option(metavar="SPEC", help=f"{LLMS.forms}.")] = None,
    qualify: Annotated[
        bool, typer.Option("--qualify", help="Test the LLM with short cases and write its profile.")
    ] = False,
    minutes: Annotated[float | None, typer.Option(min=0.1, metavar="N", help="For --qualify [default: 5].")] = None,
    as_json: AsJson = False,
) -> None:
    """Check Python, models, Ollama, index and disk, and say how to fix what is wrong.

    With --qualify, test which roles the LLM plays better than the built-in models: `ask` uses that where you set
    nothing.
    """
    if qualify:
        qualify_model(settings_from(llm=llm), minutes=minutes or 5.0, as_json=as_json)
        return
    if as_json or minutes:
        raise UsageError("--json and --minutes are for --qualify.", hint="iterative-rag doctor --qualify")
    printer = out()
    failed: list[Check] = []
    for check in checks(llm):
        printer.line(_MARKS[check.ok], f"  {check.name:<12}", clean(check.found), hang=" " * 18)
        if check.fix and not check.ok:
            printer.line(("→ ", "cyan"), check.fix, indent=" " * 18)
        if check.ok is False:
            failed.append(check)
    printer.blank()
    if failed:
        printer.line(("Not usable yet: ", "bold red"), ", ".join(check.name for check in failed) + ".")
        raise typer.Exit(failed[0].code)
    printer.line(("Ready: ", "bold green"), 'iterative-rag ask "QUESTION"')


def checks(llm: str | None = None) -> Iterator[Check]:
    """Yield the checks one by one, so that each is printed as soon as it is done; `llm` as in the settings."""
    from iterative_rag import __version__

    versions = f"{platform.python_version()} ({sys.executable}), iterative-rag {__version__}"
    enough = sys.version_info >= (3, 11)
    yield Check("Python", enough, versions, "Install Python 3.11 or later and make the environment again.")
    try:
        settings = settings_from(llm=llm)
    except SettingsError as error:
        yield _failed("settings", error)
        return
    yield from _settings()
    yield from _guarded("built-in", _builtin)
    yield from _models(settings)
    yield from _guarded("corpora", lambda: _corpora(settings))
    yield _disk()


def _guarded(name: str, check: Callable[[], Iterable[Check]]) -> Iterator[Check]:
    """What a check finds, or the error that it ends with."""
    try:
        yield from check()
    except IterativeRAGError as error:
        yield _failed(name, error)


def _failed(name: str, error: IterativeRAGError) -> Check:
    return Check(name, False, str(error), error.hint, error.exit_code)


def _settings() -> Iterator[Check]:
    from iterative_rag.settings import settings_files
    from iterative_rag.settings.layers import PREFIX

    files = [str(path) for path in settings_files() if path.is_file()]
    # Names only: a value may be a key.
    variables = sorted(name for name in os.environ if name.startswith(PREFIX))
    told = ", ".join([*files, *variables]) or "no file and no variable set: the defaults hold"
    yield Check("settings", True, told)


def _builtin() -> Iterator[Check]:
    from iterative_rag.builtin.encoder import BuiltinEncoder

    encoder = BuiltinEncoder()
    encoder.embed_query("Is the model there?")
    yield Check("built-in", True, f"{encoder.name}, {encoder.dimensions} dimensions")


def _models(settings: Settings) -> Iterator[Check]:
    """The servers of the models that the settings name, and Ollama, which `auto` would use."""
    from iterative_rag.remote.model_spec import parse_spec

    wanted: list[tuple[Registry, Spec]] = []
    for name, parts in (("llm", LLMS), ("fast_llm", LLMS), ("embedder", EMBEDDERS), ("rerank", RERANKERS)):
        try:
            text = getattr(settings, name)
            wanted += [(parts, parse_spec(text, parts))] if text else []
        except UsageError as error:
            yield _failed(name, error)
    yield from _guarded("Ollama", lambda: [_ollama([spec.model for _, spec in wanted if spec.kind == "ollama"])])
    for parts, spec in wanted:
        if spec.kind != "ollama" and spec.model:
            yield _server(parts, spec, settings)


def _ollama(wanted: list[str]) -> Check:
    """A failure only where the settings name one of its models; a remark otherwise."""
    from iterative_rag.llm.providers.ollama import SUGGESTED_MODEL, probe

    code = LLMError.exit_code
    state = probe()
    if not state.reachable:
        fix = "ollama serve (install it from https://ollama.com; OLLAMA_HOST says where it runs)"
        if not wanted:
            fix += f", then ollama pull {SUGGESTED_MODEL}: better answers than the built-in reader's"
        return Check("Ollama", False if wanted else None, f"no answer at {state.url}", fix, code)
    finding = f"{state.url} has {', '.join(state.models) or 'no model'}"
    missing = [model for model in wanted if not {model, f"{model}:latest"} & set(state.models)]
    if missing:
        return Check("Ollama", False, finding, "; ".join(f"ollama pull {model}" for model in missing), code)
    return Check("Ollama", True if state.chat_models or wanted else None, finding, f"ollama pull {SUGGESTED_MODEL}")


def _server(parts: Registry, spec: Spec, settings: Settings) -> Check:
    from iterative_rag.protocols import ChatRequest
    from iterative_rag.remote.api_keys import find

    finding = spec.model
    if spec.url:
        key = find(spec.url, spec.kind)
        told = "a key is set" if key.value else key.withheld.rstrip(".") or "no key is set for it"
        finding += f" at {spec.url}, {told}"
    try:
        build = parts.load(spec.kind)
        if parts is EMBEDDERS:
            build(spec, timeout=settings.timeout, cache=None)
        else:
            model = build(spec, settings, **({"cache": None} if parts is RERANKERS else {}))
            if parts is LLMS:
                with contextlib.suppress(ReplyTruncated):  # a model that thinks first
                    model.complete(
                        ChatRequest("doctor", "Be brief.", "Reply: ok", None, max_tokens=64, seconds=_CALL_SECONDS)
                    )
    except IterativeRAGError as error:
        return Check(spec.kind, False, f"{finding}; {error}", error.hint or str(error), error.exit_code)
    return Check(spec.kind, True, finding + ("; it replies" if parts is LLMS else ""))


def _corpora(settings: Settings) -> Iterator[Check]:
    """A fault of the corpus in use is a failure; one of another corpus is a remark."""
    from iterative_rag.app.factory import corpora, corpus_name, make_embedder

    known = corpora()
    asked = known.known(corpus_name(settings))
    names = known.names()
    embedder = make_embedder(settings.embedder, settings).name
    if asked not in names:
        if settings.corpus:
            fix = f"iterative-rag index PATH --corpus {shlex.quote(asked)}"
            yield Check("corpora", False, f"no corpus {asked!r}", fix, CorpusError.exit_code)
        else:
            told = "no default corpus" if names else "none yet"
            yield Check("corpora", None, f"{told}; the starter corpus is indexed when you first ask")
    for info in map(known.info, names):
        which = " (the one that is asked)" if info.name == asked else ""
        finding = f"{info.name}{which}: {counted(info.documents, 'document')}, {info.state}"
        other = info.state == "ready" and not info.file and info.embedder != embedder
        if other:
            finding += f"; made by {info.embedder}, while the settings name {embedder}"
        ok = (False if info.name == asked else None) if other or info.state != "ready" else True
        fix = f"iterative-rag index PATH --corpus {shlex.quote(info.name)}"
        fix = "Fetch a whole file with a full-text index: https://library.kiwix.org" if info.file else fix
        yield Check("corpora", ok, finding, fix, CorpusError.exit_code)


def _disk() -> Check:
    from iterative_rag.settings import home

    folder = home()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    fix = "Free some space, or set ITERATIVE_RAG_HOME to a folder with more."
    if not os.access(there, os.W_OK):
        return Check("disk", False, f"{there} cannot be written", f"chmod u+w {there}, or set ITERATIVE_RAG_HOME", 4)
    free = shutil.disk_usage(there).free
    ok = None if _DISK_NEEDED <= free < _DISK_WANTED else free >= _DISK_NEEDED
    return Check("disk", ok, f"{size(free)} free in {folder}", fix, 4)


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
