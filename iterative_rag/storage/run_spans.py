"""The spans of one run, made of the events of its trace: run, hop, search, reading, LLM call, tool.

Attributes have the names of OpenInference's semantic conventions; what these have no name for is `iterative_rag.*`.
Without text they hold names, ids, counts and scores only: no question, answer, prompt, title or quote.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Mapping
from typing import Any, TypeAlias

from openinference.semconv.trace import DocumentAttributes, MessageAttributes
from openinference.semconv.trace import OpenInferenceSpanKindValues as Kind
from openinference.semconv.trace import SpanAttributes as Name
from opentelemetry.trace import Span, Status, StatusCode, Tracer, set_span_in_context

from iterative_rag.text.control_characters import visible

Event: TypeAlias = Mapping[str, Any]
Attributes: TypeAlias = dict[str, str | bool | int | float]
# Steps that took the time since the step before them: the names and kinds of their spans. Others are events of the hop.
_TIMED = {
    "shortlist": ("search", Kind.RETRIEVER),
    "reading": ("read", Kind.CHAIN),
    "tool": ("tool", Kind.TOOL),
    "web": ("web search", Kind.RETRIEVER),
    "correction": ("search again", Kind.RETRIEVER),
}
# Of one text: collectors refuse spans that are too large.
_MOST_CHARS = 20_000
_MOST_DOCUMENTS = 50
_log = logging.getLogger(__name__)


class RunSpans:
    """Implements trace.Listener. `with_text`: also questions, answers, prompts, and text of documents.

    Called from several threads. It raises nothing: spans must not cost an answer.
    """

    def __init__(self, tracer: Tracer, *, with_text: bool) -> None:
        self._tracer, self._with_text = tracer, with_text
        self._lock = threading.Lock()
        self._run: Span | None = None
        self._hop: Span | None = None
        self._number = 0
        self._since = time.time_ns()

    def event(self, name: str, payload: Event) -> None:
        """An event of the trace, just after it happened."""
        try:
            with self._lock:
                self._take(name, payload, time.time_ns())
        except Exception:  # noqa: BLE001 - a library that fails here must not end the run
            _log.debug("No span of %s", name, exc_info=True)

    def close(self) -> None:
        """The run is over: end what is open."""
        with self._lock:
            for span in (self._hop, self._run):
                if span is not None:
                    span.end()
            self._hop = self._run = None

    def _take(self, name: str, payload: Event, now: int) -> None:
        if name == "run_started":
            own = {"run_id": payload["run_id"], "strategy": payload["strategy"], "backend": _model(payload["backend"])}
            told = {Name.AGENT_NAME: "iterative_rag", **_own(own), **self._text(input=payload["question"])}
            self._run = self._tracer.start_span("iterative_rag.run", attributes=_of_kind(Kind.AGENT, told))
            self._begin_hop(1)
        elif self._run is None or self._hop is None:
            return
        elif name == "llm_call":
            self._add_call(payload, now)
            return
        elif name == "final":
            self._run.set_attributes(self._of_answer(payload["answer"]))
        elif name == "left":
            self._run.set_attributes(_own({"stopped": True}))
        elif name == "fault":
            self._run.set_status(Status(StatusCode.ERROR, str(payload.get("error", "fault"))))
        else:
            self._add_step(name, payload, now)
        if name != "cache_hit":
            self._since = now

    def _begin_hop(self, number: int) -> None:
        if self._hop is not None:
            self._hop.end()
        assert self._run is not None
        told = _of_kind(Kind.CHAIN, _own({"hop": number}))
        self._hop = self._tracer.start_span(f"hop {number}", set_span_in_context(self._run), attributes=told)
        self._number = number

    def _add_step(self, name: str, step: Event, now: int) -> None:
        if step.get("hop", 0) > self._number:
            self._begin_hop(step["hop"])
        assert self._hop is not None
        if name == "analysis":
            self._hop.set_attributes(self._text(input=step["question"]))
        if name in _TIMED:
            title, kind = _TIMED[name]
            self._child(title, _of_kind(kind, self._of_step(name, step)), self._since, now)
        else:
            self._hop.add_event(name, _counts(step))

    def _add_call(self, call: Event, now: int) -> None:
        told = {Name.LLM_MODEL_NAME: _model(call["model"]), **_own({"role": call["role"]}), **_tokens(call)}
        messages = (
            (f"{Name.LLM_INPUT_MESSAGES}.0", "system", call.get("system")),
            (f"{Name.LLM_INPUT_MESSAGES}.1", "user", call.get("prompt")),
            (f"{Name.LLM_OUTPUT_MESSAGES}.0", "assistant", call.get("reply")),
        )
        for place, role, text in messages:
            if text and self._with_text:
                told[f"{place}.{MessageAttributes.MESSAGE_ROLE}"] = role
                told[f"{place}.{MessageAttributes.MESSAGE_CONTENT}"] = _shown(text)
        begun = now - int(float(call["seconds"]) * 1e9)
        # The name of the error's class; the rest of it may repeat what the model was sent or has said.
        error = str(call.get("error", "")).partition(":")[0]
        self._child(f"llm {call['role']}", _of_kind(Kind.LLM, told), begun, now, error)

    def _child(self, name: str, told: Attributes, begun: int, ended: int, error: str = "") -> None:
        assert self._hop is not None
        span = self._tracer.start_span(name, set_span_in_context(self._hop), attributes=told, start_time=begun)
        if error:
            span.set_status(Status(StatusCode.ERROR, error))
        span.end(ended)

    def _of_answer(self, answer: Event) -> Attributes:
        usage = answer["usage"]
        own = {name: answer[name] or "" for name in ("status", "reason_code", "confidence")}
        own |= {name: len(answer[name]) for name in ("hops", "citations")}
        own |= {name: usage[name] for name in ("llm_calls", "cache_hits")}
        return {**_own(own), **_tokens(usage), **self._text(output=answer["text"] or answer["reason"])}

    def _of_step(self, name: str, step: Event) -> Attributes:
        """A step with a span of its own."""
        told = _counts(step)
        for number, document in enumerate(step.get("documents", ())[:_MOST_DOCUMENTS]):
            prefix = f"{Name.RETRIEVAL_DOCUMENTS}.{number}."
            listed = document if isinstance(document, Mapping) else {"document_id": document}  # a reading names ids
            told[prefix + DocumentAttributes.DOCUMENT_ID] = str(listed["document_id"])
            if "score" in listed:
                told[prefix + DocumentAttributes.DOCUMENT_SCORE] = float(listed["score"])
            if self._with_text and "title" in listed:
                told[prefix + DocumentAttributes.DOCUMENT_NAME] = _shown(listed["title"])
        if name == "tool":
            return {**told, Name.TOOL_NAME: step["tool"], **self._text(input=step["asked"], output=step["told"])}
        statements = json.dumps([fact["statement"] for fact in step.get("facts", ())], ensure_ascii=False)
        return {**told, **self._text(input=step["need"]["question"], output=statements if name == "reading" else "")}

    def _text(self, *, input: str = "", output: str = "") -> Attributes:
        given = {Name.INPUT_VALUE: input, Name.OUTPUT_VALUE: output}
        return {name: _shown(text) for name, text in given.items() if text and self._with_text}


def _of_kind(kind: Kind, told: Attributes) -> Attributes:
    return {Name.OPENINFERENCE_SPAN_KIND: kind.value, **told}


def _own(told: Mapping[str, Any]) -> Attributes:
    return {f"iterative_rag.{name}": value for name, value in told.items()}


def _counts(step: Event) -> Attributes:
    """The numbers of a step, and the lengths of its lists."""
    numbers = {name: value for name, value in step.items() if isinstance(value, bool | int | float)}
    return _own(numbers | {name: len(value) for name, value in step.items() if isinstance(value, list | tuple)})


def _tokens(counted: Event) -> Attributes:
    prompt, completion = int(counted.get("prompt_tokens", 0)), int(counted.get("completion_tokens", 0))
    return {
        Name.LLM_TOKEN_COUNT_PROMPT: prompt,
        Name.LLM_TOKEN_COUNT_COMPLETION: completion,
        Name.LLM_TOKEN_COUNT_TOTAL: prompt + completion,
    }


def _model(name: str) -> str:
    """A model without the address of its server and its options: "ollama/llama3.1:8b"."""
    return name.split("@")[0].split(" ")[0].split("?")[0]


def _shown(text: str) -> str:
    return visible(text[:_MOST_CHARS])
