"""Takes out of what a client is told whatever belongs to this machine alone: paths, and addresses of servers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from iterative_rag.remote.server_calls import without_secrets
from iterative_rag.types import Answer
from iterative_rag.types.documents import web_link

# The settings that a client may see: none of them holds an address, a path or a model's whole spec.
PUBLIC_SETTINGS = (
    "preset", "corpus", "strategy", "max_hops", "max_calls", "max_tokens", "max_seconds", "shortlist", "fact_limit",
    "language", "answer_language", "length", "web", "guess", "cache", "seed", "analysis", "grading", "correction",
    "reflection",
)  # fmt: skip
_ABSOLUTE = re.compile(r"(?<![\w/:.])(?:~|[A-Za-z]:)?(?:[/\\][^\s/\\'\"“”<>|,;]+){2,}[/\\]?")
_ADDRESS = re.compile(
    r"\b(?:https?|qdrants?)://[^\s'\"“”<>,;]+[^\s'\"“”<>,;.]|(?<![\w.-])(?:[\w-]+(?:\.[\w-]+)+|localhost|\[[\da-f:]+\]):\d{2,5}\b",
    re.IGNORECASE,
)
# Sentences of this package, which may name a file or a server; everything else is text of documents and models.
_MESSAGES = frozenset({"message", "hint", "reason", "corpus_notice", "told", "error"})


def public(value: Any, key: str = "") -> Any:
    """A JSON value in which sources are file names or web addresses, and messages name no path and no server."""
    if isinstance(value, Mapping):
        if key == "settings":
            return {name: value[name] for name in PUBLIC_SETTINGS if name in value}
        return {name: public(item, name) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [public(item, key) for item in value]
    if isinstance(value, str):
        if key in ("source", "copies"):
            return public_source(value)
        if key in _MESSAGES:
            return public_message(value)
    return value


def public_ending(answer: Answer) -> Answer:
    """The answer with public messages where it says why it ended, what was not read, and what the corpus lacks."""
    return replace(
        answer,
        reason=public_message(answer.reason),
        corpus_notice=public_message(answer.corpus_notice),
        unread=tuple(replace(document, reason=public_message(document.reason)) for document in answer.unread),
    )


def public_source(source: str) -> str:
    """The web address of a source, or the name of its file alone."""
    return web_link(source) or re.split(r"[/\\]", source.rstrip("/\\"))[-1]


def public_message(text: str) -> str:
    """A message without the folders of its paths, the addresses of servers, and keys."""
    text = _ADDRESS.sub("its server", without_secrets(text))
    return _ABSOLUTE.sub(lambda path: re.split(r"[/\\]", path[0].rstrip("/\\"))[-1], text)
