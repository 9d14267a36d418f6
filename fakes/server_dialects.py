"""OpenAI-compatible servers as they differ: how each takes JSON, shows thoughts, counts tokens, and refuses.

Bodies, headers and statuses are those of NVIDIA's hosted NIM, Groq, vLLM, LM Studio and llama.cpp; the words around
them are shortened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fakes.model_server import FakeServer, Fault


def _error(status: int, message: str, **more: object) -> Fault:
    """As OpenAI puts it."""
    return Fault("status", status, {"error": {"message": message, **more}})


def _object(status: int, message: str) -> Fault:
    """As vLLM does."""
    return Fault("status", status, {"object": "error", "message": message, "type": "BadRequestError", "code": status})


def _problem(status: int, title: str, detail: str = "") -> Fault:
    """NVIDIA's gateway answers in the form of RFC 7807."""
    return Fault("status", status, {"status": status, "title": title, "detail": detail})


def _forbidden(name: str) -> Fault:
    """As servers do that check each field of a request."""
    return Fault("status", 422, {"detail": [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs"}]})


def _unknown(model: str) -> Fault:
    return _error(404, f"The model `{model}` does not exist or you do not have access", code="model_not_found")


@dataclass(frozen=True)
class Dialect:
    """One server. `json_types` are the values of `response_format.type` that it takes; `thoughts` is the field of
    thoughts in a delta, "" where they stand in the text; `usage` the field of a chunk that holds the counts."""

    name: str
    json_types: frozenset[str]
    json_refusal: Callable[[str], Fault]
    overflow: Fault
    rate_limited: Fault
    no_key: Fault
    no_model: Callable[[str], Fault] = _unknown
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
    Fault("status", 401, {"error": "Unauthorized"}),
    lambda model: _object(404, f"The model `{model}` does not exist."),
)
LM_STUDIO = Dialect(
    "lm-studio",
    frozenset({"json_schema", "text"}),
    lambda kind: Fault("status", 400, {"error": "'response_format.type' must be 'json_schema' or 'text'"}),
    Fault(
        "error",
        message={"error": {"message": "The number of tokens to keep is greater than the context length"}},
        after=0,
    ),
    Fault("status", 429, {"error": "Too many requests"}),
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


@dataclass(kw_only=True)
class DialectServer(FakeServer):
    """A server that has the model `tiny` and speaks one dialect. `context` is how many characters of what the user
    wrote go into the model; 0 for any number. `key` is the one that it wants, if any."""

    dialect: Dialect
    context: int = 0
    key: str = ""
    models: Sequence[str] = ("tiny",)

    def __post_init__(self) -> None:
        self.thoughts_in, self.usage_in = self.dialect.thoughts, self.dialect.usage

    @property
    def bodies(self) -> list[Mapping[str, Any]]:
        return [seen.body for seen in self.calls("/v1/chat/completions")]

    def refusal(self, body: Mapping[str, Any], authorization: str) -> Fault | None:
        if self.key and authorization != f"Bearer {self.key}":
            return self.dialect.no_key
        if body["model"] not in self.models:
            return self.dialect.no_model(body["model"])
        kind = body.get("response_format", {}).get("type")
        held = "schema" in body.get("response_format", {}) and not self.dialect.schema_in_object
        if kind and (held or kind not in self.dialect.json_types):
            return self.dialect.json_refusal(kind)
        if 0 < self.context < len(body["messages"][-1]["content"]):
            return self.dialect.overflow
        return next((_forbidden(name) for name in sorted(self.dialect.unknown_fields & body.keys())), None)
