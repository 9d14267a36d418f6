"""Runs as spans: what they hold with text and without, and that a collector costs no answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from fakes.command_line import run_as_process
from fakes.running_server import PlayingLLM
from fakes.two_article_corpus import QUESTION, TEXTS, write_articles
from iterative_rag.app.factory import IterativeRAG, index_paths
from iterative_rag.errors import LLMUnreachable, MissingExtra
from iterative_rag.errors.installation import install_command
from iterative_rag.protocols import ChatRequest
from iterative_rag.settings import Settings, load_settings
from iterative_rag.storage import span_export

KIND = "openinference.span.kind"


@pytest.fixture
def towns(tmp_path: Path) -> Settings:
    write_articles(tmp_path / "articles")
    settings = Settings(corpus="towns", cache=False)
    index_paths([tmp_path / "articles"], settings=settings, corpus="towns")
    return settings


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(span_export, "_provider", provider)
    return exporter


def spans_of(settings: Settings, exported: InMemorySpanExporter, llm: object | None = None) -> list[ReadableSpan]:
    rag = IterativeRAG.from_settings(settings, llm=llm or PlayingLLM())
    try:
        assert rag.ask(QUESTION).short_answer == "Edda Holm"
    finally:
        rag.close()
    return list(exported.get_finished_spans())


def told(span: ReadableSpan) -> Mapping[str, Any]:
    return dict(span.attributes or {})


def test_a_run_is_a_tree_of_hops_searches_readings_and_calls(towns: Settings, exported: InMemorySpanExporter) -> None:
    spans = spans_of(towns.model_copy(update={"otel": "spans"}), exported)
    names = {span.context.span_id: span.name for span in spans if span.context}
    parents = {(names[span.parent.span_id] if span.parent else "", span.name) for span in spans}
    assert parents >= {
        ("", "iterative_rag.run"),
        ("iterative_rag.run", "hop 1"),
        ("iterative_rag.run", "hop 2"),
        ("hop 1", "search"),
        ("hop 2", "read"),
        ("hop 1", "llm extract"),
        ("hop 2", "llm answer"),
    }
    [run] = [span for span in spans if not span.parent]
    calls = [told(span) for span in spans if told(span)[KIND] == "LLM"]
    assert told(run)[KIND] == "AGENT"
    assert told(run)["iterative_rag.status"] == "answered"
    assert told(run)["llm.token_count.prompt"] == sum(call["llm.token_count.prompt"] for call in calls) > 0
    assert all(call["llm.model_name"] == "playing" for call in calls)
    [first, *_] = [told(span) for span in spans if span.name == "search"]
    assert first[KIND] == "RETRIEVER"
    assert first["retrieval.documents.0.document.id"]
    assert all((span.start_time or 0) <= (span.end_time or 0) for span in spans)


def test_no_text_is_sent_unless_it_is_asked_for(towns: Settings, exported: InMemorySpanExporter) -> None:
    spans = spans_of(towns.model_copy(update={"otel": "spans"}), exported)
    without = " ".join(span.to_json() for span in spans)
    for text in ("mayor", "Edda Holm", "Sunday bridge", "stone bridge", *TEXTS):
        assert text not in without
    exported.clear()
    with_text = spans_of(towns.model_copy(update={"otel": "text"}), exported)
    held = " ".join(span.to_json() for span in with_text)
    [answer] = [told(span) for span in with_text if span.name == "llm answer"]
    assert QUESTION in held
    assert "Its mayor is Edda Holm." in held
    assert answer["llm.input_messages.1.message.role"] == "user"
    assert "Edda Holm" in answer["llm.output_messages.0.message.content"]


def test_a_fault_ends_the_spans_with_an_error_and_no_message(towns: Settings, exported: InMemorySpanExporter) -> None:
    def fail(request: ChatRequest) -> None:
        raise LLMUnreachable("There is no server at http://10.1.2.3.", hint="ollama serve")

    rag = IterativeRAG.from_settings(towns.model_copy(update={"otel": "spans"}), llm=PlayingLLM(fail))
    with pytest.raises(LLMUnreachable):
        rag.ask(QUESTION)
    rag.close()
    spans = exported.get_finished_spans()
    [run] = [span for span in spans if not span.parent]
    assert (run.status.is_ok, run.status.description) == (False, "LLMUnreachable")
    assert all(span.end_time for span in spans)
    assert "10.1.2.3" not in " ".join(span.to_json() for span in spans)


def test_they_are_off_unless_a_collector_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert span_export.run_spans(Settings()) is None
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    assert span_export.run_spans(Settings(otel="off")) is None
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    assert span_export.run_spans(Settings()) is None
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert span_export.run_spans(Settings(otel="spans")) is None


def test_a_folder_that_is_not_trusted_cannot_ask_for_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "iterative-rag.toml").write_text('otel = "text"\n')
    assert load_settings().otel == "auto"
    assert load_settings({"otel": "text"}).otel == "text"


def test_without_its_packages_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(MissingExtra) as raised:
        span_export.run_spans(Settings(otel="spans"))
    assert raised.value.hint == install_command("otel")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    assert span_export.run_spans(Settings()) is None


@pytest.fixture
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """A real receiver of OTLP on loopback: its address, and the bodies that it got."""
    bodies: list[bytes] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is printed."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", bodies
        server.shutdown()


def test_a_collector_gets_the_spans_and_one_that_is_away_costs_no_answer(
    towns: Settings, collector: tuple[str, list[bytes]]
) -> None:
    address, bodies = collector
    ask = ("ask", "Who is the mayor of Aldermere?", "--corpus", "towns", "--llm", "builtin", "--json", "--no-cache")
    sent = run_as_process(*ask, OTEL_EXPORTER_OTLP_ENDPOINT=address)
    away = run_as_process(*ask, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9", OTEL_EXPORTER_OTLP_TIMEOUT="1")
    assert (sent.code, away.code) == (0, 0)
    assert json.loads(sent.out)["short_answer"] == json.loads(away.out)["short_answer"] == "Edda Holm"
    assert "Traceback" not in away.err
    found = [
        (resource, span)
        for body in bodies
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    assert {"iterative_rag.run", "hop 1", "search", "read"} <= {span.name for _, span in found}
    services = {one.value.string_value for resource, _ in found for one in resource.resource.attributes}
    assert "iterative-rag" in services
    assert b"Aldermere" not in b"".join(bodies)
