"""The page in a real browser: hops, proof, article. Skipped where there is none; scripts/check_page.py checks more."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fakes.running_server import PlayingLLM, RunningServer, running_server
from fakes.two_article_corpus import QUESTION
from iterative_rag.protocols import ChatReply, ChatRequest

CHROMIUM = Path("/usr/bin/chromium")

sync_api: Any = pytest.importorskip(
    "playwright.sync_api", reason="playwright is missing: uv pip install --group browser"
)
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="there is no Chromium at /usr/bin/chromium")


@contextmanager
def opened(address: str) -> Iterator[Any]:
    """The page in a browser that has nothing to complain of in the end."""
    complaints: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda told: complaints.append(told.text) if "Content Security" in told.text else None)
        page.goto(address)
        yield page
        browser.close()
    assert complaints == []


def test_a_question_is_asked_and_its_quotes_are_opened(served: RunningServer) -> None:
    with opened(served.address) as page:
        fields = "[...document.querySelectorAll('.ask .row > *')].map((one) => one.getBoundingClientRect().bottom)"
        bottoms = page.evaluate(fields)
        assert len(bottoms) == 5
        assert max(bottoms) - min(bottoms) < 2  # all in one row
        page.fill("#question", QUESTION)
        page.keyboard.press("Enter")
        page.wait_for_selector("[data-proof]")
        for number, quote in ((1, "The Sunday bridge is a stone bridge in Aldermere."), (2, "Its mayor is Edda Holm.")):
            page.click(f".quotes a[data-cite='{number}']")
            page.wait_for_selector(f"[data-article][data-shown='{number}']")
            assert "".join(page.locator("[data-article] mark").all_text_contents()) == quote
        page.click("[data-theme-switch]")
        assert page.evaluate("document.documentElement.dataset.theme") in ("light", "dark")


class HesitantLLM(PlayingLLM):
    """Writes an answer, takes it back, and writes it again; each once the browser has shown what came before."""

    def __init__(self) -> None:
        super().__init__()
        self.shown, self.taken_back = threading.Event(), threading.Event()

    def complete(self, request: ChatRequest) -> ChatReply:
        reply = super().complete(request)
        if request.written:
            request.written(reply.text[:60])
            assert self.shown.wait(60)
            request.written('{"status": "unknown"')
            assert self.taken_back.wait(60)
        return reply


def test_text_that_is_taken_back_stays_to_be_seen_and_a_follow_up_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(tmp_path / "home"))
    llm = HesitantLLM()
    with running_server(tmp_path, backends={"hesitant": llm}) as running, opened(running.address) as page:
        page.fill("#question", QUESTION)
        page.keyboard.press("Enter")
        page.wait_for_selector("[data-draft]:not([hidden])")
        assert page.locator("[data-draft] p").first.inner_text().startswith("The mayor")
        llm.shown.set()
        page.wait_for_selector("[data-draft].refused")
        assert page.locator("[data-withdrawn]").inner_text().startswith("Taken back:")
        assert page.locator("[data-draft] p").first.inner_text().startswith("The mayor")
        llm.taken_back.set()
        page.wait_for_selector("[data-proof]")
        page.fill("#follow-up", QUESTION)
        page.keyboard.press("Enter")
        page.wait_for_selector("[data-proof] .turns li:nth-child(2)")
        assert "Edda Holm" in page.locator("header.answer").inner_text()
