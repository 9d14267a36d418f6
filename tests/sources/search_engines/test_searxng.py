"""What only SearXNG does."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.search_engine_server import CannedReply, answering, json_reply
from iterative_rag.errors import FetchError
from tests.sources.search_engines.lamp_results import ENGINES


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
