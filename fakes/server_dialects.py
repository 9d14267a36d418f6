"""OpenAI-compatible servers as they differ: how each takes JSON, shows thoughts, counts tokens, and refuses.

Bodies, headers and statuses are those of NVIDIA's hosted NIM, Groq, vLLM, LM Studio and llama.cpp; the words around
them are shortened.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fakes.loopback_server import Handler, LoopbackServer
from fakes.numbered_sentences import sent
from fakes.stream_parts import DONE, JSON, SSE, chunk, event


@dataclass(frozen=True)
class Refusal:
    """An answer that is no reply. `event`: it comes as an event of a stream that began well."""

    status: int
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    event: bool = False


def _error(status: int, message: str, **more: object) -> Refusal:
    """As OpenAI puts it."""
    return Refusal(status, {"error": {"message": message, **more}})


def _object(status: int, message: str) -> Refusal:
    """As vLLM does."""
    return Refusal(status, {"object": "error", "message": message, "type": "BadRequestError", "code": status})


def _problem(status: int, title: str, detail: str = "") -> Refusal:
    """NVIDIA's gateway answers in the form of RFC 7807."""
    return Refusal(status, {"status": status, "title": title, "detail": detail})


def _forbidden(name: str) -> Refusal:
    """As servers do that check each field of a request."""
    return Refusal(422, {"detail": [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs"}]})


def _unknown(model: str) -> Refusal:
    return _error(404, f"The model `{model}` does not exist or you do not have access", code="model_not_found")


@dataclass(frozen=True)
class Dialect:
    """One server. `json_types` are the values of `response_format.type` that it takes; `thoughts` is the field of
    thoughts in a delta, "" where they stand in the text; `usage` the field of a chunk that holds the counts."""

    name: str
    json_types: frozenset[str]
    json_refusal: Callable[[str], Refusal]
    overflow: Refusal
    rate_limited: Refusal
    no_key: Refusal
    no_model: Callable[[str], Refusal] = _unknown
    thoughts: str = "reasoning_content"
    usage: str = "usage"
    unknown_fields: frozenset[str] = frozenset()
    schema_in_object: bool = False  # any JSON object may be held to a schema


_TOO_LONG = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens"
NIM = Dialect(
    "nim",
    frozenset(),
    lambda kind: _forbidden("response_format"),
    _error(400, _TOO_LONG),
    _problem(429, "Too Many Requests"),
    _problem(401, "Unauthorized", "Header of type `authorization` was missing"),
    lambda model: _problem(404, "Not Found", f"Function for model '{model}': Not found for account"),
    unknown_fields=frozenset({"seed"}),
)
GROQ = Dialect(
    "groq",
    frozenset({"json_object"}),
    lambda kind: _error(400, f"This model does not support response format `{kind}`. See the supported models"),
    _error(413, "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 8000"),
    replace(_error(429, "Rate limit reached", code="rate_limit_exceeded"), headers={"retry-after": "8"}),
    _error(401, "Invalid API Key", code="invalid_api_key"),
    thoughts="reasoning",
    usage="x_groq",
)
VLLM = Dialect(
    "vllm",
    frozenset({"json_schema", "json_object"}),
    lambda kind: _error(400, f"response_format {kind}"),
    _object(400, f"{_TOO_LONG} (4000 in the messages, 1000 in the completion). Please reduce the length"),
    _error(429, "Too many requests", code=429),
    Refusal(401, {"error": "Unauthorized"}),
    lambda model: _object(404, f"The model `{model}` does not exist."),
)
LM_STUDIO = Dialect(
    "lm-studio",
    frozenset({"json_schema", "text"}),
    lambda kind: Refusal(400, {"error": "'response_format.type' must be 'json_schema' or 'text'"}),
    replace(
        _error(200, "The number of tokens to keep from the initial prompt is greater than the context length."),
        event=True,
    ),
    Refusal(429, {"error": "Too many requests"}),
    _error(401, "An LM Studio API token is required to make requests to this server", code="invalid_api_key"),
    lambda model: _error(404, f"Model {model} not found: no models loaded", code="model_not_found"),
    thoughts="",
)
LLAMA_CPP = Dialect(
    "llama.cpp",
    frozenset({"json_schema", "json_object"}),
    lambda kind: _error(400, 'Either "json_schema" or "grammar" can be specified', code=400),
    _error(
        400, "request (5000 tokens) exceeds the available context size (4096 tokens)", type="exceed_context_size_error"
    ),
    _error(503, "Loading model", code=503, type="unavailable_error"),
    _error(401, "Invalid API Key", code=401, type="authentication_error"),
)
LLAMA_CPP_PYTHON = Dialect(
    "llama-cpp-python",
    frozenset({"json_object"}),
    lambda kind: _error(500, f"1 validation error: Input should be 'text' or 'json_object', input: '{kind}'"),
    _error(400, "This model's maximum context length is 4096 tokens, however you requested 5000 tokens"),
    _error(503, "Service unavailable", type="internal_server_error"),
    _error(401, "401: Invalid API key", type="internal_server_error"),
    schema_in_object=True,
)
DIALECTS = (NIM, GROQ, VLLM, LM_STUDIO, LLAMA_CPP, LLAMA_CPP_PYTHON)


@dataclass
class DialectServer(LoopbackServer):
    """A server that has the model `tiny` and speaks one dialect; `refusals` are used up in order before it replies.
    `reply_to` makes a reply of what the user wrote, in place of `reply`. `context` is how many characters of that go
    into the model; 0 for any number. `counted` counts the tokens of a prompt."""

    dialect: Dialect
    reply: str = '{"status": "known"}'
    reply_to: Callable[[str], str] | None = None
    context: int = 0
    counted: Callable[[str], int] = lambda prompt: 21
    thoughts: str = ""
    key: str = ""
    refusals: deque[Refusal | None] = field(default_factory=deque)
    bodies: list[Mapping[str, Any]] = field(default_factory=list)

    def __enter__(self) -> DialectServer:
        self.start(_Handler, server_of=self)
        return self

    def refusal(self, body: Mapping[str, Any], authorization: str) -> Refusal | None:
        """Why the request is refused; None where it gets a reply."""
        self.bodies.append(body)
        if self.refusals and (given := self.refusals.popleft()):
            return given
        if self.key and authorization != f"Bearer {self.key}":
            return self.dialect.no_key
        if body["model"] != "tiny":
            return self.dialect.no_model(body["model"])
        kind = body.get("response_format", {}).get("type")
        held = "schema" in body.get("response_format", {}) and not self.dialect.schema_in_object
        if kind and (held or kind not in self.dialect.json_types):
            return self.dialect.json_refusal(kind)
        if 0 < self.context < len(body["messages"][-1]["content"]):
            return self.dialect.overflow
        for name in sorted(self.dialect.unknown_fields & body.keys()):
            return _forbidden(name)
        return None

    def chunks(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The stream of a reply."""
        field_of_thoughts = self.dialect.thoughts
        prompt = str(body["messages"][-1]["content"])
        reply = sent(self.reply_to(prompt) if self.reply_to else self.reply, prompt)
        text = reply if field_of_thoughts or not self.thoughts else f"<think>{self.thoughts}</think>{reply}"
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        if self.thoughts and field_of_thoughts:
            deltas.append({field_of_thoughts: self.thoughts})
        deltas += [{"content": text[at : at + 9]} for at in range(0, len(text), 9)]
        chunks = [*map(chunk, deltas), chunk({}, "stop")]
        asked = self.counted("".join(str(message["content"]) for message in body["messages"]))
        counts = {"prompt_tokens": asked, "completion_tokens": 7, "total_tokens": asked + 7}
        if self.dialect.usage == "x_groq":
            chunks[-1]["x_groq"] = {"id": "req_1", "usage": counts}
        elif (body.get("stream_options") or {}).get("include_usage"):
            chunks.append({**chunk({}), "choices": [], "usage": counts})
        return chunks


class _Handler(Handler):
    server_of: DialectServer

    def do_POST(self) -> None:
        body = json.loads(self.body())
        refusal = self.server_of.refusal(body, self.headers.get("Authorization", ""))
        stream = {"Content-Type": SSE}
        if refusal is None:
            self.send(b"".join([*map(event, self.server_of.chunks(body)), DONE]), headers=stream)
        elif refusal.event:
            self.send(b"event: error\n" + event(refusal.body), refusal.status, stream)
        else:
            data = b"" if refusal.body is None else json.dumps(refusal.body).encode()
            self.send(data, refusal.status, {"Content-Type": JSON, **refusal.headers})
