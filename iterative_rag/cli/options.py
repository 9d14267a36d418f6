"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer


class Preset(StrEnum):
    FAST = "fast"
    BALANCED = "balanced"
    THOROUGH = "thorough"


CorpusName = Annotated[
    str | None, typer.Option("--corpus", metavar="NAME", help="The corpus to ask; `iterative-rag corpus` lists them.")
]
EmbedderSpec = Annotated[
    str | None,
    typer.Option("--embedder", metavar="SPEC", help="builtin, ollama/MODEL or openai-like/MODEL@URL."),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing on stderr but errors.")]


def settings_from(**overrides: Any) -> Any:
    """`Settings` from all layers; what is None was not given on the command line."""
    from iterative_rag.settings import load_settings

    return load_settings(overrides)
