"""`/runs/ID/follow-up`: a question that goes on from an answer, in the conversation that all doors share."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from iterative_rag.app.conversations import Conversation, ConversationSession, ConversationStore
from iterative_rag.app.conversations.values import name_of, turn_of
from iterative_rag.app.factory import IterativeRAG, checked_question
from iterative_rag.errors import UsageError
from iterative_rag.serve.guards.client_limits import client_of
from iterative_rag.serve.page.ask_page import posted_fields
from iterative_rag.serve.page.shown_run import ShownRun, request_like, shown_run
from iterative_rag.serve.rag_pool import asked_only
from iterative_rag.serve.runs.run_manager import RunSinks, Work
from iterative_rag.serve.runs.run_request import RunRequest, checked_request
from iterative_rag.serve.services import Services, services_of
from iterative_rag.storage.output import recorded_parts
from iterative_rag.text.control_characters import without_controls
from iterative_rag.types import Step, Within


async def follow_up(request: Request) -> Response:
    """Start the run of a follow-up and go to its page. It is understood from the turns before it, or as `meaning` says,
    which is a question that stands alone, and kept within the part of the corpus that the run before it asked."""
    services = services_of(request)
    fields = await posted_fields(request)
    shown = await asyncio.to_thread(shown_run, services, request.path_params["id"])
    conversation = await asyncio.to_thread(conversation_of, shown, services)
    given = request_like(shown, services, fields.get("question", ""))
    asked = await asyncio.to_thread(checked_request, given, services.pool)
    meaning = without_controls(fields.get("meaning", "")).strip()
    meaning = checked_question(meaning) if meaning else ""
    parts = recorded_parts(shown.answer.settings) if shown.answer else ()
    run = services.runs.submit(
        replace(asked, follows=shown.id),
        client=client_of(request.scope),
        work=_going_on(asked, conversation, meaning, parts, keep=not services.options.read_only),
    )
    return RedirectResponse(f"/runs/{run.id}", 303)


def conversation_of(run: ShownRun, services: Services) -> Conversation:
    """The conversation that a run belongs to, without turns over corpora that are not served; one that begins with it
    where it was asked by itself. Raises UsageError where the run has no answer."""
    if run.answer is None:
        raise UsageError("Only an answer can be followed up.", hint="Wait for the end of the run.")
    if found := ConversationStore().of_run(run.id):
        served = services.pool.corpora()
        return replace(found, turns=tuple(turn for turn in found.turns if asked_only(turn.corpus, served)))
    return Conversation(name=name_of(run.question), turns=(turn_of(run.question, run.answer),))


def _going_on(
    asked: RunRequest, conversation: Conversation, meaning: str, parts: Sequence[Within], *, keep: bool
) -> Work:
    def work(rag: IterativeRAG, sinks: RunSinks) -> Iterator[Step]:
        for part in parts:
            rag = rag.over(rag.corpus, within=part)
        session = ConversationSession(rag, conversation, ConversationStore() if keep else None)
        return session.steps(
            asked.question,
            meaning=meaning,
            strategy=asked.strategy,
            progress=sinks.progress,
            written=sinks.written,
            run_id=sinks.run_id,
        )

    return work
