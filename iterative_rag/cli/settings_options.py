"""The options that are settings, declared once for the commands that answer questions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Annotated, Any

import typer

from iterative_rag.cli.options import (
    AnswerLanguage,
    AnswerLength,
    CorpusName,
    DocumentLanguage,
    EmbedderSpec,
    FastLLMSpec,
    Guess,
    IndexAt,
    InSection,
    InSource,
    InTitle,
    Language,
    LLMSpec,
    MaxCalls,
    MaxHops,
    MaxSeconds,
    MaxTokens,
    PresetName,
    RerankSpec,
    Since,
    UseCache,
    Where,
    beginnings,
    choice,
    settings_from,
)
from iterative_rag.registry import SEARCH_ENGINES, STRATEGIES

StrategyName = Annotated[str | None, choice(STRATEGIES, help="How a question is worked on.")]
UseWeb = Annotated[bool | None, typer.Option("--web/--no-web", help="Search the web where the corpus falls short.")]
SearchEngineSpec = Annotated[
    str | None,
    typer.Option(metavar="SPEC", help=f"{SEARCH_ENGINES.forms}.", autocompletion=beginnings(SEARCH_ENGINES)),
]
FactLimit = Annotated[int | None, typer.Option(metavar="N", help="Stop reading for a need after this many facts.")]

# The settings that keep a question to a part of the corpus.
WITHIN = tuple(f"within_{name}" for name in ("title", "source", "section", "since", "language", "where"))

# By the name of the setting, in the order of the help.
_OPTIONS: dict[str, Any] = {
    "corpus": CorpusName,
    "within_title": InTitle,
    "within_source": InSource,
    "within_section": InSection,
    "within_since": Since,
    "within_language": DocumentLanguage,
    "within_where": Where,
    "llm": LLMSpec,
    "fast_llm": FastLLMSpec,
    "embedder": EmbedderSpec,
    "index": IndexAt,
    "rerank": RerankSpec,
    "strategy": StrategyName,
    "web": UseWeb,
    "search_engine": SearchEngineSpec,
    "preset": PresetName,
    "max_hops": MaxHops,
    "fact_limit": FactLimit,
    "max_calls": MaxCalls,
    "max_tokens": MaxTokens,
    "max_seconds": MaxSeconds,
    "guess": Guess,
    "language": Language,
    "answer_language": AnswerLanguage,
    "length": AnswerLength,
    "cache": UseCache,
}


SEARCHING = ("corpus", *WITHIN, "embedder", "index", "rerank")


def given_options(settings: Mapping[str, Any], *, only: tuple[str, ...] = (), **changed: Any) -> list[str]:
    """The words of a command line that asks as it was asked: the options that were given (`only` these), as the
    settings of an answer tell them, and those that are `changed`."""
    from iterative_rag.settings import as_options
    from iterative_rag.storage.output import recorded_parts

    given = [name for name in _OPTIONS if name in settings.get("given", ()) and name not in WITHIN]
    values = {name: settings[name] for name in given if name in settings} | changed
    if settings.get("corpus", "default") not in ("", "default"):  # also one that was not given, such as the starter's
        values["corpus"] = settings["corpus"]
    for part in recorded_parts(settings):
        values |= {f"within_{name}": value for name, value in asdict(part).items() if value}
    return as_options({name: values[name] for name in only or _OPTIONS if name in values})


def takes_settings(
    *, without: tuple[str, ...] = (), only: tuple[str, ...] = tuple(_OPTIONS)
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of all settings above (`only` these) but those `without`, in the place of its
    keyword-only parameter `settings`, which it is called with."""
    names = [name for name in _OPTIONS if name in only and name not in without]

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        # A command imports Settings for the type checker alone: at run time it would slow the start.
        own = inspect.signature(command, locals={"Settings": object}, eval_str=True).parameters
        shown: list[inspect.Parameter] = []
        for parameter in own.values():
            if parameter.name == "settings":
                shown += [_parameter(name, None, _OPTIONS[name]) for name in names]
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
