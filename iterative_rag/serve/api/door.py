"""The routes of the HTTP door."""

from __future__ import annotations

from starlette.routing import Route

from iterative_rag.serve.api import asking, documents, monitoring, run_routes
from iterative_rag.serve.services import Door, Services


def http_door(services: Services) -> Door:
    """`/api/...`, `/healthz` and `/metrics`. A container's health check has no token."""
    meters = monitoring.Meters(services)
    return Door(
        routes=[
            Route("/api/ask", asking.ask, methods=["POST"]),
            Route("/api/search", documents.search, methods=["GET"]),
            Route("/api/corpora", documents.corpora, methods=["GET"]),
            Route("/api/documents", documents.titles, methods=["GET"]),
            Route("/api/documents/{id}", documents.document, methods=["GET"]),
            Route("/api/runs", run_routes.start, methods=["POST"]),
            Route("/api/runs", run_routes.listed, methods=["GET"]),
            Route("/api/runs/{id}", run_routes.one, methods=["GET"]),
            Route("/api/runs/{id}/events", run_routes.events, methods=["GET"]),
            Route("/api/runs/{id}/stop", run_routes.stop, methods=["POST"]),
            Route("/api/openapi.json", monitoring.openapi, methods=["GET"]),
            Route("/api/events.schema.json", monitoring.event_schema, methods=["GET"]),
            Route("/healthz", monitoring.health, methods=["GET"]),
            Route("/metrics", meters.metrics, methods=["GET"]),
        ],
        open_paths=["/healthz"],
    )
