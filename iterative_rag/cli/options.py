"""The options that several commands share; those that are settings are declared once and handed out as `Settings`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from iterative_rag.errors import IterativeRAGError
from iterative_rag.registry import EMBEDDERS, LLMS, RERANKERS, SEARCH_ENGINES, STORES, STRATEGIES

if TYPE_CHECKING:
    from iterative_rag.settings import Settings


def corpus_names() -> list[str]:
    """What the Tab key offers for a corpus; nothing where the list cannot be read. Read at each press: no model and no
    index is loaded for it."""
    from iterative_rag.app.factory import corpora

    try:
        return corpora().names()
    except IterativeRAGError:
        return []


# --- options that are settings ---------------------------------------------------------------


def _option(kind: Any, metavar: str | None, help: str, *names: str, **more: Any) -> tuple[Any, Any]:
    """The type and the declaration of an option that is a setting: None where it is not given."""
    return kind | None, typer.Option(None, *names, metavar=metavar, help=help, **more)


def _choice(offered: Sequence[str], help: str) -> tuple[Any, Any]:
    def check(value: str | None) -> str | None:
        if value is not None and value not in offered:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(map(repr, offered))}.")
        return value

    return _option(str, f"<{'|'.join(offered)}>", help, callback=check, autocompletion=lambda: list(offered))


# By the name of the setting, in the order of the help.
_OPTIONS: dict[str, tuple[Any, Any]] = {
    "corpus": _option(
        str,
        "NAME",
        "The corpus or ZIM file to ask, or several: a,b.zim; `iterative-rag corpus` lists them.",
        autocompletion=corpus_names,
    ),
    "within_title": _option(str, "TEXT", "Only documents with this in their title.", "--title"),
    "within_source": _option(str, "TEXT", "Only documents with this in their path or URL.", "--source"),
    "within_since": _option(str, "DATE", "Only documents of this day, month or year, or later.", "--since"),
    "within_language": _option(str, "CODE", "Only documents of this language (de).", "--document-language", "--lang"),
    "within_where": _option(
        list[str], "KEY=VALUE", "Only documents, or rows, with this metadata; repeatable.", "--where"
    ),
    "llm": _option(str, "SPEC", f"{LLMS.forms}."),
    "fast_llm": _option(str, "SPEC", "A faster model for reading and rephrasing."),
    "embedder": _option(str, "SPEC", f"{EMBEDDERS.forms}."),
    "index": _option(str, "URL", f"Where the vectors lie: {STORES.forms}."),
    "rerank": _option(str, "SPEC", f"What ranks the passages again: {RERANKERS.forms}."),
    "strategy": _choice(STRATEGIES.offered, "How a question is worked on."),
    "web": _option(bool, None, "Search the web where the corpus falls short.", "--web/--no-web"),
    "search_engine": _option(str, "SPEC", f"{SEARCH_ENGINES.forms}."),
    "preset": _choice(("fast", "balanced", "thorough"), "A bundle of limits."),
    "max_hops": _option(int, "N", "Turns of the loop."),
    "fact_limit": _option(int, "N", "Stop reading for a need after this many facts."),
    "max_calls": _option(int, "N", "LLM calls per question."),
    "max_tokens": _option(int, "N", "Tokens per question."),
    "max_seconds": _option(float, "N", "Seconds per question."),
    "guess": _option(bool, None, "Built-in backend: always answer.", "--guess/--no-guess"),
    "language": _option(str, "CODE", "The question's language: auto, or a code such as en."),
    "answer_language": _option(str, "CODE", "An LLM's answer: auto (as the question), or a code."),
    "length": _option(str, "<short|paragraph|report>", "How long an LLM's answer is."),
    "cache": _option(bool, None, "Reuse replies and facts.", "--cache/--no-cache"),
}
# The settings that keep a question to a part of the corpus, those of a search, those of a question, and those that an
# evaluation measures.
WITHIN = tuple(name for name in _OPTIONS if name.startswith("within_"))
SEARCHING = ("corpus", *WITHIN, "embedder", "index", "rerank")
ASKING = tuple(_OPTIONS)
MEASURED = ("llm", "fast_llm", "embedder", "preset", "max_hops", "max_calls", "guess", "cache")


def takes_settings(
    only: Sequence[str] = ASKING, *, without: Sequence[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of these settings but those `without`, in the place of its parameter `settings`, which
    it is called with."""
    names = [name for name in _OPTIONS if name in only and name not in without]

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        # A command imports Settings for the type checker alone: at run time it would slow the start.
        own = inspect.signature(command, locals={"Settings": object}, eval_str=True).parameters
        shown: list[inspect.Parameter] = []
        for parameter in own.values():
            if parameter.name == "settings":
                shown += [_parameter(name, option, kind) for name in names for kind, option in [_OPTIONS[name]]]
            else:
                shown.append(_parameter(parameter.name, parameter.default, parameter.annotation))

        @functools.wraps(command)
        def called(**given: Any) -> None:
            command(settings=settings_from(**{name: given.pop(name) for name in names if name in given}), **given)

        # What typer reads the options from.
        called.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
        called.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
        return called

    return decorated


def _parameter(name: str, default: Any, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def settings_from(**overrides: Any) -> Settings:
    """`Settings` from all layers; None, or an empty list, means that an option was not given."""
    from iterative_rag.settings import load_settings

    return load_settings({name: value for name, value in overrides.items() if value != []})


def announce_starter(settings: Settings) -> None:
    """Announce the indexing of the starter corpus, which takes some seconds once."""
    from iterative_rag.app.factory import STARTER_CORPUS, corpora, corpus_name, names_collection

    starter = not names_collection(settings) and corpus_name(settings) == STARTER_CORPUS
    if starter and STARTER_CORPUS not in corpora().names():
        from iterative_rag.cli.console import err

        err().line(("Indexing the starter corpus, once ...", "dim"))


# --- options that are no settings ------------------------------------------------------------

CorpusToFill = Annotated[
    str | None,
    typer.Option(
        "--corpus", metavar="NAME", help="The corpus to fill; it is made if there is none.", autocompletion=corpus_names
    ),
]
Contact = Annotated[str, typer.Option("--contact", metavar="MAIL_OR_URL", help="Sent to Wikipedia as its rules ask.")]
WikiApi = Annotated[
    str, typer.Option("--api", metavar="URL", help="Another wiki's api.php; {language} stands for the language.")
]
AllowPrivateHosts = Annotated[
    bool,
    typer.Option("--allow-private-hosts", help="The hosts of the URLs given may be on this machine or in its network."),
]
RefusedSeconds = Annotated[
    float | None,
    typer.Option(
        "--refused-seconds", metavar="N", min=0, help="Seconds that files which are then refused may take in all (600)."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing on stderr but errors.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
