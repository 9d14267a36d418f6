"""Checks the page in a real Chromium, over the starter corpus with the built-in models.

    .venv/bin/python -m scripts.check_page [--questions 20] [--axe axe.min.js] [--picture FILE] [--chromium PATH]

It counts what the first page loads, asks by keyboard alone, clicks every citation of the answers and compares the words
that are marked with the quote, and looks for parts that are wider than a screen of 360 pixels. With `--axe` (from the
npm package axe-core) it looks for faults of accessibility. Needs the group `browser` and Debian's chromium. What shows
without a browser (edits, follow-ups, proofs, forms without JavaScript) is in tests/serve/page.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import typer

from iterative_rag.text.markup import plain

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 120_000  # a browser on a busy machine
_OPENED = "#opened"
_UNANSWERABLE = "What is the favourite colour of Zorblax the Third of Blinkonia?"


def main(
    questions: int = 20,
    axe: Path | None = None,
    picture: Path | None = None,
    chromium: str = "/usr/bin/chromium",
) -> None:
    """`picture`: only make the picture of docs/interfaces.md."""
    with tempfile.TemporaryDirectory() as folder, _server(Path(folder)) as address, _browser(chromium) as browser:
        asked = _questions(questions)
        if picture:
            _picture(browser, address, _asked(address, asked[0]), picture)
            return
        print("first page  ", _sizes(browser, address))
        run = _by_keyboard(browser, address, asked[0])
        print("by keyboard  asked, stopped at the proof, opened a citation:", run)
        runs = [run, *(_asked(address, question) for question in asked[1:])]
        print("citations   ", _citations(browser, address, runs))
        pages = [
            ("ask", "/"),
            ("proof", f"/runs/{run}"),
            ("opened", f"/runs/{run}{_OPENED}"),
            ("abstained", f"/runs/{_asked(address, _UNANSWERABLE)}"),
            ("error", "/runs/none"),
            ("history", "/history"),
            ("nothing", "/history?q=nobody+asked+this"),
            ("corpora", "/corpora"),
            ("corpus", "/corpora/starter?q=bridge"),
            ("article", _article(address)),
            ("wide table", _article(address, "List of assassinated presidents of the United States")),
        ]
        print("360 pixels  ", _narrow(browser, address, pages))
        if axe:
            print("axe-core    ", _axe(browser, address, pages, axe.read_text(encoding="utf-8")))


# --- parts of the check ------------------------------------------------------------------------------


def _sizes(browser: Any, address: str) -> str:
    """Everything that the first page loads, and whether any of it is from elsewhere."""
    page = browser.new_page()
    responses: list[Any] = []
    page.on("response", lambda response: responses.append(response))  # a method of a list cannot be wrapped
    page.goto(address, wait_until="networkidle", timeout=SECONDS)
    sizes = [len(response.body()) for response in responses]
    foreign = [one.url for one in responses if urlsplit(one.url).netloc != urlsplit(address).netloc]
    page.close()
    return f"{sum(sizes) / 1000:.1f} kB in {len(sizes)} files, {len(foreign)} from elsewhere"


def _by_keyboard(browser: Any, address: str, question: str) -> str:
    """Ask, and open the first citation, without a pointer. Returns the id of the run."""
    page = browser.new_page()
    page.goto(address, timeout=SECONDS)
    _tab_to(page, "document.activeElement.id === 'question'")
    page.keyboard.type(question)
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-live='yes'] .hop, [data-proof]", timeout=SECONDS)
    page.wait_for_selector("[data-proof]", timeout=SECONDS)
    _tab_to(page, "document.activeElement.matches('a[data-cite]')")
    number = page.evaluate("document.activeElement.dataset.cite")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"[data-article][data-shown='{number}'] #quote", timeout=SECONDS)
    run = str(page.url).split("/runs/")[1].split("?")[0]
    page.close()
    return run


def _tab_to(page: Any, reached: str) -> None:
    for _ in range(60):
        if page.evaluate(reached):
            return
        page.keyboard.press("Tab")
    raise SystemExit(f"The keyboard never reached: {reached}")


def _citations(browser: Any, address: str, runs: list[str]) -> str:
    """Click each number and compare what is marked with the quote."""
    page = browser.new_page()
    right = clicked = cited = 0
    with httpx.Client(base_url=address, trust_env=False, timeout=60) as client:
        for run in runs:
            citations = (client.get(f"/api/runs/{run}").json().get("answer") or {}).get("citations", [])
            cited += bool(citations)
            page.goto(f"{address}/runs/{run}", timeout=SECONDS)
            for citation in citations:
                page.locator(f".quotes a[data-cite='{citation['n']}']").click(timeout=SECONDS)
                page.wait_for_selector(f"[data-article][data-shown='{citation['n']}']", timeout=SECONDS)
                marks = page.locator("[data-article] mark").all_text_contents()
                clicked += 1
                same = _letters("".join(marks)) == _letters(plain(citation["quote"]))
                shown = page.evaluate(_IN_VIEW)
                right += same and shown
                if not (same and shown):
                    print("   differs:", run, citation["n"], marks, repr(citation["quote"]), "in view:", shown)
    page.close()
    return (
        f"{right} of {clicked} marked as quoted and in view, of {cited} answers with citations to {len(runs)} questions"
    )


_IN_VIEW = """() => {
  const mark = document.querySelector("#quote"), pane = document.querySelector("[data-article-text]");
  if (!mark || !pane) return false;
  const box = mark.getBoundingClientRect(), view = pane.getBoundingClientRect();
  return box.top >= view.top - 1 && box.top < view.bottom;
}"""


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text)


def _article(address: str, title: str = "Harriet Lane") -> str:
    """The address of an article."""
    with httpx.Client(base_url=address, trust_env=False, timeout=60) as client:
        found = client.get("/api/documents", params={"title": title}).json()["documents"]
    return f"/corpora/starter/documents/{found[0]['id']}"


def _visit(page: Any, address: str, path: str) -> None:
    """Load a page; one of which the address ends so has everything opened that can be folded."""
    page.goto(address + path, timeout=SECONDS)
    if path.endswith(_OPENED):
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


def _narrow(browser: Any, address: str, pages: list[tuple[str, str]]) -> str:
    page = browser.new_page(viewport={"width": 360, "height": 780})
    wide = []
    for name, path in pages:
        _visit(page, address, path)
        width = page.evaluate("document.documentElement.scrollWidth")
        wide += [f"{name} ({width})"] if width > 360 else []
    page.close()
    return f"{len(pages)} pages, wider than the screen: {', '.join(wide) or 'none'}"


def _axe(browser: Any, address: str, pages: list[tuple[str, str]], script: str) -> str:
    found: list[str] = []
    for theme in ("light", "dark"):
        # The policy of the page allows no script but its own, so the check is let past it.
        context = browser.new_context(bypass_csp=True, color_scheme=theme, reduced_motion="reduce")
        page = context.new_page()
        for name, path in pages:
            _visit(page, address, path)
            page.evaluate(script)
            for fault in page.evaluate("axe.run().then((result) => result.violations)"):
                where = [node["html"][:100] for node in fault["nodes"][:2]]
                found.append(f"   {theme} {name}: {fault['impact']} {fault['id']} {where}")
        context.close()
    serious = [line for line in found if " serious " in line or " critical " in line]
    return "\n".join([f"{len(pages)} pages in 2 themes: {len(serious)} serious findings, {len(found)} in all", *found])


def _picture(browser: Any, address: str, run: str, file: Path) -> None:
    page = browser.new_page(viewport={"width": 1360, "height": 900})
    page.goto(f"{address}/runs/{run}", timeout=SECONDS)
    page.wait_for_timeout(500)
    page.screenshot(path=file, type="jpeg", quality=60, timeout=SECONDS)
    page.close()


# --- the server and the browser ----------------------------------------------------------------------


def _questions(count: int) -> list[str]:
    lines = (ROOT / "evaluation" / "starter_questions.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [json.loads(line) for line in lines]
    first = "Who was the mother of the 15th first lady of the United States?"
    return [first, *(one["Prompt"] for one in asked if one["kind"] == "answerable")][:count]


def _asked(address: str, question: str) -> str:
    with httpx.Client(base_url=address, trust_env=False, timeout=300) as client:
        return str(client.post("/api/ask", json={"question": question}).json()["run_id"])


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "ITERATIVE_RAG_HOME": str(folder / "home")}


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    """The server as users start it, on a free port, with a data folder of its own."""
    command = [sys.executable, "-u", "-m", "iterative_rag", "serve", "--llm", "builtin", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=_environment(folder), text=True
    ) as process:
        assert process.stdout
        try:
            for line in process.stdout:
                if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                    yield found[0]
                    break
            else:
                raise SystemExit("The server did not start.")
        finally:
            process.terminate()


@contextmanager
def _browser(path: str) -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise SystemExit("playwright is missing: uv pip install --group browser") from None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


if __name__ == "__main__":
    typer.run(main)
