"""Where spans go: to the collector that the variables OTEL_* name, in the background.

A collector that does not answer costs a run nothing: batches are sent by a thread of their own, dropped when they fail,
and at the end of the process there is a short wait for the last one.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from iterative_rag.errors import MissingExtra
from iterative_rag.settings import Settings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

    from iterative_rag.storage.run_spans import RunSpans

EXTRA = "otel"
# Seconds that one batch may take, and that the end of the process waits for the last one.
SEND_SECONDS, LAST_SECONDS = 5.0, 1.0
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
# They report each failed batch with a traceback.
_LOUD = ("opentelemetry.exporter.otlp.proto.http", "opentelemetry.sdk._shared_internal")

_log = logging.getLogger(__name__)
_lock = threading.Lock()
_provider: TracerProvider | None = None


def run_spans(settings: Settings) -> RunSpans | None:
    """What makes spans of one run; None where they are switched off. Raises MissingExtra where they were asked for."""
    if not _wanted(settings):
        return None
    try:
        from opentelemetry.sdk.trace import TracerProvider

        from iterative_rag.storage.run_spans import RunSpans
    except ImportError as error:
        if settings.otel == "auto":  # the variables may be meant for other programs
            _log.info("No spans are sent: the packages of the extra %r are not installed.", EXTRA)
            return None
        raise MissingExtra(EXTRA) from error
    global _provider
    with _lock:
        if _provider is None:
            _provider = _exporting(TracerProvider)
    return RunSpans(_provider.get_tracer("iterative_rag"), with_text=settings.otel == "text")


def flush() -> None:
    """Begin to send what waits. Returns at once; the end of the process waits LAST_SECONDS for it."""
    provider = _provider
    if provider is None:
        return
    thread = threading.Thread(target=provider.force_flush, name="iterative-rag spans", daemon=True)
    thread.start()
    atexit.register(thread.join, LAST_SECONDS)


def _wanted(settings: Settings) -> bool:
    if settings.otel == "off" or os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    if settings.otel != "auto":
        return True
    return os.environ.get("OTEL_TRACES_EXPORTER", "otlp") != "none" and any(map(os.environ.get, _ENDPOINTS))


def _exporting(kind: type[TracerProvider]) -> TracerProvider:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult

    class Exporter(OTLPSpanExporter):
        """Says once that its collector does not take the spans."""

        told = False

        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            result = super().export(spans)
            if result is not SpanExportResult.SUCCESS and not self.told:
                self.told = True
                _log.warning(
                    "Spans of this run are not sent: the collector of OTEL_EXPORTER_OTLP_* does not take them."
                )
            return result

    for name in _LOUD:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # Variables (OTEL_SERVICE_NAME) count for more than this name.
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: "iterative-rag"}
    provider = kind(resource=Resource.create(named), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(Exporter(timeout=SEND_SECONDS)))
    return provider
