"""`/runs/ID`: the hops while they happen, then the proof of the answer with the cited article beside it, and what can
be kept of it: Markdown, JSON, and the proof as one file."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import quote as percent_encoded
from urllib.parse import urlencode

from markupsafe import Markup
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from iterative_rag import __version__
from iterative_rag.app.conversations import Turn
from iterative_rag.app.proof.answer_export import as_markdown
from iterative_rag.app.proof.graph_svg import graph_svg, words
from iterative_rag.app.proof.proof_file import proof_html, proof_json
from iterative_rag.app.proof.proof_graph import ProofNode, proof_graph
from iterative_rag.errors import CorpusError, UsageError
from iterative_rag.index.joint_corpus import corpus_and_id
from iterative_rag.serve.api.documents import opened_corpus
from iterative_rag.serve.api.responses import NotFound, query_of
from iterative_rag.serve.page.articles.article_view import ArticleView, article_view
from iterative_rag.serve.page.asking import conversation_of
from iterative_rag.serve.page.rendering import page
from iterative_rag.serve.page.run_story import run_story
from iterative_rag.serve.rag_pool import BUILTIN
from iterative_rag.serve.runs.public_text import public_source
from iterative_rag.serve.runs.shown_run import ShownRun, shown_run
from iterative_rag.serve.services import Services, services_of
from iterative_rag.storage.output import fetch_commands
from iterative_rag.types import Answer, Citation, Document, ReasonCode

T = TypeVar("T")


class QuoteQuery(BaseModel):
    """The quote whose article is shown, which part of it, and whether as its source."""

    cite: int = Field(0, ge=0, le=999_999)
    part: int | None = Field(None, ge=0, le=999_999)
    view: str = ""


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
    given = query_of(request, QuoteQuery)
    chosen = _chosen(given.cite, answer)
    quote = await asyncio.to_thread(_quote, services, shown, chosen, given) if chosen else None
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
            query = urlencode({"q": answer.question})
            yield f"What the corpus {name} has about it", f"/corpora/{percent_encoded(name)}?{query}", ""
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
    shown = await _shown(request)
    chosen = _cited(shown.answered, request.path_params["n"])
    if chosen is None:
        raise NotFound("The answer has no such quote.")
    given = query_of(request, QuoteQuery)
    quoted = await asyncio.to_thread(_quote, services_of(request), shown, chosen, given)
    return page(request, "article.html", run=shown, quote=quoted)


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
    part, as_source = given.part, given.view == "source"
    document = CitedDocuments(services, shown).of(citation)
    if document is None:
        return ShownQuote(citation, None, None, as_source, False)
    moved = document.text[citation.start : citation.end] != citation.quote
    start, end = (0, 0) if moved else (citation.start, citation.end)
    view = article_view(document, start, end, part=part, as_source=as_source)
    if not (view.marked or moved or as_source or part):  # all of it is markup
        as_source, view = True, article_view(document, start, end, as_source=True)
    return ShownQuote(citation, document, view, as_source, moved)


class CitedDocuments:
    """Looks documents up by the ids that the facts of the run name, else by title. Not for several threads at once."""

    def __init__(self, services: Services, run: ShownRun) -> None:
        self._services, self._name, answer = services, run.corpus, run.answered
        facts = (*(fact for hop in answer.hops for fact in hop.facts), *answer.facts)
        self._ids = {(fact.source, fact.title): fact.document_id for fact in facts}
        self._known: dict[tuple[str, str], Document | None] = {}

    def of(self, citation: Citation) -> Document | None:
        """None where the corpus does not hold the document, or is not served any more."""
        key = citation.source, citation.title
        if key not in self._known:
            self._known[key] = self._found(*key, citation.corpus)
        return self._known[key]

    def _found(self, source: str, title: str, cited_from: str) -> Document | None:
        """`cited_from` is the corpus of the citation, "" where only one was asked."""
        name, document_id = corpus_and_id(self._name, self._ids.get((source, title), ""))
        try:
            corpus = opened_corpus(self._services.pool, name if document_id else cited_from or name)
        except CorpusError:
            return None
        try:
            return corpus.document(document_id)
        except CorpusError:  # another version of the document
            pass
        try:
            documents = corpus.find(title)
        except CorpusError:
            return None
        same = (document for document in documents if source in (document.source, *document.copies))
        return next(same, documents[0] if len(documents) == 1 else None)


# --- to keep -------------------------------------------------------------------------------------


async def answer_json(request: Request) -> Response:
    """The answer, as `answer.schema.json` describes it, with its proof, which `iterative-rag verify` checks."""
    data, answer = await _proof(request, proof_json)
    written = json.dumps(data, ensure_ascii=False, indent=1)
    return Response(written, media_type="application/json", headers=_attachment(answer, "json"))


async def answer_markdown(request: Request) -> Response:
    """The answer as Markdown."""
    answer = (await _shown(request)).answered
    return PlainTextResponse(as_markdown(answer, public_source), media_type="text/markdown; charset=utf-8")


async def proof_file(request: Request) -> Response:
    """The proof as one file, which `iterative-rag verify` checks."""
    html, answer = await _proof(request, proof_html)
    return Response(html, media_type="text/html; charset=utf-8", headers=_attachment(answer, "html"))


async def _proof(request: Request, made: Callable[..., T]) -> tuple[T, Answer]:
    """What `proof_json` or `proof_html` makes of the answer, and the answer."""
    shown = await _shown(request)
    documents = CitedDocuments(services_of(request), shown)
    answer = shown.answered
    return await asyncio.to_thread(made, answer, documents.of, version=__version__, source=public_source), answer


def _attachment(answer: Answer, suffix: str) -> dict[str, str]:
    """The name under which a browser saves it: words of the question, which are plain letters."""
    words = re.findall(r"[a-z0-9]+", answer.question.lower())[:8]
    return {"content-disposition": f'attachment; filename="{"-".join(words) or "answer"}.{suffix}"'}
