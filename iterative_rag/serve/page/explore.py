"""`/corpora`, their search and articles, `/history` and `/compare`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from iterative_rag.app.factory import corpora as corpora_on_disk
from iterative_rag.errors import CorpusNotFound, UsageError
from iterative_rag.index.filters import search_filtered
from iterative_rag.serve.api.documents import document_of, opened_corpus
from iterative_rag.serve.api.responses import whole_number
from iterative_rag.serve.page.articles.article_links import article_links
from iterative_rag.serve.page.articles.article_view import article_view
from iterative_rag.serve.page.ask_page import posted_fields
from iterative_rag.serve.page.rendering import page
from iterative_rag.serve.page.run_story import HopStory, run_story
from iterative_rag.serve.page.shown_run import ShownRun, shown_run
from iterative_rag.serve.rag_pool import RagPool
from iterative_rag.serve.runs.run_index import RunEntry
from iterative_rag.serve.services import Services, services_of
from iterative_rag.storage.past_runs import delete, run_of_id
from iterative_rag.text.control_characters import without_controls
from iterative_rag.types import Hit

_HITS, _TITLES, _RUNS = 12, 400, 30
_LONGEST_QUERY = 2000
_CITING = 5


@dataclass(frozen=True, slots=True)
class CorpusCard:
    """`documents` is None for a corpus that is indexed when it is first asked."""

    name: str
    documents: int | None
    passages: int = 0
    state: str = ""
    updated: str = ""


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A passage that a search found, with its text."""

    hit: Hit
    text: str


async def corpora(request: Request) -> Response:
    """The corpora that can be asked."""
    services = services_of(request)
    cards = await asyncio.to_thread(lambda: [_card(name, services.pool) for name in services.pool.corpora()])
    return page(request, "corpora.html", cards=cards)


async def corpus(request: Request) -> Response:
    """A corpus: what a search in it finds, with scores, or its titles."""
    services, name = services_of(request), request.path_params["name"]
    query = without_controls(request.query_params.get("q", "")).strip()[:_LONGEST_QUERY]
    beginning = without_controls(request.query_params.get("title", "")).strip()[:200]
    offset = whole_number(request, "offset", 0, 100_000_000)
    hits = await asyncio.to_thread(_found, services, name, query) if query else []
    titles, total = await asyncio.to_thread(_titles, services, name, beginning, offset)
    return page(
        request,
        "corpus.html",
        name=name,
        query=query,
        hits=hits,
        beginning=beginning,
        titles=titles,
        total=total,
        offset=offset,
        step=_TITLES,
    )


async def document(request: Request) -> Response:
    """An article: its text with a passage marked, what it links to, and what cites it."""
    services, name = services_of(request), request.path_params["name"]
    start, end = (whole_number(request, edge, 0, 1_000_000_000) for edge in ("start", "end"))
    part = whole_number(request, "part", 0, 1_000_000) or None
    as_source = request.query_params.get("view") == "source"
    found = await asyncio.to_thread(document_of, services.pool, name, request.path_params["id"])
    view = await asyncio.to_thread(article_view, found, start, max(start, end), part=part, as_source=as_source)
    opened = await asyncio.to_thread(opened_corpus, services.pool, name)
    links = await asyncio.to_thread(article_links, opened, found)
    citing = await asyncio.to_thread(_citing, services, name, found.title)
    return page(
        request,
        "document.html",
        name=name,
        document=found,
        view=view,
        as_source=as_source,
        links=links,
        citing=citing,
    )


async def history(request: Request) -> Response:
    """Earlier questions, with the words of `q` in question or answer."""
    services = services_of(request)
    words = without_controls(request.query_params.get("q", "")).strip()[:_LONGEST_QUERY]
    offset = whole_number(request, "offset", 0, 100_000_000)
    runs = await asyncio.to_thread(_runs, services, words, offset)
    live = [run for run in services.runs.all() if not run.over]
    return page(
        request,
        "history.html",
        words=words,
        runs=runs[:_RUNS],
        more=len(runs) > _RUNS,
        offset=offset,
        step=_RUNS,
        live=live if not words and not offset else [],
    )


