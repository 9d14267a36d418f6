"""What the protocol calls things: the models (`iterative-rag:CORPUS`, or `iterative-rag:CORPUS:STRATEGY` for another
strategy than the server's), chat completions and their chunks, and errors."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from iterative_rag.errors import CorpusNotFound, IterativeRAGError, NothingWithin, ServerBusy, UsageError
from iterative_rag.registry import STRATEGIES
from iterative_rag.serve.api.responses import status_of
from iterative_rag.serve.rag_pool import RagPool
from iterative_rag.serve.runs.events import error_to_json
from iterative_rag.types import Answer, Usage

if TYPE_CHECKING:
    from iterative_rag.serve.openai_door.answer_content import Content

FAMILY = "iterative-rag"
# Seconds after which a client whose run was not taken may try again.
RETRY_AFTER = "5"


class RequestRefused(UsageError):
    """A parameter that is wrong, or that is not supported here. `code` is the protocol's."""

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.param, self.code = param, code


class ModelUnknown(RequestRefused):
    """The model of a request does not exist."""

    def __init__(self, model: str) -> None:
        super().__init__(
            f"The model {model!r:.200} does not exist.",
            param="model",
            code="model_not_found",
            hint="The list of models names them.",
        )


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


def refusal_response(error: IterativeRAGError) -> Response:
    status = 404 if isinstance(error, ModelUnknown) else status_of(error)
    return JSONResponse(error_body(error), status, {"retry-after": RETRY_AFTER} if status == 429 else None)


@dataclass(frozen=True, slots=True)
class ModelName:
    """`strategy` is "" for the server's."""

    corpus: str
    strategy: str = ""

    def __str__(self) -> str:
        return ":".join(filter(None, (FAMILY, self.corpus, self.strategy)))


def offered(pool: RagPool) -> list[ModelName]:
    """The models that are listed: each corpus, and then with each strategy that the backend can follow."""
    corpora = list(dict.fromkeys([pool.default_corpus, *pool.corpora()]))
    strategies = STRATEGIES.offered_with(pool.backends[0])
    with_strategy = [ModelName(corpus, strategy) for corpus in corpora for strategy in strategies]
    return [*(ModelName(corpus) for corpus in corpora), *with_strategy]


def parsed(model: str, pool: RagPool) -> ModelName:
    """The name alone stands for the default corpus; several stand between commas. Raises ModelUnknown."""
    family, _, rest = model.partition(":")
    corpus, _, strategy = rest.partition(":")
    if family != FAMILY or (strategy and strategy not in STRATEGIES.offered):
        raise ModelUnknown(model)
    try:
        return ModelName(pool.served(corpus), strategy)
    except CorpusNotFound as error:
        raise ModelUnknown(model) from error


def model_json(name: ModelName, created: int) -> dict[str, Any]:
    return {"id": str(name), "object": "model", "created": created, "owned_by": FAMILY}


@dataclass(frozen=True, slots=True)
class Completion:
    """What the completion and all of its chunks have in common."""

    run_id: str
    model: str
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(self, content: Content, thoughts: str, usage: Usage, answer: Answer | None = None) -> dict[str, Any]:
        """The completion of a request that is not streamed."""
        message: dict[str, Any] = {"role": "assistant", "content": content.text, "refusal": content.refusal}
        if thoughts:
            message["reasoning_content"] = thoughts
        if content.annotations:
            message["annotations"] = list(content.annotations)
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": content.finish_reason}
        return {**self._common("chat.completion"), "choices": [choice], "usage": usage_json(usage), **_ours(answer)}

    def chunk(self, delta: Mapping[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": dict(delta), "logprobs": None, "finish_reason": finish_reason}
        return {**self._common("chat.completion.chunk"), "choices": [choice]}

    def last_chunk(self, content: Content, answer: Answer | None = None) -> dict[str, Any]:
        """The chunk that ends the text: why it ends, and in `iterative_rag` what the protocol has no field for."""
        delta: dict[str, Any] = {"refusal": content.refusal} if content.refusal else {}
        if content.annotations:
            delta["annotations"] = list(content.annotations)
        return self.chunk(delta, content.finish_reason) | _ours(answer)

    def usage_chunk(self, usage: Usage) -> dict[str, Any]:
        return {**self._common("chat.completion.chunk"), "choices": [], "usage": usage_json(usage)}

    def _common(self, kind: str) -> dict[str, Any]:
        return {"id": f"chatcmpl-{self.run_id}", "object": kind, "created": self.created, "model": self.model}


def usage_json(usage: Usage) -> dict[str, int]:
    """The tokens of all calls of the run; 0 for the built-in models, which have none."""
    prompt, completion = usage.prompt_tokens, usage.completion_tokens
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _ours(answer: Answer | None) -> dict[str, Any]:
    """For programs that know this server: the parts of the answer, which the text holds as Markdown."""
    if answer is None:
        return {}
    citations = [
        {"n": cite.n, "title": cite.title, "quote": cite.quote, "start": cite.start, "end": cite.end, "url": cite.link}
        for cite in answer.citations
    ]
    return {
        "iterative_rag": {
            "run_id": answer.run_id,
            "status": str(answer.status),
            "reason_code": answer.reason_code and str(answer.reason_code),
            "short_answer": answer.short_answer,
            "confidence": answer.confidence,
            "citations": citations,
        }
    }
