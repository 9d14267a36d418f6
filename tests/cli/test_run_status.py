"""The line below the hops while an LLM works: on a pseudo terminal, with a slow server."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from fakes.command_line import TerminalCommand
from fakes.model_server import FakeServer, Fault
from fakes.two_article_corpus import QUESTION, indexed_home, play
from iterative_rag.app.factory import IterativeRAG
from iterative_rag.cli.live import RunStatus, under_way, used, with_figures
from iterative_rag.settings import Settings
from iterative_rag.types import DocumentAtHand, RunProgress

LLM = ("--llm", "ollama/tiny:1b")
LANE = DocumentAtHand("Harriet Lane", 2, 5)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed_home(tmp_path_factory.mktemp("towns"))


def slow(server: FakeServer, wait: float) -> None:
    """The server plays all roles, and reads a document in `wait` seconds."""

    def reply(body: Mapping[str, Any]) -> str:
        if "facts" in body["format"]["properties"]:
            server.closing.wait(wait)
        return play(body["format"], body["messages"][-1]["content"])

    server.reply = reply


def ask(
    on_a_terminal: TerminalCommand, server: FakeServer, home: Path, *options: str, wait: float = 0.0, **terminal: Any
) -> str:
    """What appears on the terminal while a run goes on that reads a document in `wait` seconds."""
    slow(server, wait)
    settings = {"ITERATIVE_RAG_HOME": str(home), "ITERATIVE_RAG_CACHE": "false", "OLLAMA_HOST": server.url}
    return on_a_terminal(["ask", QUESTION, *LLM, *options], **(settings | terminal))


def plain(written: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written)


def test_says_what_is_read_for_how_long_and_what_it_has_used(
    on_a_terminal: TerminalCommand, server: FakeServer, indexed: Path
) -> None:
    written = ask(on_a_terminal, server, indexed, "--max-tokens", "90000", wait=1.3)
    assert re.search(r"reading 1 of 2: Sunday bridge  \d:\d\d, 2 calls, \d+ of 90,000 tokens", plain(written))
    assert re.search(r"reading 1 of 2: Aldermere  \d:\d\d, 4 calls, \d+ of 90,000 tokens", plain(written))
    # In the end it is erased, and the cursor is shown again.
    left = written.rpartition("90,000 tokens")[2]
    assert re.search(r"\x1b\[\?25h.*\x1b\[2K.*Edda Holm", left, re.DOTALL)


def test_fits_into_forty_columns(on_a_terminal: TerminalCommand, server: FakeServer, indexed: Path) -> None:
    lines = re.split(r"[\r\n]+", plain(ask(on_a_terminal, server, indexed, wait=1.3, columns=40)))
    below = [after for before, after in pairwise(lines) if before == "reading 1 of 2: Sunday bridge"]
    assert any(re.fullmatch(r"\d:\d\d, 2 calls, \d+ tokens", line) for line in below)
    assert max(map(len, lines)) <= 40


def test_the_answer_is_shown_while_it_is_written(
    on_a_terminal: TerminalCommand, server: FakeServer, indexed: Path
) -> None:
    server.pace = 0.06
    written = plain(ask(on_a_terminal, server, indexed))
    drafts = re.findall(r"draft  (The mayor[^\r\n]*)", written)
    whole = "The mayor of Aldermere [1] is Edda Holm [2]."
    assert drafts[-1] == whole
    assert len(set(drafts)) > 1
    assert all(whole.startswith(draft) for draft in drafts)
    assert "taken back" not in written


def test_a_draft_that_a_check_refuses_is_taken_back(
    on_a_terminal: TerminalCommand, server: FakeServer, indexed: Path
) -> None:
    false = "The mayor of Aldermere [1] is Ada Thorn [2]."

    def reply(body: Mapping[str, Any]) -> str:
        played = play(body["format"], body["messages"][-1]["content"])
        wrong = "short_answer" in body["format"]["properties"] and "What was wrong" not in str(body["messages"])
        return played.replace("Edda Holm", "Ada Thorn") if wrong else played

    settings = {"ITERATIVE_RAG_HOME": str(indexed), "ITERATIVE_RAG_CACHE": "false", "OLLAMA_HOST": server.url}
    server.reply = reply
    written = " ".join(plain(on_a_terminal(["ask", QUESTION, *LLM], columns=200, **settings)).split())
    before, back, after = written.partition(f"taken back “{false}” A check found what no fact proves")
    assert back
    assert f"draft {false}" in before
    assert f"draft {false}" not in after


@pytest.mark.parametrize(("options", "terminal"), [(("--json",), {}), ((), {"piped": True})])
def test_is_not_shown_where_nobody_watches(
    on_a_terminal: TerminalCommand,
    server: FakeServer,
    indexed: Path,
    options: tuple[str, ...],
    terminal: Mapping[str, Any],
) -> None:
    written = ask(on_a_terminal, server, indexed, *options, **terminal)
    assert "reading 1 of" not in written
    assert "draft  " not in written
    assert "\x1b[?25l" not in written


def test_an_evaluation_says_what_is_under_way(
    on_a_terminal: TerminalCommand, server: FakeServer, indexed: Path, tmp_path: Path
) -> None:
    slow(server, 1.0)
    (tmp_path / "one.jsonl").write_text(json.dumps({"question": QUESTION, "answer": "Edda Holm"}))
    command = ["evaluate", "run", "--dataset", "one.jsonl", "--corpus", "default", *LLM]
    written = plain(on_a_terminal(command, ITERATIVE_RAG_HOME=str(indexed), OLLAMA_HOST=server.url))
    assert re.search(r"0 of 1, 1 under way, 2 calls, \d+ tokens, \d:\d\d", written)


def test_a_qualification_says_what_it_has_used(on_a_terminal: TerminalCommand, server: FakeServer) -> None:
    server.latency, server.always = 1.5, Fault("status", 404, "model 'tiny:1b' not found")  # ends it after one call
    command = ["doctor", "--qualify", *LLM]
    written = plain(on_a_terminal(command, ITERATIVE_RAG_THINKING="off", OLLAMA_HOST=server.url))
    assert re.search(r"testing 1 of \d+: \S+  \d:\d\d, 1 call, 0 tokens", written)


@pytest.mark.parametrize(("after", "shown"), [(60.0, False), (0.0, True)])
def test_the_built_in_models_are_given_a_while_before_it_is_shown(after: float, shown: bool) -> None:
    screen = StringIO()
    status = RunStatus(Console(file=screen, force_terminal=True, width=80), {}, after=after)
    status.start()
    status.progress(RunProgress("", (LANE,), 0, 0))
    status.stop()
    status.progress(RunProgress("", (), 0, 0))  # of a thread that ends later
    assert ("reading 2 of 5: Harriet Lane  0:00" in plain(screen.getvalue())) is shown
    assert screen.getvalue().count("\x1b[?25l") == screen.getvalue().count("\x1b[?25h") == shown


def test_the_built_in_models_tell_what_they_read(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(indexed))
    told: list[RunProgress] = []
    rag = IterativeRAG.from_settings(Settings(llm="builtin", cache=False))
    assert list(rag.steps(QUESTION, progress=told.append))
    rag.close()
    assert {(one.title, one.of) for at in told for one in at.reading} >= {("Sunday bridge", 2)}
    assert told[-1].reading == ()


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (None, ""),
        (RunProgress("", (), 3, 400), ""),
        (RunProgress("", (LANE,), 0, 0), "reading 2 of 5: Harriet Lane"),
        (RunProgress("reflect", (), 3, 400), "checking the answer"),
        (RunProgress("extract", (LANE,), 3, 400), "reading 2 of 5: Harriet Lane"),
        (RunProgress("extract", (LANE, LANE, LANE), 3, 400), "reading 2 of 5: Harriet Lane and 2 more"),
    ],
)
def test_what_is_under_way(at: RunProgress | None, shown: str) -> None:
    assert under_way(at) == shown


@pytest.mark.parametrize(
    ("limits", "shown"),
    [
        ({}, "1:02, 1 call, 4,210 tokens"),
        ({"calls": 20, "tokens": 50_000, "seconds": 7200}, "1:02 of 2:00:00, 1 of 20 calls, 4,210 of 50,000 tokens"),
    ],
)
def test_what_was_used(limits: Mapping[str, float], shown: str) -> None:
    assert ", ".join(used(RunProgress("extract", (), 1, 4210), 62.4, limits)) == shown


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (80, ["reading 2 of 5: Harriet Lane  0:42, 5 calls, 4,210 tokens"]),
        (40, ["reading 2 of 5: Harriet Lane", "0:42, 5 calls, 4,210 tokens"]),
        (20, ["reading 2 of 5: Harriet Lane", "0:42, 5 calls,", "4,210 tokens"]),
    ],
)
def test_the_width_of_the_terminal(width: int, lines: list[str]) -> None:
    assert with_figures("reading 2 of 5: Harriet Lane", ["0:42", "5 calls", "4,210 tokens"], width) == lines
