"""The engines against stand-ins on loopback: what they ask for, what they make of an answer, how each fault is told."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fakes.model_server import unused_url
from fakes.search_engine_server import CannedReply, FakeSearchEngine, answering, json_reply
from iterative_rag.errors import FetchError, MissingExtra, UsageError
from iterative_rag.protocols import SearchEngine
from iterative_rag.search_engines import json_api
from iterative_rag.search_engines.engine_choice import search_engine
from iterative_rag.search_engines.mediawiki import Wikipedia
from iterative_rag.search_engines.searxng import SearXNG
from iterative_rag.search_engines.tavily import Tavily
from iterative_rag.types import SearchResult

AGENT = "tests/1 (tests@example.org)"
KEY = "tvly-Zm9vYmFyNotForAnyEye"
ENGINES: dict[str, Callable[[str], SearchEngine]] = {
    "wikipedia": lambda url: Wikipedia(AGENT, api=f"{url}/w/api.php", seconds=5),
    "searxng": lambda url: SearXNG(AGENT, url=url, seconds=5),
    "tavily": lambda url: Tavily(AGENT, api=f"{url}/search", seconds=5),
}
LAMPS = [("The lamp of Gull Point", "https://lamps.example/gull"), ("Lamps", "https://lamps.example/")]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", KEY)


def listing(engine: str, rows: list[tuple[Any, Any]], snippet: Any = "Lit in 1857.") -> CannedReply:
    """The answer of an engine that lists these titles and addresses."""
    if engine == "wikipedia":
        pages = [
            {"title": title, "canonicalurl": url, "index": n, "extract": snippet} for n, (title, url) in enumerate(rows)
        ]
        return json_reply({"batchcomplete": True, "query": {"pages": pages[::-1]}})
    return json_reply({"results": [{"title": title, "url": url, "content": snippet} for title, url in rows]})


@pytest.fixture(params=sorted(ENGINES))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_results_come_in_the_engines_order_and_number(kind: str) -> None:
    rows = [*LAMPS, *((f"More {n}", f"https://more.example/{n}") for n in range(8))]
    with answering(listing(kind, rows)) as there:
        found = ENGINES[kind](there.url).search("lamp of Gull Point", 3)
    assert found == [SearchResult(title, url, "Lit in 1857.") for title, url in rows[:3]]
    assert len(there.asked) == 1


def test_what_is_asked(kind: str) -> None:
    with answering(listing(kind, LAMPS)) as there:
        ENGINES[kind](there.url).search("lamp of Gull Point", 2)
    (asked,) = there.asked
    assert asked.headers["User-Agent"] == AGENT
    if kind == "tavily":
        assert (asked.method, asked.path, asked.headers["Authorization"]) == ("POST", "/search", f"Bearer {KEY}")
        assert asked.body == {"query": "lamp of Gull Point", "max_results": 2, "search_depth": "basic"}
        return
    assert "Authorization" not in asked.headers
    if kind == "searxng":
        assert (asked.path, asked.query["q"], asked.query["format"]) == ("/search", "lamp of Gull Point", "json")
    else:
        assert (asked.path, asked.query["gsrsearch"]) == ("/w/api.php", "lamp of Gull Point")


def test_nothing_known_is_an_empty_list(kind: str) -> None:
    nothing = json_reply({"batchcomplete": True}) if kind == "wikipedia" else json_reply({"results": []})
    with answering(nothing) as there:
        assert ENGINES[kind](there.url).search("zzz", 3) == []


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "ftp://a.example/",
        "//a.example/",
        "https://",
        "http://[::1",
        "https://a.example:99999/",
        "https://a.example/\x1b[2J",
        "https://a.example/" + "a" * 3000,
        "",
        None,
        7,
        ["https://a.example/"],
    ],
)
def test_what_is_no_web_address_is_left_out(kind: str, url: Any) -> None:
    with answering(listing(kind, [("Bad", url), *LAMPS])) as there:
        assert [one.url for one in ENGINES[kind](there.url).search("lamp", 5)] == [url for _, url in LAMPS]


def test_results_that_are_all_unusable_are_a_fault(kind: str) -> None:
    with answering(listing(kind, [("Bad", "javascript:1")])) as there, pytest.raises(FetchError, match="addresses"):
        ENGINES[kind](there.url).search("lamp", 5)


def test_titles_and_snippets_are_one_short_line_without_control_characters(kind: str) -> None:
    rows = [("\x1b[31mRed\x07\n lamp\u202e " + "x" * 5000, "https://a.example/#part"), ("Twin", "https://a.example/")]
    with answering(listing(kind, rows, "two\nlines\x00")) as there:
        (found,) = ENGINES[kind](there.url).search("lamp", 5)
    assert (found.title[:12], found.url, found.snippet) == ("[31mRed lamp", "https://a.example/", "two lines")
    assert found.title.isprintable()
    assert len(found.title) <= 200


@pytest.mark.parametrize("title", [None, 3, "", "\x00"])
def test_a_result_without_a_title_has_its_address(kind: str, title: Any) -> None:
    with answering(listing(kind, [(title, "https://a.example/")], None)) as there:
        assert ENGINES[kind](there.url).search("lamp", 5) == [SearchResult("https://a.example/", "https://a.example/")]


# --- faults ----------------------------------------------------------------------------------

FAULTS = {
    "401": (json_reply({"detail": {"error": f"Unauthorized: {KEY} is invalid."}}, 401), "401"),
    "403": (CannedReply(b"<html>Forbidden</html>", 403), "403"),
    "404": (CannedReply(b"", 404), "404"),
    "429": (json_reply({"error": "too many"}, 429), "429: too many"),
    "429 for an hour": (json_reply({}, 429, Retry_After="3600"), "429"),
    "429 for ever": (json_reply({}, 429, Retry_After="0"), "429"),
    "432": (json_reply({"detail": {"error": "plan limit"}}, 432), "432: plan limit"),
    "500": (CannedReply(b"oops", 500), "500"),
    "503": (CannedReply(b"", 503, {"Retry-After": "tomorrow"}), "503"),
    "redirect": (CannedReply(b"", 302, {"Location": "https://elsewhere.example/"}), "302"),
    "garbage": (CannedReply(b"\xff\xfe\x00 no json"), "JSON"),
    "html": (CannedReply(b"<!doctype html><title>Search</title>"), "JSON"),
    "list": (json_reply([1, 2]), "JSON"),
    "empty": (CannedReply(b""), "JSON"),
    "deep": (CannedReply(b"[" * 200_000), "JSON"),
    "object without results": (json_reply({"hello": 1}), "list"),
    "results of a wrong kind": (json_reply({"results": {"a": 1}, "query": {"pages": "none"}}), "list"),
    "cut off": (CannedReply(b'{"results": [', length=5000), "broke off"),
    "endless": (CannedReply(b" " * (json_api.MOST_BYTES + 1)), "MB"),
}


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_fault_is_told_and_never_an_empty_list(kind: str, fault: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    answer, match = FAULTS[fault]
    with answering(answer) as there, pytest.raises(FetchError, match=match) as caught:
        ENGINES[kind](there.url).search("lamp", 3)
    assert caught.value.hint
    assert len(there.asked) == (2 if fault == "429 for ever" else 1)
    if fault[:3].isdigit():
        assert caught.value.status == int(fault[:3])
        assert caught.value.retryable == (fault[:1] == "5" or fault[:3] == "429")
    shown = "".join(traceback.format_exception(caught.value)) + caught.value.hint + caplog.text
    assert KEY not in shown


def test_a_busy_engine_is_asked_again_once_after_the_pause_it_wants(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(json_api, "sleep", pauses.append)
    with answering(json_reply({}, 429, Retry_After="2"), listing(kind, LAMPS)) as there:
        assert len(ENGINES[kind](there.url).search("lamp", 3)) == 2
    assert (pauses, len(there.asked)) == ([2.0], 2)


def test_a_silent_engine_is_given_up(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(CannedReply(hang=True)) as there:
        engine: Any = ENGINES[kind](there.url)
        object.__setattr__(engine._asked, "seconds", 0.2)
        with pytest.raises(FetchError, match="within 0 s") as caught:
            engine.search("lamp", 3)
    assert caught.value.retryable


def test_an_engine_that_is_not_there(kind: str) -> None:
    with pytest.raises(FetchError, match="cannot be reached") as caught:
        ENGINES[kind](unused_url()).search("lamp", 3)
    assert caught.value.retryable


# --- what only one of them does --------------------------------------------------------------


def test_wikipedia_leaves_out_pages_that_only_list_meanings() -> None:
    pages = [
        {"title": "Lamp", "canonicalurl": "https://w.example/a", "index": 1, "pageprops": {"disambiguation": ""}},
        {"title": "Lamp (light)", "canonicalurl": "https://w.example/b", "index": 2},
    ]
    with answering(json_reply({"query": {"pages": pages}})) as there:
        assert [one.title for one in ENGINES["wikipedia"](there.url).search("lamp", 1)] == ["Lamp (light)"]


@pytest.mark.parametrize(("code", "retryable"), [("maxlag", True), ("ratelimited", True), ("cirrussearch-x", False)])
def test_wikipedias_own_errors_have_status_200(code: str, retryable: bool) -> None:
    with answering(json_reply({"error": {"code": code, "info": "no"}})) as there, pytest.raises(FetchError) as caught:
        ENGINES["wikipedia"](there.url).search("lamp", 1)
    assert code in str(caught.value)
    assert caught.value.retryable is retryable


@pytest.mark.parametrize(
    "silent", [[["brave", "too many requests"], ["qwant", "timeout"]], [["brave"]], [[]], "all", [[1, 2]]]
)
def test_searxng_without_its_engines_has_not_found_nothing(silent: Any) -> None:
    answer = json_reply({"results": [], "unresponsive_engines": silent})
    with answering(answer) as there, pytest.raises(FetchError, match="did not answer") as caught:
        ENGINES["searxng"](there.url).search("lamp", 3)
    assert caught.value.retryable


def test_searxng_with_some_of_its_engines_has_results() -> None:
    rows = [{"title": "A", "url": "https://a.example/", "content": ""}]
    with answering(json_reply({"results": rows, "unresponsive_engines": [["brave", "timeout"]]})) as there:
        assert len(ENGINES["searxng"](there.url).search("lamp", 3)) == 1


def test_searxng_that_refuses_json_says_how_to_allow_it() -> None:
    with answering(CannedReply(b"Forbidden", 403)) as there, pytest.raises(FetchError) as caught:
        ENGINES["searxng"](there.url).search("lamp", 3)
    assert "formats: [html, json]" in caught.value.hint


@pytest.mark.parametrize("key", ["", "  ", "two words", "line\nbreak", "schlüssel"])
def test_tavily_wants_a_key_that_can_be_one(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", key)
    with pytest.raises(UsageError) as caught:
        search_engine("tavily", AGENT)
    assert not key.strip() or key not in "".join(traceback.format_exception(caught.value)) + caught.value.hint


def test_tavilys_key_is_in_nothing_that_is_printed() -> None:
    engine = Tavily(AGENT)
    assert KEY not in f"{engine!r} {engine._asked!r} {engine.name} {vars(engine)}"


# --- DuckDuckGo, through the real package ----------------------------------------------------


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
    ddgs = pytest.importorskip("ddgs")
    asked: list[dict[str, Any]] = []

    def text(self: object, query: str, **more: Any) -> Any:
        asked.append({"query": query, **more})
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(ddgs.DDGS, "text", text)
    return asked


def test_duckduckgos_results(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"title": title, "href": url, "body": "Lit in 1857."} for title, url in LAMPS]
    asked = _answering(monkeypatch, [*rows, {"title": "Bad", "href": "javascript:1", "body": ""}])
    found = search_engine("duckduckgo", AGENT).search("lamp", 2)
    assert found == [SearchResult(title, url, "Lit in 1857.") for title, url in LAMPS]
    assert (asked[0]["backend"], asked[0]["max_results"]) == ("duckduckgo", 2)


@pytest.mark.parametrize(
    ("kind", "message", "match"),
    [
        ("DDGSException", "No results found.", "listed nothing: No results found"),
        ("DDGSException", "RequestError: \x1b[31mconnection\nrefused", "connection refused"),
        ("TimeoutException", "timed out", "no reply"),
        ("RatelimitException", "202 Ratelimit", "holds us back"),
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


@pytest.mark.parametrize("answer", [[], None])
def test_duckduckgo_cannot_say_that_it_knows_nothing(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _answering(monkeypatch, answer)
    with pytest.raises(FetchError, match="listed nothing"):
        search_engine("duckduckgo", AGENT).search("lamp", 2)


def test_duckduckgo_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ddgs", None)
    with pytest.raises(MissingExtra) as caught:
        search_engine("duckduckgo", AGENT)
    assert caught.value.extra == "web"


# --- from the setting to an engine -----------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("wikipedia", "wikipedia"),
        (" Wikipedia ", "wikipedia"),
        ("wikipedia@https://de.wikipedia.org/w/api.php", "wikipedia@https://de.wikipedia.org/w/api.php"),
        ("tavily", "tavily"),
        ("searxng@http://localhost:8888", "searxng@http://localhost:8888"),
        ("searxng@http://10.0.0.5:8080/search/", "searxng@http://10.0.0.5:8080"),
        ("SearXNG@https://search.example.org/sub", "searxng@https://search.example.org/sub"),
        ("searxng@http://[::1]:8888", "searxng@http://[::1]:8888"),
    ],
)
def test_settings_that_name_an_engine(wanted: str, name: str) -> None:
    assert search_engine(wanted, AGENT).name == name


@pytest.mark.parametrize(
    "wanted",
    [
        "",
        "google",
        "searxng",
        "searxng@",
        "searxng@localhost:8888",
        "searxng@ftp://host/",
        "searxng@http://",
        "searxng@http://[::1",
        "searxng@http://host:port",
        "searxng@http://host:99999",
        "searxng@http://user:s3cret@host:8888",
        "searxng@http://host:8888/?token=s3cret",
        "searxng@http://host:8888/#s3cret",
        "duckduckgo@http://host",
        "tavily@http://host",
        "wikipedia@en",
        "google@http://user:s3cret@host",
    ],
)
def test_settings_that_name_none_say_what_to_type(wanted: str) -> None:
    with pytest.raises(UsageError) as caught:
        search_engine(wanted, AGENT)
    assert "searxng@http://HOST:8888" in caught.value.hint
    assert "s3cret" not in "".join(traceback.format_exception_only(caught.value)) + caught.value.hint


def test_building_an_engine_asks_nothing(tmp_path: Path) -> None:
    with answering(json_reply({})) as there:
        search_engine(f"searxng@{there.url}", AGENT)
        search_engine(f"wikipedia@{there.url}/w/api.php", AGENT)
        assert isinstance(there, FakeSearchEngine)
        assert there.asked == []
