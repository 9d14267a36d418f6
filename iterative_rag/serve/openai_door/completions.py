"""Chat completions and their chunks, as JSON."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from iterative_rag.serve.openai_door.answer_content import Content
from iterative_rag.types import Answer, Usage


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
        {"n": one.n, "title": one.title, "quote": one.quote, "start": one.start, "end": one.end, "url": one.link}
        for one in answer.citations
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
