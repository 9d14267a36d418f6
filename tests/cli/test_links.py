"""The web address of a document travels to the citation; only http and https are links, and only on a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes.command_line import Command, TerminalCommand

URL = "https://example.org/wiki/Aldermere"
TEXT = "Aldermere is a market town that was founded by Edda Holm in 1204."
ASK = ("ask", "Who founded Aldermere?", "--corpus", "mine", "--llm", "builtin", "--guess")


def written(url: str) -> str:
    row = json.dumps({"title": "Aldermere", "text": TEXT, "url": url})
    Path("pages.jsonl").write_text(row + "\n", encoding="utf-8")
    return "pages.jsonl"


def test_an_address_is_shown_with_the_citation(run: Command, on_a_terminal: TerminalCommand) -> None:
    assert run("index", written(URL), "--corpus", "mine").code == 0
    answer = json.loads(run(*ASK, "--json").out)
    assert {one["url"] for one in answer["citations"]} == {URL}
    assert {fact["url"] for hop in answer["hops"] for fact in hop["facts"]} == {URL}
    piped = run(*ASK).out
    assert f"    {URL}\n" in piped
    assert "\x1b" not in piped
    seen = on_a_terminal(list(ASK))
    assert f";{URL}\x1b\\" in seen
    assert "\x1b]8;;\x1b\\" in seen
    assert f"[**Aldermere**](<{URL}>)" in run(*ASK, "--format", "md").out
    assert f'<a href="{URL}" rel="noopener noreferrer">Aldermere' in run(*ASK, "--format", "html").out


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "https://e.org/a b", "ftp://e.org/"])
def test_anything_else_is_no_link(run: Command, url: str) -> None:
    assert run("index", written(url), "--corpus", "mine").code == 0
    answer = json.loads(run(*ASK, "--json").out)
    assert [citation["url"] for citation in answer["citations"]] == [""]


def test_no_link_breaks_out_of_its_place_on_a_terminal(run: Command, on_a_terminal: TerminalCommand) -> None:
    assert run("index", written("https://e.org/\x1b]8;;x"), "--corpus", "mine").code == 0
    assert "\x1b]8;" not in on_a_terminal(list(ASK))
