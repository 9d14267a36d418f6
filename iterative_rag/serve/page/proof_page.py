"""`/runs/ID`: the hops while they happen, then the proof of the answer with the cited article beside it, and what can
be kept of it: Markdown, JSON, and the proof as one file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from markupsafe import Markup
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from iterative_rag import __version__
from iterative_rag.app.proof.answer_export import as_markdown, to_try
from iterative_rag.app.proof.graph_svg import graph_svg, words
from iterative_rag.app.proof.proof_check import document_in
from iterative_rag.app.proof.proof_file import DocumentOf, proof_html, proof_json
from iterative_rag.app.proof.proof_graph import ProofNode, proof_graph
from iterative_rag.errors import CorpusError, UsageError
from iterative_rag.serve.api.responses import NotFound, query_of
from iterative_rag.serve.page.articles import ArticleView, article_view
from iterative_rag.serve.page.asking import conversation_of
from iterative_rag.serve.page.rendering import page
from iterative_rag.serve.runs.events import public_source
from iterative_rag.serve.runs.shown_run import ShownRun, shown_run
from iterative_rag.serve.services import Services, services_of
from iterative_rag.serve.step_notes import Note, step_notes
from iterative_rag.storage.output import fetch_commands
from iterative_rag.types import AnalysisStep, Answer, Citation, Document, ShortlistStep, Step

T = TypeVar("T")


class QuoteQuery(BaseModel):
    """The quote whose article is shown, and which part of it."""

    cite: int = Field(0, ge=0, le=999_999)
    part: int | None = Field(None, ge=0, le=999_999)


@dataclass(frozen=True, slots=True)
class ShownQuote:
    """A citation with the document that it is from, None where that is not in the corpus any more, and the text around
    it for reading. `moved`: the document changed, and the quote does not stand at its place."""

    citation: Citation
    document: Document | None
    view: ArticleView | None
    moved: bool


# Starlette calls these in a thread, since they are no coroutines: what they read and draw takes some milliseconds, in
# which the streams of other clients would stall.


def run(request: Request) -> Response:
    """The page of a run, as far as it has come; `cite` chooses the quote whose article is shown."""
    services, shown = services_of(request), _shown(request)
    answer = shown.answer
    if answer is None:
        return _hops_page(request, "live.html", shown)
    given = query_of(request, QuoteQuery)
    chosen = _chosen(given.cite, answer)
    turns = conversation_of(shown, services).turns
    graph = proof_graph(answer)
    at = next((n for n, turn in enumerate(turns) if turn.answer.run_id == shown.id), None)
    return page(
        request,
        "proof.html",
        run=shown,
        answer=answer,
        quote=_quote(services, shown, chosen, given) if chosen else None,
        graph=Markup(graph_svg(graph, _link)),
        nodes=[(node, words(graph, node)) for node in graph.nodes],
        standings=graph.standings,
        hops=run_story(shown.steps),
        asked=shown.question if at is None else turns[at].asked,
        before=turns[at - 1].answer.run_id if at else shown.follows,
        turns=turns,
        commands=fetch_commands(answer),
        steps=list(to_try(answer)),
    )


def hops(request: Request) -> Response:
    """The hops alone, with which the page of a live run is brought up to date."""
    return _hops_page(request, "hops.html", _shown(request))


def _hops_page(request: Request, template: str, shown: ShownRun) -> Response:
    return page(request, template, run=shown, hops=run_story(shown.steps))


def quote(request: Request) -> Response:
    """The article of a quote alone."""
    shown = _shown(request)
    chosen = _cited(shown.answered, request.path_params["n"])
    if chosen is None:
        raise NotFound("The answer has no such quote.")
    quoted = _quote(services_of(request), shown, chosen, query_of(request, QuoteQuery))
    return page(request, "article.html", run=shown, quote=quoted)


def stop(request: Request) -> Response:
    """Stop the run and go back to its page."""
    services = services_of(request)
    live = services.runs.get(request.path_params["id"])
    if live is None:
        raise UsageError("This run is over.")
    services.runs.stop(live)
    live.wait(1.0)
    return RedirectResponse(f"/runs/{live.id}", 303)


def _shown(request: Request) -> ShownRun:
    return shown_run(services_of(request), request.path_params["id"])


def _chosen(number: int, answer: Answer) -> Citation | None:
    """The citation of this number, else the last one that the text names, else the nearest passage."""
    named = [number, *map(int, re.findall(r"\[(\d{1,4})\]", answer.text))]
    cited = (citation for n in named if (citation := _cited(answer, n)))
    return next(cited, next(iter((*answer.citations, *answer.nearest)), None))


def _cited(answer: Answer, number: int) -> Citation | None:
    return next((citation for citation in (*answer.citations, *answer.nearest) if citation.n == number), None)


def _link(node: ProofNode) -> str:
    return f"?cite={node.citation}#article" if node.citation else ""


def _quote(services: Services, shown: ShownRun, citation: Citation, given: QuoteQuery) -> ShownQuote:
    document = _documents(services, shown)(citation)
    if document is None:
        return ShownQuote(citation, None, None, False)
    moved = document.text[citation.start : citation.end] != citation.quote
    start, end = (0, 0) if moved else (citation.start, citation.end)
    return ShownQuote(citation, document, article_view(document, start, end, part=given.part), moved)


def _documents(services: Services, run: ShownRun) -> DocumentOf:
    """The documents that the answer cites, None for one that the corpus does not hold any more."""
    try:
        return document_in(run.answered, services.pool.asked(run.corpus))
    except CorpusError:
        return lambda citation: None


# --- to keep -------------------------------------------------------------------------------------


def answer_json(request: Request) -> Response:
    """The answer, as `answer.schema.json` describes it, with its proof, which `iterative-rag verify` checks."""
    data, answer = _proof(request, proof_json)
    written = json.dumps(data, ensure_ascii=False, indent=1)
    return Response(written, media_type="application/json", headers=_attachment(answer, "json"))


def answer_markdown(request: Request) -> Response:
    """The answer as Markdown."""
    text = as_markdown(_shown(request).answered, public_source)
    return PlainTextResponse(text, media_type="text/markdown; charset=utf-8")


def proof_file(request: Request) -> Response:
    """The proof as one file, which `iterative-rag verify` checks."""
    html, answer = _proof(request, proof_html)
    return Response(html, media_type="text/html; charset=utf-8", headers=_attachment(answer, "html"))


def _proof(request: Request, made: Callable[..., T]) -> tuple[T, Answer]:
    """What `proof_json` or `proof_html` makes of the answer, and the answer."""
    shown = _shown(request)
    answer, documents = shown.answered, _documents(services_of(request), shown)
    return made(answer, documents, version=__version__, source=public_source), answer


def _attachment(answer: Answer, suffix: str) -> dict[str, str]:
    """The name under which a browser saves it: words of the question, which are plain letters."""
    words = re.findall(r"[a-z0-9]+", answer.question.lower())[:8]
    return {"content-disposition": f'attachment; filename="{"-".join(words) or "answer"}.{suffix}"'}


@dataclass(slots=True)
class HopStory:
    """One turn of the loop: the question that it began with, or else the need that it looked for."""

    n: int
    question: str = ""
    notes: list[Note] = field(default_factory=list)


def run_story(steps: Iterable[Step]) -> list[HopStory]:
    """The hops so far."""
    hops: dict[int, HopStory] = {}
    for step in steps:
        number: int = getattr(step, "hop", 0)
        if not number:
            continue
        hop = hops.setdefault(number, HopStory(number))
        if isinstance(step, AnalysisStep):
            hop.question = step.question
        elif isinstance(step, ShortlistStep):
            hop.question = hop.question or step.need.question
        hop.notes += step_notes(step)
    return [hops[number] for number in sorted(hops)]
