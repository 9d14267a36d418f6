"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from iterative_rag.cli.completion import corpus_names
from iterative_rag.registry import EMBEDDERS, LLMS, RERANKERS, STORES, Registry

if TYPE_CHECKING:
    from iterative_rag.settings import Settings


class Preset(StrEnum):
    FAST = "fast"
    BALANCED = "balanced"
    THOROUGH = "thorough"


def choice(registry: Registry, *, help: str) -> Any:
    """An option that takes one of the registered names, and completes them."""
    offered = registry.offered

    def check(value: str | None) -> str | None:
        if value is not None and value not in offered:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(map(repr, offered))}.")
        return value

    def complete() -> list[str]:
        return list(offered)

    return typer.Option(metavar=f"<{'|'.join(offered)}>", help=help, callback=check, autocompletion=complete)


def beginnings(registry: Registry) -> Callable[[], list[str]]:
    """Completes the registered forms up to where the user has to name something: `ollama/`, `qdrant://`."""
    forms = [entry.form or entry.name for entry in registry if not entry.measured_only]
    return lambda: [re.split(r"(?<=[/@])(?=[A-Z])|\[", form)[0] for form in forms]


CorpusName = Annotated[
    str | None,
    typer.Option(
        "--corpus",
        metavar="NAME",
        help="The corpus to ask, or several: a,b; `iterative-rag corpus` lists them.",
        autocompletion=corpus_names,
    ),
]
InTitle = Annotated[
    str | None, typer.Option("--title", metavar="TEXT", help="Only documents with this in their title.")
]
InSource = Annotated[
    str | None, typer.Option("--source", metavar="TEXT", help="Only documents with this in their path or URL.")
]
InSection = Annotated[
    str | None, typer.Option("--section", metavar="TEXT", help="Only passages below a heading with this.")
]
DocumentLanguage = Annotated[
    str | None,
    typer.Option("--document-language", "--lang", metavar="CODE", help="Only documents of this language (de)."),
]
Since = Annotated[
    str | None, typer.Option("--since", metavar="DATE", help="Only documents of this day, month or year, or later.")
]
Where = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="KEY=VALUE", help="Only documents, or rows, with this metadata; repeatable."),
]
CorpusToFill = Annotated[
    str | None,
    typer.Option(
        "--corpus",
        metavar="NAME",
        help="The corpus to fill; it is made if there is none.",
        autocompletion=corpus_names,
    ),
]
Contact = Annotated[
    str,
    typer.Option("--contact", metavar="MAIL_OR_URL", help="Sent to Wikipedia as its rules ask; remembered."),
]
AllowPrivateHosts = Annotated[
    bool,
    typer.Option("--allow-private-hosts", help="The hosts of the URLs given may be on this machine or in its network."),
]
EmbedderSpec = Annotated[
    str | None,
    typer.Option("--embedder", metavar="SPEC", help=f"{EMBEDDERS.forms}.", autocompletion=beginnings(EMBEDDERS)),
]
RerankSpec = Annotated[
    str | None,
    typer.Option(
        "--rerank",
        metavar="SPEC",
        help=f"What ranks the passages again: {RERANKERS.forms}.",
        autocompletion=beginnings(RERANKERS),
    ),
]
IndexAt = Annotated[
    str | None,
    typer.Option(
        "--index", metavar="URL", help=f"Where the vectors lie: {STORES.forms}.", autocompletion=beginnings(STORES)
    ),
]
RefusedSeconds = Annotated[
    float | None,
    typer.Option(
        "--refused-seconds", metavar="N", min=0, help="Seconds that files which are then refused may take in all (600)."
    ),
]
LLMSpec = Annotated[
    str | None, typer.Option("--llm", metavar="SPEC", help=f"{LLMS.forms}.", autocompletion=beginnings(LLMS))
]
FastLLMSpec = Annotated[
    str | None,
    typer.Option(
        "--fast-llm",
        metavar="SPEC",
        help="A faster model for reading and rephrasing.",
        autocompletion=beginnings(LLMS),
    ),
]
PresetName = Annotated[Preset | None, typer.Option("--preset", help="A bundle of limits.", show_choices=True)]
MaxHops = Annotated[int | None, typer.Option("--max-hops", metavar="N", help="Turns of the loop.")]
MaxCalls = Annotated[int | None, typer.Option("--max-calls", metavar="N", help="LLM calls per question.")]
Questions = Annotated[
    int | None,
    typer.Option(
        "--questions", metavar="N", help="Questions that the LLM writes for each passage, to find it by (0: none)."
    ),
]
MaxIndexingCalls = Annotated[
    int | None,
    typer.Option("--max-calls", metavar="N", min=0, help="LLM calls for --questions; the next run goes on."),
]
MaxTokens = Annotated[int | None, typer.Option("--max-tokens", metavar="N", help="Tokens per question.")]
MaxSeconds = Annotated[float | None, typer.Option("--max-seconds", metavar="N", help="Seconds per question.")]
Language = Annotated[
    str | None,
    typer.Option("--language", metavar="CODE", help="The question's language: auto, or a code such as en."),
]
AnswerLanguage = Annotated[
    str | None,
    typer.Option("--answer-language", metavar="CODE", help="An LLM's answer: auto (as the question), or a code."),
]
AnswerLength = Annotated[
    str | None,
    typer.Option("--length", metavar="<short|paragraph|report>", help="How long an LLM's answer is."),
]
Guess = Annotated[bool | None, typer.Option("--guess/--no-guess", help="Built-in backend: always answer.")]
UseCache = Annotated[bool | None, typer.Option("--cache/--no-cache", help="Reuse replies and facts.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing on stderr but errors.")]


def settings_from(**overrides: Any) -> Settings:
    """`Settings` from all layers; None means that an option was not given."""
    from iterative_rag.settings import load_settings

    return load_settings(
        {name: value.value if isinstance(value, Preset) else value for name, value in overrides.items() if value != []}
    )


def announce_starter(settings: Settings) -> None:
    """Announce the indexing of the starter corpus, which takes some seconds once."""
    from iterative_rag.app.factory import STARTER_CORPUS, corpora, corpus_name, names_collection

    if names_collection(settings):
        return
    if corpus_name(settings) == STARTER_CORPUS and STARTER_CORPUS not in corpora().names():
        from iterative_rag.cli.console import err

        err().line(("Indexing the starter corpus, once ...", "dim"))
