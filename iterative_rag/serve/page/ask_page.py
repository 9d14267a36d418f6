"""`/`: the form to ask with. It is also what starts a run where there is no JavaScript."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import islice
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from iterative_rag.errors import IterativeRAGError, UsageError
from iterative_rag.serve.api.responses import status_of
from iterative_rag.serve.guards.client_limits import client_of
from iterative_rag.serve.page.rendering import page
from iterative_rag.serve.runs.public_text import public_message
from iterative_rag.serve.runs.run_index import RunEntry
from iterative_rag.serve.runs.run_request import LIMITS, checked_request
from iterative_rag.serve.services import Services, services_of
from iterative_rag.settings import PRESETS
from iterative_rag.settings.choices import LENGTHS

_RECENT = 6
_MOST_FIELDS = 20
_TEXTS = ("question", "corpus", "backend", "strategy", "length", "preset")
_LABELS = {
    "max_hops": "Hops",
    "max_calls": "Model calls",
    "max_tokens": "Tokens",
    "max_seconds": "Seconds",
    "shortlist": "Documents for each need",
    "fact_limit": "Facts for each need",
}


async def form(request: Request) -> Response:
    """The empty form, or one with the question of the address."""
    given = {name: request.query_params.get(name, "") for name in _TEXTS}
    return await _form(request, given)


async def ask(request: Request) -> Response:
    """Start the run of the form and go to its page; the form again where something in it cannot be."""
    given = await posted_fields(request)
    services = services_of(request)
    try:
        asked = await asyncio.to_thread(checked_request, _as_request(given), services.pool)
        run = services.runs.submit(asked, client=client_of(request.scope))
    except IterativeRAGError as error:
        return await _form(request, given, error)
    return RedirectResponse(f"/runs/{run.id}", 303)


async def posted_fields(request: Request) -> dict[str, str]:
    """The fields of a form. Raises UsageError for any other body."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise UsageError("The body is not that of a form.", hint="Programs use POST /api/ask.")
    body = (await request.body()).decode("utf-8", "replace")
    try:
        fields = parse_qs(body, max_num_fields=_MOST_FIELDS, keep_blank_values=True)
    except ValueError as error:
        raise UsageError("The form has too many fields.") from error
    # The choice of the corpus, and a box for each other one that is to be asked with it.
    return {name: ",".join(values) if name == "corpus" else values[0] for name, values in fields.items()}


def _as_request(given: Mapping[str, str]) -> dict[str, Any]:
    """The form as the body of a request. Raises UsageError for a limit that is no number."""
    limits: dict[str, Any] = {}
    for name in LIMITS:
        if written := given.get(name, "").strip():
            try:
                limits[name] = float(written) if name == "max_seconds" else int(written)
            except ValueError as error:
                raise UsageError(f"{_LABELS[name]} must be a number.") from error
    return {name: given[name] for name in _TEXTS if given.get(name)} | {"limits": limits}


async def _form(request: Request, given: Mapping[str, str], error: IterativeRAGError | None = None) -> Response:
    services = services_of(request)
    corpora, recent = await asyncio.to_thread(lambda: (services.pool.corpora(), _recent(services)))
    limits = [(name, _LABELS[name], f"{getattr(services.settings, name):g}", given.get(name, "")) for name in LIMITS]
    return page(
        request,
        "ask.html",
        status_of(error) if error else 200,
        given={name: given.get(name, "") for name in _TEXTS},
        corpora=corpora,
        asked=services.pool.parts(given.get("corpus") or services.pool.default_corpus) or [""],
        backends=services.pool.backends,
        strategies=services.pool.strategies,
        default_strategy=services.settings.strategy,
        lengths=LENGTHS,
        default_length=services.settings.length,
        presets=tuple(PRESETS),
        limits=limits,
        recent=recent,
        message=public_message(str(error)) if error else "",
        hint=public_message(error.hint) if error else "",
    )


def _recent(services: Services) -> list[RunEntry]:
    return list(islice(services.history.runs(services.pool.corpora()), _RECENT))
