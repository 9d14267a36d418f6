"""The pause that a server asks for."""

from __future__ import annotations

import pytest

from iterative_rag.sources.web.page_client import PageResponse


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("7", 7.0), ("0", 0.0), ("soon", None), ("", None), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0), ("-5", None)],
)
def test_the_pause_that_a_server_asks_for(value: str, seconds: float | None) -> None:
    assert PageResponse("", 429, {"retry-after": value}, b"").retry_after == seconds
