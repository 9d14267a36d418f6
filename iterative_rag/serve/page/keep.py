"""What can be kept of an answer: Markdown, JSON, and the proof as one file."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from iterative_rag import __version__
from iterative_rag.app.proof.answer_export import as_markdown
from iterative_rag.app.proof.proof_file import proof_html, proof_json
from iterative_rag.serve.api.responses import NotFound
from iterative_rag.serve.page.cited_documents import CitedDocuments
from iterative_rag.serve.page.shown_run import shown_run
from iterative_rag.serve.runs.public_text import public_ending, public_source
from iterative_rag.serve.services import services_of
from iterative_rag.types import Answer

T = TypeVar("T")


async def answer_json(request: Request) -> Response:
    """The answer, as `answer.schema.json` describes it, with its proof, which `iterative-rag verify` checks."""
    data, answer = await _proof(request, proof_json)
    written = json.dumps(data, ensure_ascii=False, indent=1)
    return Response(written, media_type="application/json", headers=_attachment(answer, "json"))


async def answer_markdown(request: Request) -> Response:
    """The answer as Markdown."""
    _, answer = await _answer(request)
    return PlainTextResponse(as_markdown(answer, public_source), media_type="text/markdown; charset=utf-8")


async def proof_file(request: Request) -> Response:
    """The proof as one file, which `iterative-rag verify` checks."""
    html, answer = await _proof(request, proof_html)
    return Response(html, media_type="text/html; charset=utf-8", headers=_attachment(answer, "html"))


async def _proof(request: Request, made: Callable[..., T]) -> tuple[T, Answer]:
    """What `proof_json` or `proof_html` makes of the answer, and the answer."""
    corpus, answer = await _answer(request)
    documents = CitedDocuments(services_of(request), corpus, answer)
    public = public_ending(answer)
    return await asyncio.to_thread(made, public, documents.of, version=__version__, source=public_source), answer


async def _answer(request: Request) -> tuple[str, Answer]:
    """The corpus that was asked, and the answer."""
    shown = await asyncio.to_thread(shown_run, services_of(request), request.path_params["id"])
    if shown.answer is None:
        raise NotFound("This run has no answer.")
    return shown.corpus, shown.answer


def _attachment(answer: Answer, suffix: str) -> dict[str, str]:
    """The name under which a browser saves it: words of the question, which are plain letters."""
    words = re.findall(r"[a-z0-9]+", answer.question.lower())[:8]
    return {"content-disposition": f'attachment; filename="{"-".join(words) or "answer"}.{suffix}"'}
