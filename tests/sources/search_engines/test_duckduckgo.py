"""DuckDuckGo, through the real `ddgs` package."""

from __future__ import annotations

from typing import Any

import pytest

from iterative_rag.errors import FetchError
from iterative_rag.sources.search_engines import search_engine
from tests.sources.search_engines.lamp_results import AGENT, LAMPS


class Page:
    """What the package's HTTP client gives back."""

    def __init__(self, text: str, status: int = 200) -> None:
        self.text, self.content, self.status_code = text, text.encode(), status


def results_page(*rows: tuple[str, str]) -> str:
    entries = "".join(
        f'<div class="body"><h2>{title}</h2><a href="{url}">Lit in 1857.</a></div>' for title, url in rows
    )
    return f"<html><body>{entries}</body></html>"


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Requests that the package would send; each is answered with the page that `Page` stands for."""
    pytest.importorskip("ddgs")
    from ddgs.http_client import HttpClient

    sent: list[tuple[Any, ...]] = []

    def request(self: object, *args: Any, **kwargs: Any) -> Page:
        sent.append((*args, kwargs))
        return Page(results_page(*LAMPS))

    monkeypatch.setattr(HttpClient, "request", request)
    return sent


def test_duckduckgo_asks_duckduckgo_and_nobody_else(dialled: list[tuple[Any, ...]]) -> None:
    """The package asks many engines where it does not know the one that was named."""
    found = search_engine("duckduckgo", AGENT).search("lamp of Gull Point", 2)
    assert {(one.title, one.url) for one in found} == set(LAMPS)
    assert [(method, url.split("/")[2]) for method, url, _ in dialled] == [("POST", "html.duckduckgo.com")]
    assert dialled[0][2]["data"]["q"] == "lamp of Gull Point"


def _answering(monkeypatch: pytest.MonkeyPatch, answer: object) -> list[dict[str, Any]]:
    # The class itself: what `ddgs` exports is a proxy until its first use, and a patch of that would not be seen.
    real = pytest.importorskip("ddgs.ddgs").DDGS
    asked: list[dict[str, Any]] = []

    def text(self: object, query: str, **more: Any) -> Any:
        asked.append({"query": query, **more})
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(real, "text", text)
    return asked


@pytest.mark.parametrize(
    ("kind", "message", "match"),
    [
        ("DDGSException", "No results found.", "listed nothing: No results found"),
        ("DDGSException", "RequestError: \x1b[31mconnection\nrefused", "connection refused"),
        ("TimeoutException", "timed out", "listed nothing: timed out"),
        ("RatelimitException", "202 Ratelimit", "listed nothing: 202 Ratelimit"),
    ],
)
def test_duckduckgos_faults(kind: str, message: str, match: str, monkeypatch: pytest.MonkeyPatch) -> None:
    exceptions = pytest.importorskip("ddgs.exceptions")
    _answering(monkeypatch, getattr(exceptions, kind)(message))
    with pytest.raises(FetchError, match=match) as caught:
        search_engine("duckduckgo", AGENT).search("lamp", 2)
    assert caught.value.retryable
    assert caught.value.hint
    assert str(caught.value).isprintable()
