"""Engines that speak JSON, against a server on loopback: what they ask, what they make of answers, and each fault."""

from __future__ import annotations

import logging
import traceback
from itertools import cycle
from typing import Any

import pytest

from fakes.search_engine_server import CannedReply, answering, json_reply
from iterative_rag.errors import FetchError, UsageError
from iterative_rag.remote import bounded_body
from iterative_rag.sources.search_engines import Tavily, search_engine
from iterative_rag.types import SearchResult
from tests.sources.search_engines.lamp_results import AGENT, ENGINES, KEY, LAMPS


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


NO_ADDRESSES: list[Any] = [
    *("javascript:alert(1)", "file:///etc/passwd", "ftp://a.example/", "//a.example/", "https://", "http://[::1", ""),
    *("https://a.example:99999/", "https://a.example/\x1b[2J", "https://a.example/" + "a" * 3000, None, 7),
    ["https://a.example/"],
]


def test_what_is_no_web_address_is_left_out(kind: str) -> None:
    with answering(listing(kind, [*(("Bad", url) for url in NO_ADDRESSES), *LAMPS])) as there:
        assert [one.url for one in ENGINES[kind](there.url).search("lamp", 15)] == [url for _, url in LAMPS]


def test_titles_and_snippets_are_one_short_line_without_control_characters(kind: str) -> None:
    rows = [("\x1b[31mRed\x07\n lamp\u202e " + "x" * 5000, "https://a.example/#part"), ("Twin", "https://a.example/")]
    with answering(listing(kind, rows, "two\nlines\x00")) as there:
        (found,) = ENGINES[kind](there.url).search("lamp", 5)
    assert (found.title[:12], found.url, found.snippet) == ("[31mRed lamp", "https://a.example/", "two lines")
    assert found.title.isprintable()
    assert len(found.title) <= 200


# --- faults ----------------------------------------------------------------------------------

FAULTS = {
    "401": (json_reply({"detail": {"error": f"Unauthorized: {KEY} is invalid."}}, 401), "401"),
    "403": (CannedReply(b"<html>Forbidden</html>", 403), "403"),
    "429": (json_reply({"error": "too many"}, 429), "429"),
    "432": (json_reply({"detail": {"error": "plan limit"}}, 432), "432"),
    "500": (CannedReply(b"oops", 500), "500"),
    "redirect": (CannedReply(b"", 302, {"Location": "https://elsewhere.example/"}), "302"),
    "garbage": (CannedReply(b"\xff\xfe\x00 no json"), "JSON"),
    "html": (CannedReply(b"<!doctype html><title>Search</title>"), "JSON"),
    "empty": (CannedReply(b""), "JSON"),
    "deep": (CannedReply(b"[" * 200_000), "JSON"),
    "object without results": (json_reply({"hello": 1}), "list"),
    "results of a wrong kind": (json_reply({"results": {"a": 1}, "query": {"pages": "none"}}), "list"),
    "cut off": (CannedReply(b'{"results": [', length=5000), "broke off"),
    "endless": (CannedReply(b" " * (bounded_body.MAX_BYTES + 1)), "MB"),
}


@pytest.mark.parametrize(("fault", "kind"), [*zip(sorted(FAULTS), cycle(sorted(ENGINES)), strict=False)])
def test_a_fault_is_told_and_never_an_empty_list(kind: str, fault: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    answer, match = FAULTS[fault]
    with answering(answer) as there, pytest.raises(FetchError, match=match) as caught:
        ENGINES[kind](there.url).search("lamp", 3)
    assert caught.value.hint
    assert len(there.asked) == 1
    if fault[:3].isdigit():
        assert caught.value.status == int(fault[:3])
        assert caught.value.retryable == (fault[:1] == "5" or fault[:3] == "429")
    shown = "".join(traceback.format_exception(caught.value)) + caught.value.hint + caplog.text
    assert KEY not in shown


def test_a_silent_engine_is_given_up(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(CannedReply(hang=True)) as there:
        engine: Any = ENGINES[kind](there.url)
        object.__setattr__(engine._client, "seconds", 0.2)
        with pytest.raises(FetchError, match=r"within 0\.2 s") as caught:
            engine.search("lamp", 3)
    assert caught.value.retryable


# --- what only one of them does ----------------------------------------------------------------


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
    engine = Tavily("", AGENT)
    assert KEY not in f"{engine!r} {engine._client!r} {engine.name} {vars(engine)}"
