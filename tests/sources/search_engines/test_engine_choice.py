"""From the setting to a search engine."""

from __future__ import annotations

import traceback

import pytest

from iterative_rag.errors import UsageError
from iterative_rag.sources.search_engines import search_engine
from tests.sources.search_engines.lamp_results import AGENT


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
        *("", "google", "searxng", "searxng@", "searxng@localhost:8888", "searxng@ftp://host/", "searxng@http://"),
        *("searxng@http://[::1", "searxng@http://host:port", "searxng@http://host:99999", "wikipedia@en"),
        *("searxng@http://user:s3cret@host:8888", "searxng@http://host:8888/?token=s3cret", "tavily@http://host"),
        *("searxng@http://host:8888/#s3cret", "duckduckgo@http://host", "google@http://user:s3cret@host"),
    ],
)
def test_settings_that_name_none_say_what_to_type(wanted: str) -> None:
    with pytest.raises(UsageError) as caught:
        search_engine(wanted, AGENT)
    assert "searxng@http://HOST:8888" in caught.value.hint
    assert "s3cret" not in "".join(traceback.format_exception_only(caught.value)) + caught.value.hint
