"""What only Wikipedia's search does."""

from __future__ import annotations

import pytest

from fakes.search_engine_server import answering, json_reply
from iterative_rag.errors import FetchError
from tests.sources.search_engines.lamp_results import ENGINES


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