async def forget(request: Request) -> Response:
    """Delete the trace of a run."""
    services = services_of(request)
    if services.options.read_only:
        raise UsageError("This server changes nothing (--read-only).")
    await posted_fields(request)
    shown = await asyncio.to_thread(shown_run, services, request.path_params["id"])
    if shown.live:
        raise UsageError("This run goes on.", hint="Stop it first.")
    await asyncio.to_thread(lambda: delete([run_of_id(shown.id)]))
    return RedirectResponse("/history", 303)


async def compare(request: Request) -> Response:
    """Two runs side by side. Without `b`: a choice among the other runs of the same question."""
    services = services_of(request)
    names = [request.query_params.get(side, "") for side in ("a", "b")]
    if not names[0]:
        raise UsageError("Two runs are compared: choose them in the history.")
    first = await asyncio.to_thread(shown_run, services, names[0])
    if not names[1]:
        others = await asyncio.to_thread(_others, services, first)
        return page(request, "choose.html", run=first, others=others)
    second = await asyncio.to_thread(shown_run, services, names[1])
    return await asyncio.to_thread(_side_by_side, request, first, second)


def _card(name: str, pool: RagPool) -> CorpusCard:
    try:
        info = corpora_on_disk(pool.settings.index).info(name)
    except CorpusNotFound:
        return CorpusCard(name, None)
    return CorpusCard(
        name, info.documents, info.passages, str(info.state), str(info.updated or "")[:16].replace("T", " ")
    )


def _side_by_side(request: Request, first: ShownRun, second: ShownRun) -> Response:
    sides: list[tuple[ShownRun, list[HopStory]]] = [(run, run_story(run.steps)) for run in (first, second)]
    told, others = ({need.told for hop in hops for need in hop.needs} for _, hops in sides)
    return page(request, "compare.html", sides=sides, same=told & others, differences=_differences(first, second))


def _found(services: Services, name: str, query: str) -> list[ShownHit]:
    opened = opened_corpus(services.pool, name)
    return [
        ShownHit(hit, opened.document(hit.document_id).text[hit.start : hit.end])
        for hit in search_filtered(opened, query, _HITS, services.pool.settings.within)
    ]


def _titles(services: Services, name: str, beginning: str, offset: int) -> tuple[list[tuple[str, str]], int]:
    """Ids and titles of the documents that begin so, and how many there are."""
    start = beginning.casefold()
    entries = [
        entry for entry in opened_corpus(services.pool, name).catalogue() if entry.title.casefold().startswith(start)
    ]
    return [(entry.id, entry.title) for entry in entries[offset : offset + _TITLES]], len(entries)


def _runs(services: Services, words: str, offset: int) -> list[RunEntry]:
    found = services.history.runs(services.pool.corpora(), words)
    return list(islice(found, offset, offset + _RUNS + 1))


def _citing(services: Services, name: str, title: str) -> list[RunEntry]:
    """The newest answers of this corpus, or of several with it, that cite the document."""
    runs = services.history.runs(services.pool.corpora())
    return list(islice((run for run in runs if title in run.cited and name in run.corpus.split(",")), _CITING))


def _others(services: Services, run: ShownRun) -> Sequence[RunEntry]:
    return [one for one in _runs(services, run.question, 0) if one.question == run.question and one.run_id != run.id]


def _differences(first: ShownRun, second: ShownRun) -> list[tuple[str, str, str]]:
    """What is compared, and what it is in each of both."""
    rows = [
        ("Strategy", first.strategy, second.strategy),
        ("Model", first.backend, second.backend),
        ("Ending", *(_ending(run) for run in (first, second))),
        ("Answer", *(run.answer.short_answer if run.answer else "" for run in (first, second))),
    ]
    usages = [run.answer.usage if run.answer else None for run in (first, second)]
    rows.append(("Hops", *(str(len(run.answer.hops)) if run.answer else "" for run in (first, second))))
    rows.append(("Calls", *(str(usage.llm_calls) if usage else "" for usage in usages)))
    tokens = (f"{usage.prompt_tokens + usage.completion_tokens:,}" if usage else "" for usage in usages)
    rows.append(("Tokens", *tokens))
    rows.append(("From the cache", *(str(usage.cache_hits) if usage else "" for usage in usages)))
    rows.append(("Seconds", *(f"{usage.seconds:.1f}" if usage else "" for usage in usages)))
    return [(what, one, other) for what, one, other in rows]


def _ending(run: ShownRun) -> str:
    if run.answer is None:
        return run.state
    word = run.answer.confidence_word
    return f"{run.answer.status}{f', {word}' if word else ''}"
