"""The key of the one engine that needs one."""

from __future__ import annotations

import pytest

from tests.sources.search_engines.lamp_results import KEY


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
