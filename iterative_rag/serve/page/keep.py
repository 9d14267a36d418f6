"""What can be kept of an answer: Markdown, JSON, and the proof as one file."""

from __future__ import annotations

import asyncio
import json
import re

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from iterative_rag import __version__
from iterative_rag.proof.answer_export import as_markdown
from iterative_rag.proof.proof_file import proof_html
from iterative_rag.serve.api.responses import NotFound
from iterative_rag.serve.page.cited_documents import CitedDocuments
from iterative_rag.serve.page.shown_run import shown_run
from iterative_rag.serve.runs.events import public_answer
from iterative_rag.serve.runs.public_text import public_source
from iterative_rag.serve.services import services_of
from iterative_rag.types import Answer


async def answer_json(request: Request) -> Response:
    """The answer as `answer.schema.json` describes it."""
    _, answer = await _answer(request)
    written = json.dumps(public_answer(answer), ensure_ascii=False, indent=1)
    return Response(written, media_type="application/json", headers=_attachment(answer, "json"))


async def answer_markdown(request: Request) -> Response:
    """The answer as Markdown."""
    _, answer = await _answer(request)
    return PlainTextResponse(as_markdown(answer, public_source), media_type="text/markdown; charset=utf-8")


async def proof_file(request: Request) -> Response:
    """The proof as one file, which `iterative-rag verify` checks."""
    services = services_of(request)
    corpus, answer = await _answer(request)
    documents = CitedDocuments(services, corpus, answer)
    html = await asyncio.to_thread(proof_html, answer, documents.of, version=__version__, source=public_source)
    return Response(html, media_type="text/html; charset=utf-8", headers=_attachment(answer, "html"))


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
