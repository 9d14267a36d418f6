"""The wider search of a run: what is asked, what is kept of a page, what is told of all that went wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import pytest

from fakes.in_memory import MemoryCorpus
from fakes.search_engine_server import answering, json_reply
from fakes.web_sites import sending, serving
from iterative_rag.app.factory.web_access import WebReader
from iterative_rag.engine import web_search
from iterative_rag.engine.web_search import OverlayCorpus, WebSearch
from iterative_rag.errors import CapReached, CorpusError, LLMUnreachable, ReplyUnreadable
from iterative_rag.protocols import Skipped
from iterative_rag.retrieval.quote_verification import locate
from iterative_rag.retrieval.windows import window
from iterative_rag.settings import Settings
from iterative_rag.sources.search_engines import SearXNG
from iterative_rag.types import Cap, Document, Grade, Label, Need, Rewording, SearchResult

NEED = Need("Who lit the lamp of Gull Point?")
OTHER = Need("How tall is the tower of Gull Point?")
FACT = "The lamp of Gull Point was first lit by Mara Quill."


class Corpus(MemoryCorpus):
    def close(self) -> None:
        pass


@dataclass
class Engine:
    """Lists `urls` for every query, or raises."""

    urls: Sequence[str] = ("https://a.example/", "https://b.example/")
    error: Exception | None = None
    gate: Callable[[], object] = lambda: None
    asked: list[tuple[str, int]] = field(default_factory=list)
    name: str = "scripted"

    def search(self, query: str, limit: int) -> list[SearchResult]:
        self.asked.append((query, limit))
        self.gate()
        if self.error:
            raise self.error
        return [SearchResult(f"Title of {url}", url) for url in self.urls]


@dataclass
class Shelf:
    """Pages by address; what is not on the shelf is skipped."""

    texts: dict[str, str]
    asked: list[str] = field(default_factory=list)

    def read(self, results: Sequence[SearchResult]) -> Iterable[Document | Skipped]:
        for result in results:
            self.asked.append(result.url)
            text = self.texts.get(result.url)
            if text is None:
                yield Skipped(result.url, "It answered with status 404.")
            else:
                yield Document(f"id of {text[:40]}", "Gull Point", text, result.url, result.url, (), "2025-02-01")


@dataclass
class Grading:
    """Good where the passage holds `word`."""

    word: str = "Mara Quill"
    errors: list[Exception] = field(default_factory=list)
    shown: list[list[str]] = field(default_factory=list)

    def grade(self, need: Need, texts: Sequence[tuple[str, str]]) -> tuple[Grade, ...]:
        self.shown.append([text for _, text in texts])
        if self.errors:
            raise self.errors.pop(0)
        return tuple(
            Grade(0.9, Label.PERFECT) if self.word in text else Grade(0.1, Label.AWFUL, "about other things")
            for _, text in texts
        )


@dataclass
class Rewriting:
    """A fixed query for each need, or an error."""

    queries: dict[str, str] = field(default_factory=dict)
    error: Exception | None = None

    def reword(self, need: Need, tried: Sequence[str]) -> Rewording:
        raise AssertionError("the web needs a query, no rewording")

    def web_query(self, need: Need) -> str:
        if self.error:
            raise self.error
        return self.queries.get(need.question, "gull point lamp first lit")


@dataclass
class Run:
    engine: Engine = field(default_factory=Engine)
    pages: Shelf = field(default_factory=lambda: Shelf({"https://a.example/": FACT, "https://b.example/": long_page()}))
    grader: Grading = field(default_factory=Grading)
    rewriter: Rewriting = field(default_factory=Rewriting)
    settings: Settings = field(default_factory=lambda: Settings(web=True))
    sparing: bool = False

    def __post_init__(self) -> None:
        self.corpus = OverlayCorpus(Corpus({}))
        self.search = WebSearch(
            self.engine,
            self.pages,
            self.corpus,
            rewriter=self.rewriter,
            grader=self.grader,
            settings=self.settings,
            sparing=self.sparing,
        )


def long_page(fact: str = FACT, at: int = 150, of: int = 200) -> str:
    """A page of `of` paragraphs, the fact in one of them."""
    lines = [
        f"Paragraph {n} tells of gulls, boats and the weather of the coast at some length. " * 4 for n in range(of)
    ]
    lines[at] = fact
    return "# Gull Point\n\n" + "\n\n".join(lines) + "\n"


def test_pages_become_documents_that_are_read_where_they_serve_the_need() -> None:
    run = Run()
    found = run.search.search_web(1, NEED)
    assert (found.engine, found.query, len(found.results)) == ("scripted", "gull point lamp first lit", 2)
    assert run.engine.asked == [("gull point lamp first lit", 3)]
    assert len(found.documents) == 2
    assert found.skipped == ()
    for entry in found.documents:
        document = run.corpus.document(entry.document_id)
        assert entry.score == 0.9
        assert (entry.source, document.retrieved) == (document.url, "2025-02-01")
        seen = window(document, entry, 2000)
        assert locate(FACT, document.text, seen.spans) is not None, "the window misses what the grader found"
        for hit in entry.hits:
            assert hit.document_id == entry.document_id
            assert FACT in document.text[hit.start : hit.end]


@pytest.mark.parametrize(("sparing", "most"), [(False, web_search.GRADED), (True, web_search.GRADED_SPARING)])
def test_a_long_page_is_graded_in_one_call_by_the_passages_nearest_to_the_need(sparing: bool, most: int) -> None:
    run = Run(engine=Engine(["https://b.example/"]), sparing=sparing)
    run.search.search_web(1, NEED)
    (shown,) = run.grader.shown
    assert len(shown) == most
    assert FACT in shown[0]


def test_the_best_page_comes_first_and_a_bad_one_is_told() -> None:
    texts = {
        "https://a.example/": "Boats only.",
        "https://b.example/": "Mara Quill was a keeper.",
        "https://c.example/": FACT,
    }

    class Finer(Grading):
        def grade(self, need: Need, texts: Sequence[tuple[str, str]]) -> tuple[Grade, ...]:
            scores = [1.0 if FACT in text else 0.5 if "Mara Quill" in text else 0.29 for _, text in texts]
            return tuple(Grade(score, Label.GOOD, "too little") for score in scores)

    run = Run(Engine(list(texts)), Shelf(texts), Finer())
    found = run.search.search_web(1, NEED)
    assert [entry.source for entry in found.documents] == ["https://c.example/", "https://b.example/"]
    assert [entry.score for entry in found.documents] == [1.0, 0.5]
    (fault,) = found.skipped
    assert "https://a.example/: nothing on it serves the need (too little)" in fault.message


def test_pages_that_cannot_be_read_are_told_and_never_missing() -> None:
    run = Run(engine=Engine(["https://a.example/", "https://gone.example/", "https://lost.example/"]))
    found = run.search.search_web(1, NEED)
    assert [entry.source for entry in found.documents] == ["https://a.example/"]
    assert [fault.title for fault in found.skipped] == [
        "Title of https://gone.example/",
        "Title of https://lost.example/",
    ]
    assert all("404" in fault.message for fault in found.skipped)


# --- once a run ------------------------------------------------------------------------------


def test_each_run_has_its_own_pages_and_leaves_the_corpus_alone() -> None:
    inner = MemoryCorpus({"Gull Point": "Gull Point has a lamp."})
    first, second = OverlayCorpus(inner), OverlayCorpus(inner)
    page = Document("web1", "Page", "Lit in 1857.", "https://a.example/1")
    first.add([page])
    assert (first.document("web1"), first.document("Gull Point")) == (page, inner.document("Gull Point"))
    assert first.search(["lamp", "1857"], 5) == inner.search(["lamp", "1857"], 5)
    with pytest.raises(CorpusError):
        second.document("web1")


def test_the_same_query_is_not_sent_twice_but_graded_for_each_need() -> None:
    run = Run(rewriter=Rewriting({OTHER.question: "Gull  Point LAMP first lit\n"}))
    first = run.search.search_web(1, NEED)
    again = run.search.search_web(1, OTHER)
    assert len(run.engine.asked) == 1
    assert run.pages.asked == ["https://a.example/", "https://b.example/"]
    assert again.results == first.results
    assert len(run.grader.shown) == 4


# --- the query and the models ----------------------------------------------------------------


def test_a_page_whose_grades_cannot_be_read_is_read_by_its_words() -> None:
    run = Run(
        engine=Engine(["https://b.example/"]), grader=Grading(errors=[ReplyUnreadable("No grades came.", reply="")])
    )
    found = run.search.search_web(1, NEED)
    assert "No grades came" in found.skipped[0].message
    (entry,) = found.documents
    document = run.corpus.document(entry.document_id)
    assert FACT in window(document, entry, 2000).text


@pytest.mark.parametrize("error", [CapReached(Cap.CALLS, 5), LLMUnreachable("The server cannot be reached.")])
def test_what_ends_a_run_is_not_swallowed(error: Exception) -> None:
    with pytest.raises(type(error)):
        Run(grader=Grading(errors=[error])).search.search_web(1, NEED)
    with pytest.raises(type(error)):
        Run(rewriter=Rewriting(error=error)).search.search_web(1, NEED)


# --- from a server's answer to a quote -------------------------------------------------------


def test_from_a_search_server_to_a_cited_quote_over_real_connections() -> None:
    page = f"<html><head><title>Gull Point</title></head><body><p>{FACT}</p></body></html>".encode()
    with serving(sending(page, Content_Type="text/html")) as (host, _):
        rows = [{"title": "Gull Point", "url": f"http://{host}/"}, {"title": "Router", "url": "http://192.168.0.1/"}]
        with answering(json_reply({"results": rows})) as there:
            corpus = OverlayCorpus(Corpus({}))
            search = WebSearch(
                SearXNG(there.url, "tests/1"),
                WebReader("tests/1", allow={host}),
                corpus,
                rewriter=Rewriting(),
                grader=Grading(),
                settings=Settings(web=True),
                sparing=True,
            )
            found = search.search_web(1, NEED)
    (entry,) = found.documents
    document = corpus.document(entry.document_id)
    assert document.source == f"http://{host}/"
    assert document.retrieved
    assert locate(FACT, document.text, window(document, entry, 4000).spans) is not None
    assert "not a public host" in found.skipped[0].message
