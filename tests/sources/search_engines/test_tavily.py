"""What only Tavily does: it wants a key."""

from __future__ import annotations

import traceback

import pytest

from iterative_rag.errors import UsageError
from iterative_rag.sources.search_engines.engines import Tavily
from iterative_rag.sources.search_engines.json_api import search_engine
from tests.sources.search_engines.lamp_results import AGENT, KEY


@pytest.mark.parametrize("key", ["", "  ", "two words", "line\nbreak", "schlüssel"])
def test_tavily_wants_a_key_that_can_be_one(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", key)
    with pytest.raises(UsageError) as caught:
        search_engine("tavily", AGENT)
    assert not key.strip() or key not in "".join(traceback.format_exception(caught.value)) + caught.value.hint


def test_tavilys_key_is_in_nothing_that_is_printed() -> None:
    engine = Tavily(AGENT)
    assert KEY not in f"{engine!r} {engine._client!r} {engine.name} {vars(engine)}"
