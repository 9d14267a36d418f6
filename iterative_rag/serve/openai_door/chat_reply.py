"""An answer as a chat completion: its text as Markdown with `[n]` and its sources below, whole or in chunks."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from iterative_rag.app.proof.answer_export import markdown_body
from iterative_rag.errors import CorpusNotFound, IterativeRAGError, NothingWithin, ServerBusy, UsageError
from iterative_rag.serve.openai_door.chat_request import UNDERSTOOD, RequestRefused
from iterative_rag.serve.runs.events import error_to_json, public_answer
from iterative_rag.serve.runs.public_text import public_ending
from iterative_rag.storage.output import quote_of
from iterative_rag.text.control_characters import one_line
from iterative_rag.text.markup import escaped_markdown
from iterative_rag.types import Answer, Citation, Status, Usage

_OURS = ("run_id", "status", "reason_code", "short_answer", "confidence", "citations")
# Of a quote; a row of a table may be a page long. The whole quote is in `iterative_rag.citations` of the reply.
_MOST_QUOTED = 400
_MARKER = re.compile(r"\\\[(\d+)\\\]")


@dataclass(frozen=True, slots=True)
class Content:
    """The text of the message, why it ends ("stop" or "length"), and the reason where there is no answer."""

    text: str
    finish_reason: str = "stop"
    refusal: str | None = None


def content_of(answer: Answer, server: str, understood: str = "") -> Content:
    """An abstention is told in the text, which every client shows, and in `refusal`, where programs look. A limit of
    the run ends with "length". `understood` is the question that a follow-up stands for. A source without a web address
    is linked to the page of the `server` (its address) that shows the quote in its article."""
    answer = public_ending(answer)
    quotes = f"{server}runs/{quote(answer.run_id)}/quotes/"
    links = {citation.n: citation.link or f"{quotes}{citation.n}" for citation in answer.citations}
    first_lines = [f"*{UNDERSTOOD} {_shown(understood)}*", ""] if understood else []
    text = "\n".join([*first_lines, *_lines(answer, links)]).strip()
    refusal = f"{answer.label}: {answer.reason}" if answer.status is Status.ABSTAINED else None
    return Content(text, "stop" if answer.cap is None else "length", refusal)


def _lines(answer: Answer, links: Mapping[int, str]) -> Iterator[str]:
    yield from (_MARKER.sub(r"[\1]", line) for line in markdown_body(answer))
    if answer.citations:
        yield from ("Sources:", "", *(_source(citation, links[citation.n]) for citation in answer.citations), "")
    if answer.nearest:
        yield from ("What comes nearest:", "", *(_source(citation, citation.link) for citation in answer.nearest))


def _source(citation: Citation, link: str) -> str:
    """`[1] [Title](<https://...>): “the quote”`; each a paragraph of its own."""
    title = _shown(citation.title)
    title = f"[{title}](<{link}>)" if link else f"*{title}*"
    page = f", page {citation.page}" if citation.page else ""
    dated = f", of {citation.date}" if citation.date else ""
    said = quote_of(citation)
    said = said if len(said) <= _MOST_QUOTED else f"{said[:_MOST_QUOTED].rstrip()} …"
    return f"[{citation.n}] {title}{page}{dated}: “{_shown(said)}”  "


def _shown(text: str) -> str:
    """Text of documents and models, of which Markdown makes nothing; only `[n]` stays as it is."""
    return _MARKER.sub(r"[\1]", escaped_markdown(one_line(text)))


# --- in the form of the protocol -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Completion:
    """What the completion and all of its chunks have in common."""

    run_id: str
    model: str
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(self, content: Content, thoughts: str, answer: Answer | None = None) -> dict[str, Any]:
        """The completion of a request that is not streamed."""
        message = {"role": "assistant", "content": content.text, "refusal": content.refusal}
        message |= {"reasoning_content": thoughts} if thoughts else {}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": content.finish_reason}
        usage = _usage_json(answer)
        return {**self._common("chat.completion"), "choices": [choice], "usage": usage, **_ours(answer)}

    def chunk(self, delta: Mapping[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": dict(delta), "logprobs": None, "finish_reason": finish_reason}
        return {**self._common("chat.completion.chunk"), "choices": [choice]}

    def last_chunk(self, content: Content, answer: Answer | None = None) -> dict[str, Any]:
        """The chunk that ends the text: why it ends, and in `iterative_rag` what the protocol has no field for."""
        delta = {"refusal": content.refusal} if content.refusal else {}
        return self.chunk(delta, content.finish_reason) | _ours(answer)

    def usage_chunk(self, answer: Answer | None) -> dict[str, Any]:
        return {**self._common("chat.completion.chunk"), "choices": [], "usage": _usage_json(answer)}

    def _common(self, kind: str) -> dict[str, Any]:
        return {"id": f"chatcmpl-{self.run_id}", "object": kind, "created": self.created, "model": self.model}


def _usage_json(answer: Answer | None) -> dict[str, int]:
    """The tokens of all calls of the run; 0 for the built-in models, which have none."""
    usage = answer.usage if answer else Usage()
    prompt, completion = usage.prompt_tokens, usage.completion_tokens
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _ours(answer: Answer | None) -> dict[str, Any]:
    """For programs that know this server: the parts of the answer, which the text holds as Markdown."""
    told = public_answer(answer) if answer else {}
    return {"iterative_rag": {name: told[name] for name in _OURS}} if told else {}


def error_body(error: IterativeRAGError) -> dict[str, Any]:
    """What the protocol says of an error; it names no path, no server and no key of this machine."""
    told = error_to_json(error)
    message = " ".join(filter(None, (told["message"], told["hint"])))
    param, code = (error.param, error.code) if isinstance(error, RequestRefused) else (None, None)
    match error:
        case ServerBusy():
            kind, code = "rate_limit_error", "rate_limit_exceeded"
        case UsageError() | CorpusNotFound() | NothingWithin():
            kind = "invalid_request_error"
        case _:
            kind, code = "api_error", told["code"]
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}
