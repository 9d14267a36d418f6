"""What a client is told of a run: the typed steps, and what the server adds to them, as JSON without what belongs to
this machine alone, which is paths, and addresses of servers.

`events.schema.json` beside this file describes the data of every event.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

from iterative_rag import __version__, errors
from iterative_rag.errors import (
    EmbedderError,
    FetchError,
    IterativeRAGError,
    LLMError,
    LLMServerError,
    LLMUnreachable,
    StoreError,
)
from iterative_rag.remote.server_calls import without_secrets
from iterative_rag.serve.step_notes import progress_words, step_words
from iterative_rag.storage.output import answer_to_json
from iterative_rag.storage.trace import event_name
from iterative_rag.types import Answer, FinalStep, RunProgress, Step
from iterative_rag.types.documents import web_link
from iterative_rag.types.steps import AnswerDelta, TextWithdrawn


@dataclass(frozen=True, slots=True)
class Queued:
    """The run waits; `place` is its place in line, from 1."""

    place: int


@dataclass(frozen=True, slots=True)
class Started:
    """The run has left the queue."""


@dataclass(frozen=True, slots=True)
class Failed:
    """An error ended the run before there was anything to show."""

    error: IterativeRAGError


@dataclass(frozen=True, slots=True)
class Stopped:
    """The run was stopped, by a client or because every client had gone."""


_OF_SERVERS: tuple[tuple[type[IterativeRAGError], str], ...] = (
    (LLMUnreachable, "The server of the language model cannot be reached."),
    (LLMServerError, "The server of the language model refused the call."),
    (LLMError, "The language model failed."),
    (EmbedderError, "The embedder failed."),
    (StoreError, "The server that keeps the vectors failed."),
    (FetchError, "A page of the web could not be fetched."),
)
Happening: TypeAlias = Step | RunProgress | AnswerDelta | TextWithdrawn | Queued | Started | Failed | Stopped


# What happens between the steps.
_NAMES: dict[type, str] = {RunProgress: "progress", AnswerDelta: "text", TextWithdrawn: "withdrawn"}
# The number of the end of a run that only its trace tells of: whoever has that event has them all.
LAST_NUMBER = 1_000_000_000


@dataclass(frozen=True, slots=True)
class RunEvent:
    """`number` grows within a run; `at` is in seconds since 1970."""

    number: int
    happening: Happening
    at: float

    @property
    def name(self) -> str:
        """The name of the event, as server-sent events have it: "analysis", "progress", "final"."""
        return _NAMES.get(type(self.happening)) or event_name(type(self.happening))

    @property
    def words(self) -> str:
        """One line for clients that show text, "" for what a user need not be told."""
        match self.happening:
            case Queued(place):
                return f"Waiting: place {place} in line"
            case RunProgress():
                return progress_words(self.happening)
            case AnswerDelta() | TextWithdrawn() | Started() | Failed() | Stopped():
                return ""
        return public_message(step_words(self.happening))

    def data(self) -> dict[str, Any]:
        """What a client is told."""
        match self.happening:
            case FinalStep(answer=answer):
                return {"answer": public_answer(answer)}
            case Failed(error=error):
                return {"error": error_to_json(error)}
        told: dict[str, Any] = public(asdict(self.happening))
        return told


def is_last(happening: Happening) -> bool:
    """Whether nothing follows this event."""
    return isinstance(happening, FinalStep | Failed | Stopped)


def public_answer(answer: Answer) -> dict[str, Any]:
    """The answer as `answer.schema.json` describes it, with its run, without local paths and addresses of servers."""
    told: dict[str, Any] = public(answer_to_json(answer, version=__version__))
    return told | {"run_id": answer.run_id}


def error_to_json(error: IterativeRAGError) -> dict[str, Any]:
    """An error for a client: the name of its class, its sentence, and what to do next. Errors of servers quote what
    those say, which may name accounts, so the log alone has their text."""
    kind, code = (error.kind, error.code) if isinstance(error, PastError) else (type(error), type(error).__name__)
    foreign = next((told for server_error, told in _OF_SERVERS if issubclass(kind, server_error)), "")
    return {
        "code": code,
        "message": foreign or public_message(str(error)),
        "hint": "The log of this server says more." if foreign else public_message(error.hint),
        "retryable": error.retryable,
    }


class PastError(IterativeRAGError):
    """The error that a trace tells of; `code` is the name of its class, which this version may not have."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        known = getattr(errors, code, None)
        self.code, self.kind = code, known if isinstance(known, type) else IterativeRAGError
        self.retryable = bool(getattr(self.kind, "retryable", False))


# --- without paths and addresses -------------------------------------------------------------------

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
