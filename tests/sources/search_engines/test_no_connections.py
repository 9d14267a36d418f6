"""Without `web` nothing leaves the machine: a whole run while every connection and look-up is recorded."""

from __future__ import annotations

import socket
import threading
from contextlib import closing, suppress
from pathlib import Path

import pytest

from fakes.audit_watch import watched
from fakes.two_article_corpus import QUESTION, write_articles
from iterative_rag import IterativeRAG
from iterative_rag.app.factory import index_paths
from iterative_rag.app.factory.web_access import make_web
from iterative_rag.registry import STRATEGIES
from iterative_rag.settings import Settings

NOWHERE = "Who won the boat race of Cape Ebb in 1931?"


def _try(what: str) -> None:
    """What a leak would do. The tests' own guard stops it, after the watch has seen it."""
    with suppress(Exception):
        if what == "look up":
            socket.getaddrinfo("example.org", 443)
        elif what == "connect":
            import _socket

            with closing(_socket.socket()) as raw:
                raw.settimeout(0.01)
                raw.connect(("192.0.2.1", 9))
        elif what == "send":
            import _socket

            with closing(_socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)) as raw:
                raw.sendto(b"x", ("192.0.2.1", 9))
        elif what == "import":
            import ddgs  # noqa: F401


@pytest.mark.parametrize("what", ["look up", "connect", "send", "import"])
@pytest.mark.parametrize("elsewhere", [False, True])
def test_the_watch_notices(what: str, elsewhere: bool) -> None:
    if what == "import":
        pytest.importorskip("ddgs")
    with watched() as watch:
        if elsewhere:
            thread = threading.Thread(target=_try, args=(what,))
            thread.start()
            thread.join()
        else:
            _try(what)
    assert watch.seen


@pytest.mark.parametrize("engine", ["wikipedia", "duckduckgo", "tavily", "searxng@http://192.0.2.1:8888"])
def test_without_web_no_engine_is_built(engine: str) -> None:
    with watched() as watch:
        assert make_web(Settings(search_engine=engine)) is None
    assert watch.seen == []


def test_without_web_a_whole_run_stays_on_the_machine(tmp_path: Path) -> None:
    """From the first document to the answer, by every strategy, for what the corpus holds and what it does not."""
    write_articles(tmp_path / "articles")
    settings = Settings(llm="builtin", corpus="towns", cache=False, max_hops=3)
    with watched() as watch:
        index_paths([tmp_path / "articles"], settings=settings)
        with closing(IterativeRAG.from_settings(settings)) as rag:
            for strategy in set(STRATEGIES.offered) - {"agent"}:  # which needs an LLM
                for question in (QUESTION, NOWHERE):
                    rag.ask(question, strategy=strategy)
                    assert watch.seen == [], f"{strategy} of {question!r}"
