"""`/runs/ID`: the hops while they happen, then the proof of the answer with the cited article beside it."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote as percent_encoded
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from iterative_rag.app.conversations import Turn
from iterative_rag.app.proof.graph_svg import graph_svg, words
from iterative_rag.app.proof.proof_graph import ProofNode, proof_graph
from iterative_rag.app.proof.setbacks import setbacks
from iterative_rag.errors import UsageError
from iterative_rag.serve.api.responses import NotFound
from iterative_rag.serve.page.articles.article_view import ArticleView, article_view
from iterative_rag.serve.page.cited_documents import CitedDocuments
from iterative_rag.serve.page.follow_up import conversation_of
from iterative_rag.serve.page.rendering import page
from iterative_rag.serve.page.run_story import run_story
from iterative_rag.serve.page.shown_run import ShownRun, shown_run
from iterative_rag.serve.rag_pool import BUILTIN
from iterative_rag.serve.services import Services, services_of
from iterative_rag.storage.output import fetch_commands
from iterative_rag.types import Answer, Citation, Document, ReasonCode

_MOST_DIGITS = 6


@dataclass(frozen=True, slots=True)
class ShownQuote:
    """A citation with the document that it is from, None where that is not in the corpus any more, and the text around
    it for reading. `moved`: the document changed, and the quote does not stand at its place."""

    citation: Citation
    document: Document | None
    view: ArticleView | None
    as_source: bool
    moved: bool


async def run(request: Request) -> Response:
    """The page of a run, as far as it has come; `cite` chooses the quote whose article is shown."""
    services = services_of(request)
    shown = await _shown(request)
    answer = shown.answer
    if answer is None:
        return await asyncio.to_thread(_hops_page, request, "live.html", shown)
    chosen = _chosen(request, answer)
    as_source = request.query_params.get("view") == "source"
    part = _number(request.query_params.get("part", ""))
    quote = await asyncio.to_thread(_quote, services, shown, chosen, part, as_source) if chosen else None
    turns = (await asyncio.to_thread(conversation_of, shown, services)).turns
    # Drawing takes some milliseconds, during which the streams of other clients would stall.
    return await asyncio.to_thread(_proof_page, request, shown, answer, quote, turns)


def _proof_page(
    request: Request,
    shown: ShownRun,
    answer: Answer,
    quote: ShownQuote | None,
    turns: Sequence[Turn],
) -> Response:
    graph = proof_graph(answer)
    at = next((n for n, turn in enumerate(turns) if turn.answer.run_id == shown.id), None)
    return page(
        request,
        "proof.html",
        run=shown,
        answer=answer,
        quote=quote,
        graph=Markup(graph_svg(graph, _link)),
        nodes=[(node, words(graph, node)) for node in graph.nodes],
        standings=graph.standings,
        setbacks=setbacks(answer, shown.steps),
        hops=run_story(shown.steps),
        asked=shown.question if at is None else turns[at].asked,
        before=turns[at - 1].answer.run_id if at else shown.follows,
        turns=turns,
        commands=fetch_commands(answer),
        steps=list(_next_steps(services_of(request), shown, answer)),
    )


def _next_steps(services: Services, run: ShownRun, answer: Answer) -> Iterator[tuple[str, str, str]]:
    """What may help after an ending without an answer: what to do, where on the page, and what to type instead where
    that is a matter of how the server is started."""
    asked = {"question": answer.question, "corpus": run.corpus, "backend": run.backend, "strategy": run.strategy}
    if answer.reason_code is ReasonCode.LIMIT and answer.cap:
        limit, most = (of.get(f"max_{answer.cap}") for of in (answer.settings, services.settings.model_dump()))
        if limit != most:
            yield "Ask it with the limits of this server", f"/?{urlencode(asked)}", ""
        elif isinstance(most, int | float):
            yield "A server with a higher limit", "", f"iterative-rag serve --max-{answer.cap} {2 * most:g}"
    if answer.reason_code is ReasonCode.NOT_IN_CORPUS:
        for name in services.pool.parts(run.corpus):
            found = urlencode({"q": answer.question})
            yield f"What the corpus {name} has about it", f"/corpora/{percent_encoded(name)}?{found}", ""
    if answer.reason_code is not ReasonCode.NOT_WORKED_OUT:
        return
    yield "Other words, or one fact at a time", "#follow-up", ""
    if run.backend != BUILTIN:
        if run.strategy == "iterative":
            yield "A strategy that checks more", f"/?{urlencode(asked | {'strategy': 'full'})}", ""
        return
    if llms := [name for name in services.pool.backends if name != BUILTIN]:
        yield f"The same with {llms[0]}", f"/?{urlencode(asked | {'backend': llms[0]})}", ""
    else:
        yield "A server with an LLM", "", "iterative-rag serve --llm ollama/llama3.1:8b"
    if not answer.settings.get("guess"):
        corpus = ["--corpus", run.corpus] if run.corpus else []
        yield "A guess, in a terminal", "", f"iterative-rag ask {shlex.join([answer.question, *corpus])} --guess"


async def hops(request: Request) -> Response:
    """The hops alone, with which the page of a live run is brought up to date."""
    return await asyncio.to_thread(_hops_page, request, "hops.html", await _shown(request))


def _hops_page(request: Request, template: str, shown: ShownRun) -> Response:
    return page(request, template, run=shown, hops=run_story(shown.steps))


async def quote(request: Request) -> Response:
    """The article of a quote alone."""
    services = services_of(request)
    shown = await _shown(request)
    if shown.answer is None:
        raise NotFound("This run has no answer.")
    chosen = _cited(shown.answer, request.path_params["n"])
    if chosen is None:
        raise NotFound("The answer has no such quote.")
    as_source = request.query_params.get("view") == "source"
    part = _number(request.query_params.get("part", ""))
    found = await asyncio.to_thread(_quote, services, shown, chosen, part, as_source)
    return page(request, "article.html", run=shown, quote=found)


async def stop(request: Request) -> Response:
    """Stop the run and go back to its page."""
    services = services_of(request)
    live = services.runs.get(request.path_params["id"])
    if live is None:
        raise UsageError("This run is over.")
    services.runs.stop(live)
    await asyncio.to_thread(live.wait, 1.0)
    return RedirectResponse(f"/runs/{live.id}", 303)


async def _shown(request: Request) -> ShownRun:
    return await asyncio.to_thread(shown_run, services_of(request), request.path_params["id"])


def _chosen(request: Request, answer: Answer) -> Citation | None:
    """The citation of the address, else the last one that the text names, else the nearest passage."""
    given = _number(request.query_params.get("cite", ""))
    if given and (cited := _cited(answer, given)):
        return cited
    named = [int(n) for n in re.findall(r"\[(\d{1,4})\]", answer.text)]
    return next(
        (one for n in named if (one := _cited(answer, n))), next(iter((*answer.citations, *answer.nearest)), None)
    )


def _cited(answer: Answer, number: int) -> Citation | None:
    return next((one for one in (*answer.citations, *answer.nearest) if one.n == number), None)


def _number(given: str) -> int | None:
    return int(given) if given.isascii() and given.isdecimal() and len(given) <= _MOST_DIGITS else None


def _link(node: ProofNode) -> str:
    return f"?cite={node.citation}#article" if node.citation else ""


def _quote(services: Services, shown: ShownRun, citation: Citation, part: int | None, as_source: bool) -> ShownQuote:
    assert shown.answer is not None
    document = CitedDocuments(services, shown.corpus, shown.answer).of(citation)
    if document is None:
        return ShownQuote(citation, None, None, as_source, False)
    moved = document.text[citation.start : citation.end] != citation.quote
    start, end = (0, 0) if moved else (citation.start, citation.end)
    view = article_view(document, start, end, part=part, as_source=as_source)
    if not (view.marked or moved or as_source or part):  # all of it is markup
        as_source, view = True, article_view(document, start, end, as_source=True)
    return ShownQuote(citation, document, view, as_source, moved)
