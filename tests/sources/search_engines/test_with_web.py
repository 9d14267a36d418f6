"""A question that only the web can answer: a stand-in wiki answers it where the user allows that, nobody otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest

from fakes.two_article_corpus import write_articles
from fakes.wikipedia_server import FakeWiki, Trouble
from iterative_rag import IterativeRAG
from iterative_rag.app.factory import index_paths
from iterative_rag.settings import Settings
from iterative_rag.types import Answer, FinalStep, Status, Step, WebStep

QUESTION = "Who won the 1931 Cape Ebb boat race?"
ARTICLE = "<p>The Cape Ebb boat race is held in Selmouth.</p><p>The 1931 Cape Ebb boat race was won by Oda Brenk.</p>"


@pytest.fixture
def wiki() -> Iterator[FakeWiki]:
    with FakeWiki() as running:
        running.add("Cape Ebb boat race", ARTICLE)
        yield running


# Of this the built-in reader makes facts that answer nothing.
NEAR = "The Selmouth regatta was rowed by many crews. In 1931 it was rowed near Cape Ebb, as the boat race was put off."


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two corpora: one has nothing of the question, the other comes near."""
    folder = tmp_path_factory.mktemp("web")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ITERATIVE_RAG_HOME", str(folder / "home"))
        for corpus in ("towns", "near"):
            write_articles(folder / corpus)
            if corpus == "near":
                (folder / corpus / "Selmouth regatta.md").write_text(
                    f"# Selmouth regatta\n\n{NEAR}\n", encoding="utf-8"
                )
            index_paths([folder / corpus], settings=Settings(corpus=corpus))
    return folder / "home"


@pytest.fixture(autouse=True)
def _at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(home))


def run(wiki: FakeWiki, strategy: str, *, web: bool, corpus: str = "towns") -> tuple[Answer, list[Step]]:
    engine = f"wikipedia@{wiki.api}"
    settings = Settings(llm="builtin", corpus=corpus, cache=False, web=web, search_engine=engine, max_hops=3)
    with closing(IterativeRAG.from_settings(settings)) as rag:
        *steps, last = rag.steps(QUESTION, strategy=strategy)
    assert isinstance(last, FinalStep)
    return last.answer, steps


STRATEGIES = ("naive", "crag", "self-rag", "plan", "iterative", "full")


@pytest.mark.parametrize("corpus", ["towns", "near"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_allowed_it_is_answered_and_cited_with_address_and_day(strategy: str, corpus: str, wiki: FakeWiki) -> None:
    answer, _ = run(wiki, strategy, web=True, corpus=corpus)
    assert (answer.status, answer.short_answer) == (Status.ANSWERED, "Oda Brenk")
    (citation,) = answer.citations
    assert citation.source == f"{wiki.url}/wiki/Cape_Ebb_boat_race"
    assert date.fromisoformat(citation.retrieved)
    searches = [asked["gsrsearch"].casefold() for asked in wiki.asked if "gsrsearch" in asked]
    assert len(set(searches)) == len(searches) > 0, "a query was sent twice"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_not_allowed_nobody_is_asked(strategy: str, wiki: FakeWiki) -> None:
    answer, steps = run(wiki, strategy, web=False)
    assert answer.status is Status.ABSTAINED
    assert wiki.asked == []
    assert not [step for step in steps if isinstance(step, WebStep)]


def test_a_search_that_fails_is_told_and_ends_nothing(wiki: FakeWiki) -> None:
    wiki.always = Trouble("status", 500)
    answer, steps = run(wiki, "crag", web=True)
    assert answer.status is Status.ABSTAINED
    assert "The web could not be searched (" in answer.reason
    (step,) = [step for step in steps if isinstance(step, WebStep)]
    assert "500" in step.skipped[0].message
