"""The spans of one run, made of the events of its trace: run, hop, search, reading, LLM call, tool."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from iterative_rag.storage.spans import span_attributes as attributes

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

_NANOSECONDS = 1_000_000_000
# Steps that took the time since the step before them, and the names of their spans. Other steps are events of the hop.
_TIMED = {"shortlist": "search", "reading": "read", "tool": "tool", "web": "web search", "correction": "search again"}

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

    def event(self, name: str, payload: Mapping[str, Any]) -> None:
        """An event of the trace, just after it happened."""
        try:
            with self._lock:
                self._take(name, payload)
        except Exception:  # noqa: BLE001 - a library that fails here must not end the run
            _log.debug("No span of %s", name, exc_info=True)

    def close(self) -> None:
        """The run is over: end what is open."""
        with self._lock:
            for span in (self._hop, self._run):
                if span is not None:
                    span.end()
            self._hop = self._run = None

    def _take(self, name: str, payload: Mapping[str, Any]) -> None:
        now = time.time_ns()
        if name == "run_started":
            self._run = self._tracer.start_span(
                "iterative_rag.run", attributes=attributes.of_run(payload, self._with_text)
            )
            self._begin_hop(1)
        elif self._run is None:
            return
        elif name == "llm_call":
            self._add_call(payload, now)
        elif name == "final":
            self._run.set_attributes(attributes.of_answer(payload["answer"], self._with_text))
        elif name in ("fault", "left"):
            self._end_badly(name, payload)
        else:
            self._add_step(name, payload, now)
        if name not in ("llm_call", "cache_hit"):
            self._since = now

    def _begin_hop(self, number: int) -> None:
        from opentelemetry.trace import set_span_in_context

        if self._hop is not None:
            self._hop.end()
        assert self._run is not None
        context = set_span_in_context(self._run)
        self._hop = self._tracer.start_span(f"hop {number}", context, attributes=attributes.of_hop(number))
        self._number = number

    def _add_step(self, name: str, payload: Mapping[str, Any], now: int) -> None:
        hop = payload.get("hop", self._number)
        if isinstance(hop, int) and hop > self._number:
            self._begin_hop(hop)
        assert self._hop is not None
        if name == "analysis" and self._with_text:
            self._hop.set_attributes(attributes.input_text(str(payload["question"])))
        if title := _TIMED.get(name):
            told = attributes.of_step(name, payload, self._with_text)
            self._child(title, told, self._since, now)
        else:
            self._hop.add_event(name, attributes.counts(payload))

    def _add_call(self, payload: Mapping[str, Any], now: int) -> None:
        from opentelemetry.trace import Status, StatusCode

        begun = now - int(float(payload["seconds"]) * _NANOSECONDS)
        error = str(payload.get("error", ""))
        # The name of the error's class; the rest of it may repeat what the model was sent or has said.
        status = Status(StatusCode.ERROR, error.partition(":")[0]) if error else None
        self._child(f"llm {payload['role']}", attributes.of_call(payload, self._with_text), begun, now, status)

    def _child(self, name: str, told: attributes.Attributes, begun: int, ended: int, status: Any = None) -> None:
        from opentelemetry.trace import set_span_in_context

        assert self._hop is not None
        span = self._tracer.start_span(name, set_span_in_context(self._hop), attributes=told, start_time=begun)
        if status is not None:
            span.set_status(status)
        span.end(ended)

    def _end_badly(self, name: str, payload: Mapping[str, Any]) -> None:
        from opentelemetry.trace import Status, StatusCode

        assert self._run is not None
        if name == "left":
            self._run.set_attribute(attributes.STOPPED, True)
        else:
            self._run.set_status(Status(StatusCode.ERROR, str(payload.get("error", "fault"))))
