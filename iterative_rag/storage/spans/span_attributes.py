"""The attributes of spans, by OpenInference's semantic conventions; what these have no name for is `iterative_rag.*`.

Without text they hold names, ids, counts and scores only: no question, answer, prompt, title or quote.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from openinference.semconv.trace import (
    DocumentAttributes,
    MessageAttributes,
    OpenInferenceSpanKindValues,
    SpanAttributes,
)

from iterative_rag.text.control_characters import visible

Attributes: TypeAlias = dict[str, str | bool | int | float]
_OWN = "iterative_rag."
STOPPED = f"{_OWN}stopped"
# Of one text: collectors refuse spans that are too large.
_MOST_CHARS = 20_000
_MOST_DOCUMENTS = 50
_KIND = SpanAttributes.OPENINFERENCE_SPAN_KIND
_OF_STEPS = {
    "shortlist": OpenInferenceSpanKindValues.RETRIEVER,
    "web": OpenInferenceSpanKindValues.RETRIEVER,
    "correction": OpenInferenceSpanKindValues.RETRIEVER,
    "tool": OpenInferenceSpanKindValues.TOOL,
    "reading": OpenInferenceSpanKindValues.CHAIN,
}


def of_run(event: Mapping[str, Any], with_text: bool) -> Attributes:
    told: Attributes = {
        _KIND: OpenInferenceSpanKindValues.AGENT.value,
        SpanAttributes.AGENT_NAME: "iterative_rag",
        f"{_OWN}run_id": str(event["run_id"]),
        f"{_OWN}strategy": str(event["strategy"]),
        f"{_OWN}backend": model_name(str(event["backend"])),
    }
    return told | input_text(str(event["question"])) if with_text else told


def of_hop(number: int) -> Attributes:
    return {_KIND: OpenInferenceSpanKindValues.CHAIN.value, f"{_OWN}hop": number}


def of_answer(answer: Mapping[str, Any], with_text: bool) -> Attributes:
    usage = answer["usage"]
    told: Attributes = {
        f"{_OWN}status": str(answer["status"]),
        f"{_OWN}reason_code": str(answer["reason_code"] or ""),
        f"{_OWN}confidence": float(answer["confidence"]),
        f"{_OWN}hops": len(answer["hops"]),
        f"{_OWN}citations": len(answer["citations"]),
        f"{_OWN}llm_calls": int(usage["llm_calls"]),
        f"{_OWN}cache_hits": int(usage["cache_hits"]),
    }
    told |= _tokens(usage)
    return told | output_text(str(answer["text"] or answer["reason"])) if with_text else told


def of_call(event: Mapping[str, Any], with_text: bool) -> Attributes:
    told: Attributes = {
        _KIND: OpenInferenceSpanKindValues.LLM.value,
        SpanAttributes.LLM_MODEL_NAME: model_name(str(event["model"])),
        f"{_OWN}role": str(event["role"]),
    }
    told |= _tokens(event)
    if with_text:
        messages = (
            (SpanAttributes.LLM_INPUT_MESSAGES, 0, "system", event.get("system")),
            (SpanAttributes.LLM_INPUT_MESSAGES, 1, "user", event.get("prompt")),
            (SpanAttributes.LLM_OUTPUT_MESSAGES, 0, "assistant", event.get("reply")),
        )
        for where, number, role, text in messages:
            if text:
                told[f"{where}.{number}.{MessageAttributes.MESSAGE_ROLE}"] = role
                told[f"{where}.{number}.{MessageAttributes.MESSAGE_CONTENT}"] = _shown(str(text))
    return told


def of_step(name: str, step: Mapping[str, Any], with_text: bool) -> Attributes:
    """A step with a span of its own."""
    told: Attributes = {_KIND: _OF_STEPS[name].value}
    told |= counts(step)
    if name == "tool":
        told[SpanAttributes.TOOL_NAME] = str(step["tool"])
        asked, result = str(step["asked"]), str(step["told"])
    else:
        asked = str(step["need"]["question"])
        result = json.dumps([fact["statement"] for fact in step.get("facts", ())], ensure_ascii=False)
    for number, document in enumerate(step.get("documents", ())[:_MOST_DOCUMENTS]):
        told |= _document(f"{SpanAttributes.RETRIEVAL_DOCUMENTS}.{number}.", document, with_text)
    if with_text:
        told |= input_text(asked)
        if name in ("tool", "reading"):
            told |= output_text(result)
    return told


def counts(step: Mapping[str, Any]) -> Attributes:
    """The numbers of a step, and the lengths of its lists."""
    told: Attributes = {}
    for name, value in step.items():
        if isinstance(value, bool | int | float):
            told[f"{_OWN}{name}"] = value
        elif isinstance(value, list | tuple):
            told[f"{_OWN}{name}"] = len(value)
    return told


def input_text(text: str) -> Attributes:
    return {SpanAttributes.INPUT_VALUE: _shown(text)}


def output_text(text: str) -> Attributes:
    return {SpanAttributes.OUTPUT_VALUE: _shown(text)}


def model_name(name: str) -> str:
    """A model without the address of its server and its options: "ollama/llama3.1:8b"."""
    return name.split("@")[0].split(" ")[0].split("?")[0]


def _document(prefix: str, document: Any, with_text: bool) -> Attributes:
    if not isinstance(document, Mapping):  # a reading names ids only
        return {f"{prefix}{DocumentAttributes.DOCUMENT_ID}": str(document)}
    told: Attributes = {
        f"{prefix}{DocumentAttributes.DOCUMENT_ID}": str(document["document_id"]),
        f"{prefix}{DocumentAttributes.DOCUMENT_SCORE}": float(document["score"]),
    }
    if with_text:
        told[f"{prefix}{DocumentAttributes.DOCUMENT_NAME}"] = _shown(str(document["title"]))
    return told


def _tokens(counted: Mapping[str, Any]) -> Attributes:
    prompt, completion = int(counted.get("prompt_tokens", 0)), int(counted.get("completion_tokens", 0))
    return {
        SpanAttributes.LLM_TOKEN_COUNT_PROMPT: prompt,
        SpanAttributes.LLM_TOKEN_COUNT_COMPLETION: completion,
        SpanAttributes.LLM_TOKEN_COUNT_TOTAL: prompt + completion,
    }


def _shown(text: str) -> str:
    return visible(text[:_MOST_CHARS])
