"""`/runs/ID/edit`: another version of a run, in which a fact or a need was corrected, pinned or struck."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from iterative_rag.app.factory import IterativeRAG
from iterative_rag.errors import UsageError
from iterative_rag.serve.guards.client_limits import client_of
from iterative_rag.serve.page.ask_page import posted_fields
from iterative_rag.serve.page.shown_run import request_like, shown_run
from iterative_rag.serve.runs.run_manager import RunSinks, Work
from iterative_rag.serve.runs.run_request import checked_request
from iterative_rag.serve.services import services_of
from iterative_rag.text.control_characters import without_controls
from iterative_rag.types import Edit, EditKind, FactEdit, NeedEdit, Revision, Step

_MOST_DIGITS = 4


async def edit(request: Request) -> Response:
    """Start the other version and go to its page. Raises UsageError for an edit that cannot be made."""
    services = services_of(request)
    if services.options.read_only:
        raise UsageError("This server changes nothing (--read-only).")
    fields = await posted_fields(request)
    shown = await asyncio.to_thread(shown_run, services, request.path_params["id"])
    if shown.answer is None:
        raise UsageError("Only a run that has ended can be edited.")
    revision = Revision(shown.answer, _edit(fields))
    given = request_like(shown, services, shown.question)
    asked = await asyncio.to_thread(checked_request, given, services.pool)
    rag = await asyncio.to_thread(services.pool.rag, asked.corpus, asked.backend)
    await asyncio.to_thread(rag.check_revision, revision)
    run = services.runs.submit(asked, client=client_of(request.scope), work=_revising(revision, shown.strategy))
    return RedirectResponse(f"/runs/{run.id}", 303)


def _revising(revision: Revision, strategy: str) -> Work:
    def work(rag: IterativeRAG, sinks: RunSinks) -> Iterator[Step]:
        return rag.revised_steps(
            revision, strategy=strategy, progress=sinks.progress, written=sinks.written, run_id=sinks.run_id
        )

    return work


def _edit(fields: Mapping[str, str]) -> Edit:
    """The edit of a form. Raises UsageError."""
    try:
        kind = EditKind(fields.get("kind", ""))
    except ValueError as error:
        raise UsageError("An edit is correct, pin or strike.") from error
    said = {name: without_controls(fields.get(name, "")).strip() for name in ("value", "quote", "question")}
    hop = _number(fields, "hop")
    if "fact" in fields:
        return FactEdit(hop, _number(fields, "fact"), kind, said["value"], said["quote"])
    return NeedEdit(hop, _number(fields, "need"), kind, said["question"])


def _number(fields: Mapping[str, str], name: str) -> int:
    given = fields.get(name, "")
    if not (given.isascii() and given.isdecimal() and len(given) <= _MOST_DIGITS):
        raise UsageError(f"{name!r} is the number of a {name}.")
    return int(given)
