"""`/runs/ID/follow-up`: a question that goes on from an answer, in the conversation that all doors share."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from iterative_rag.conversations import Conversation, ConversationSession, ConversationStore
from iterative_rag.conversations.values import name_of, turn_of
from iterative_rag.errors import UsageError
from iterative_rag.factory import IterativeRAG
from iterative_rag.serve.guards.client_limits import client_of
from iterative_rag.serve.page.ask_page import posted_fields
from iterative_rag.serve.page.shown_run import ShownRun, shown_run
from iterative_rag.serve.runs.run_manager import RunSinks, Work
from iterative_rag.serve.runs.run_request import checked_request
from iterative_rag.serve.services import services_of
from iterative_rag.types import Step


async def follow_up(request: Request) -> Response:
    """Start the run of a follow-up and go to its page. It is understood from the turns before it."""
    services = services_of(request)
    fields = await posted_fields(request)
    shown = await asyncio.to_thread(shown_run, services, request.path_params["id"])
    conversation = await asyncio.to_thread(conversation_of, shown)
    given = {"question": fields.get("question", ""), "corpus": shown.corpus}
    # The backend may be another one by now: then the default goes on.
    if shown.backend in services.pool.backends:
        given["backend"] = shown.backend
    asked = await asyncio.to_thread(checked_request, given, services.pool)
    work = _going_on(asked.question, conversation, keep=not services.options.read_only)
    run = services.runs.submit(asked, client=client_of(request.scope), work=work)
    return RedirectResponse(f"/runs/{run.id}", 303)


def conversation_of(run: ShownRun) -> Conversation:
    """The conversation that a run belongs to; one that begins with it where it was asked by itself. Raises UsageError
    where the run has no answer."""
    if run.answer is None:
        raise UsageError("Only an answer can be followed up.", hint="Wait for the end of the run.")
    if found := ConversationStore().of_run(run.id):
        return found
    return Conversation(name=name_of(run.question), turns=(turn_of(run.question, run.answer),))


def _going_on(question: str, conversation: Conversation, *, keep: bool) -> Work:
    def work(rag: IterativeRAG, sinks: RunSinks) -> Iterator[Step]:
        session = ConversationSession(rag, conversation, ConversationStore() if keep else None)
        return session.steps(question, progress=sinks.progress, run_id=sinks.run_id)

    return work
