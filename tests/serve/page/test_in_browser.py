"""The page in a real browser: hops, proof, article. Skipped where there is none; scripts/check_page.py checks more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakes.running_server import RunningServer
from fakes.two_article_corpus import QUESTION

CHROMIUM = Path("/usr/bin/chromium")

sync_api: Any = pytest.importorskip(
    "playwright.sync_api", reason="playwright is missing: uv pip install --group browser"
)
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="there is no Chromium at /usr/bin/chromium")


def test_a_question_is_asked_and_its_quotes_are_opened(served: RunningServer) -> None:
    complaints: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda told: complaints.append(told.text) if "Content Security" in told.text else None)
        page.goto(served.address)
        page.fill("#question", QUESTION)
        page.keyboard.press("Enter")
        page.wait_for_selector("[data-proof]", timeout=60_000)
        for number, quote in ((1, "The Sunday bridge is a stone bridge in Aldermere."), (2, "Its mayor is Edda Holm.")):
            page.click(f".quotes a[data-cite='{number}']")
            page.wait_for_selector(f"[data-article][data-shown='{number}']")
            assert "".join(page.locator("[data-article] mark").all_text_contents()) == quote
        page.click("[data-theme-switch]")
        assert page.evaluate("document.documentElement.dataset.theme") in ("light", "dark")
        browser.close()
    assert complaints == []
