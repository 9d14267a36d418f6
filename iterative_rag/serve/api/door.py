"""The routes of the HTTP door: `/api/...` in JSON and server-sent events, `/healthz` and `/metrics`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from importlib.resources import files

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.process_collector import ProcessCollector
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from iterative_rag import __version__
from iterative_rag.serve.api import documents, runs
from iterative_rag.serve.runs.run import Run, RunStatus
from iterative_rag.serve.services import Door, Services

Endpoint = Callable[[Request], Awaitable[Response]]

_SECONDS = (0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600)


def http_door(services: Services) -> Door:
    """A container's health check has no token."""

    def get(path: str, endpoint: Endpoint) -> Route:
        return Route(path, endpoint, methods=["GET"])

    def post(path: str, endpoint: Endpoint) -> Route:
        return Route(path, endpoint, methods=["POST"])

    return Door(
        routes=[
            post("/api/ask", runs.ask),
            get("/api/search", documents.search),
            get("/api/corpora", documents.corpora),
            get("/api/documents", documents.titles),
            get("/api/documents/{id}", documents.document),
            post("/api/runs", runs.start),
            get("/api/runs", runs.listed),
            get("/api/runs/{id}", runs.one),
            get("/api/runs/{id}/events", runs.events),
            post("/api/runs/{id}/stop", runs.stop),
            get("/api/openapi.json", _packaged("iterative_rag.serve.api", "openapi.json")),
            get("/api/events.schema.json", _packaged("iterative_rag.serve.runs", "events.schema.json")),
            get("/healthz", _health),
            get("/metrics", Meters(services).metrics),
        ],
        open_paths=["/healthz"],
    )


async def _health(request: Request) -> Response:
    """Whether the server answers."""
    return JSONResponse({"status": "ok", "version": __version__})


def _packaged(package: str, name: str) -> Endpoint:
    """A description that travels with the package."""

    async def told(request: Request) -> Response:
        return Response((files(package) / name).read_text(encoding="utf-8"), media_type="application/json")

    return told


class Meters:
    """Counts the runs of one server."""

    def __init__(self, services: Services) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        prefix = "iterative_rag"
        self._runs = Counter(f"{prefix}_runs", "Runs that are over.", ["outcome"], registry=self._registry)
        self._calls = Counter(f"{prefix}_llm_calls", "LLM calls of answered runs.", registry=self._registry)
        self._tokens = Counter(f"{prefix}_tokens", "Tokens of LLM calls.", ["kind"], registry=self._registry)
        self._seconds = Histogram(
            f"{prefix}_run_seconds", "Duration of a run.", buckets=_SECONDS, registry=self._registry
        )
        for state in (RunStatus.QUEUED, RunStatus.RUNNING):
            gauge = Gauge(f"{prefix}_runs_{state}", f"Runs that are {state}.", registry=self._registry)
            gauge.set_function(partial(services.runs.count, state))
        services.runs.observe(self._count)

    def _count(self, run: Run) -> None:
        outcome = str(run.answer.status) if run.answer else str(run.state)
        self._runs.labels(outcome).inc()
        if run.answer:
            usage = run.answer.usage
            self._calls.inc(usage.llm_calls)
            self._tokens.labels("prompt").inc(usage.prompt_tokens)
            self._tokens.labels("completion").inc(usage.completion_tokens)
            self._seconds.observe(usage.seconds)

    async def metrics(self, request: Request) -> Response:
        """For Prometheus."""
        return Response(generate_latest(self._registry), headers={"content-type": CONTENT_TYPE_LATEST})
