"""`/`, `/ask`, `/runs/ID/edit` and `/runs/ID/follow-up`: the form to ask with, another version of a run, in which a
fact or a need was corrected, pinned or struck, and a question that goes on from an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any
from urllib.parse import parse_qs

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from iterative_rag.app.conversations import Conversation, ConversationSession, ConversationStore
from iterative_rag.app.conversations.values import name_of, turn_of
from iterative_rag.app.factory import IterativeRAG, checked_question
from iterative_rag.errors import IterativeRAGError, UsageError
from iterative_rag.registry import STRATEGIES
from iterative_rag.serve.api.responses import status_of
from iterative_rag.serve.guard import client_of
from iterative_rag.serve.page.rendering import page
from iterative_rag.serve.rag_pool import asked_only
from iterative_rag.serve.runs.events import public_message
from iterative_rag.serve.runs.run_manager import Work
from iterative_rag.serve.runs.run_request import CHOICES, LIMITS, RunRequest, Text, checked, checked_request
from iterative_rag.serve.runs.shown_run import ShownRun, runs_of_the_past, shown_run
from iterative_rag.serve.services import Services, services_of
from iterative_rag.settings.model import LENGTHS
from iterative_rag.storage.output import recorded_parts
from iterative_rag.text.control_characters import without_controls
from iterative_rag.types import EditKind, FactEdit, NeedEdit, Revision, Step, Within

_RECENT = 6
_MOST_FIELDS = 20
_TEXTS = ("question", "corpus", "backend", "strategy", "length")


class EditForm(BaseModel):
    """An edit of a fact of a hop, or of a need."""

    kind: EditKind
    hop: int = Field(ge=0, le=9999)
    fact: int | None = Field(None, ge=0, le=9999)
    need: int | None = Field(None, ge=0, le=9999)
    value: Text = ""
    quote: Text = ""
    question: Text = ""


def form(request: Request) -> Response:
    """The empty form, or one with the question of the address."""
    return _form(request, request.query_params)


async def ask(request: Request) -> Response:
    """Start the run of the form and go to its page; the form again where something in it cannot be."""
    given = await posted_fields(request)
    services = services_of(request)
    try:
        asked = await asyncio.to_thread(
            checked_request, {name: given[name] for name in _TEXTS if given.get(name)}, services.pool
        )
        return _started(request, asked)
    except IterativeRAGError as error:
        return await asyncio.to_thread(_form, request, given, error)


def _started(request: Request, asked: RunRequest, work: Work | None = None) -> Response:
    """Start a run, and go to its page."""
    run = services_of(request).runs.submit(asked, client=client_of(request.scope), work=work)
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


async def changing_fields(request: Request) -> dict[str, str]:
    """The fields of a form that changes what is stored. Raises UsageError where the server changes nothing."""
    if services_of(request).options.read_only:
        raise UsageError("This server changes nothing (--read-only).")
    return await posted_fields(request)


def _form(request: Request, given: Mapping[str, str], error: IterativeRAGError | None = None) -> Response:
    services = services_of(request)
    pool, settings = services.pool, services.pool.settings
    return page(
        request,
        "ask.html",
        status_of(error) if error else 200,
        given={name: given.get(name, "") for name in _TEXTS},
        corpora=pool.corpora(),
        asked=pool.parts(given.get("corpus") or pool.default_corpus) or [""],
        backends=pool.backends,
        strategies=pool.strategies,
        default_strategy=settings.strategy,
        lengths=LENGTHS,
        default_length=settings.length,
        recent=list(islice(runs_of_the_past(pool), _RECENT)),
        message=public_message(str(error)) if error else "",
        hint=public_message(error.hint) if error else "",
    )


# --- from a run that was -------------------------------------------------------------------------


def _request_like(shown: ShownRun, services: Services, question: str) -> RunRequest:
    """A request that asks as the run was asked: its corpus, strategy, languages and length, its limits as far as this
    server allows them, and its backend where that is still offered."""
    given: dict[str, object] = {"question": question, "corpus": shown.corpus}
    if shown.answer:
        used = {name: (shown.answer.settings.get(name), getattr(services.pool.settings, name)) for name in LIMITS}
        given["limits"] = {
            name: type(most)(value)
            for name, (value, most) in used.items()
            if isinstance(value, int | float) and 0 < value < most
        }
        # An answer of an earlier version has not all of them.
        given |= {name: shown.answer.settings[name] for name in CHOICES if name in shown.answer.settings}
    if shown.backend in services.pool.backends:
        given["backend"] = shown.backend
    if shown.strategy in STRATEGIES.offered:
        given["strategy"] = shown.strategy
    return checked_request(given, services.pool)


async def edit(request: Request) -> Response:
    """Start the other version and go to its page. Raises UsageError for an edit that cannot be made."""
    services = services_of(request)
    given = checked(EditForm, await changing_fields(request))
    shown = await asyncio.to_thread(shown_run, services, request.path_params["id"])
    if shown.answer is None:
        raise UsageError("Only a run that has ended can be edited.")
    if given.fact is not None:
        change: FactEdit | NeedEdit = FactEdit(
            given.hop, given.fact, given.kind, given.value.strip(), given.quote.strip()
        )
    elif given.need is not None:
        change = NeedEdit(given.hop, given.need, given.kind, given.question.strip())
    else:
        raise UsageError("An edit is that of a fact or of a need.")
    revision = Revision(shown.answer, change)
    asked = await asyncio.to_thread(_request_like, shown, services, shown.question)
    rag = await asyncio.to_thread(services.pool.rag, asked.corpus, asked.backend)
    await asyncio.to_thread(rag.check_revision, revision)

    def work(rag: IterativeRAG, told: Mapping[str, Any]) -> Iterator[Step]:
        return rag.revised_steps(revision, strategy=shown.strategy, **told)

    return _started(request, asked, work)


async def follow_up(request: Request) -> Response:
    """Start the run of a follow-up and go to its page. It is understood from the turns before it, or as `meaning` says,
    which is a question that stands alone, and kept within the part of the corpus that the run before it asked."""
    services = services_of(request)
    fields = await posted_fields(request)
    shown = await asyncio.to_thread(shown_run, services, request.path_params["id"])
    conversation = await asyncio.to_thread(conversation_of, shown, services)
    asked = await asyncio.to_thread(_request_like, shown, services, fields.get("question", ""))
    meaning = without_controls(fields.get("meaning", "")).strip()
    meaning = checked_question(meaning) if meaning else ""
    parts: Sequence[Within] = recorded_parts(shown.answer.settings) if shown.answer else ()
    kept = None if services.options.read_only else ConversationStore()

    def work(rag: IterativeRAG, told: Mapping[str, Any]) -> Iterator[Step]:
        for part in parts:
            rag = rag.over(rag.corpus, within=part)
        session = ConversationSession(rag, conversation, kept)
        return session.steps(asked.question, meaning=meaning, strategy=asked.strategy, **told)

    return _started(request, replace(asked, follows=shown.id), work)


def conversation_of(run: ShownRun, services: Services) -> Conversation:
    """The conversation that a run belongs to, without turns over corpora that are not served; one that begins with it
    where it was asked by itself. Raises UsageError where the run has no answer."""
    if run.answer is None:
        raise UsageError("Only an answer can be followed up.", hint="Wait for the end of the run.")
    if stored := ConversationStore().of_run(run.id):
        served = services.pool.corpora()
        return replace(stored, turns=tuple(turn for turn in stored.turns if asked_only(turn.corpus, served)))
    return Conversation(name=name_of(run.question), turns=(turn_of(run.question, run.answer),))
