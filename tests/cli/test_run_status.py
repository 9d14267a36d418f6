"""The line below the hops while an LLM works: on a pseudo terminal, with a slow server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from fakes.command_line import TerminalCommand
from fakes.model_server import FakeServer
from fakes.two_article_corpus import QUESTION
from iterative_rag.cli.live import RunStatus, under_way, used
from iterative_rag.types import DocumentAtHand, RunProgress
from tests.cli.conftest import played

LLM = ("--llm", "ollama/tiny:8b")
LANE = DocumentAtHand("Harriet Lane", 2, 5)


def ask(on_a_terminal: TerminalCommand, server: FakeServer, *options: str, wait: float = 0.0, **terminal: Any) -> str:
    """What appears on the terminal while a run goes on that reads a document in `wait` seconds."""

    def reply(body: Mapping[str, Any]) -> str:
        if "facts" in body["format"]["properties"]:
            server.closing.wait(wait)
        return played(body)

    server.reply = reply
    return on_a_terminal(["ask", QUESTION, *LLM, *options], OLLAMA_HOST=server.url, **terminal)


def plain(written: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written)


def test_says_what_is_read_for_how_long_and_what_it_has_used(
    on_a_terminal: TerminalCommand, server: FakeServer, towns: None
) -> None:
    written = ask(on_a_terminal, server, wait=2.3)
    assert re.search(r"reading 1 of 2: Sunday bridge  \d:\d\d, 2 calls, \d+ tokens", plain(written))
    assert re.search(r"reading 1 of 2: Aldermere  \d:\d\d, 4 calls, \d+ tokens", plain(written))
    # Until something is found, what the corpus has nearest to the question.
    first = plain(written).partition("Edda Holm")[0]
    assert re.search(r"nearest  Aldermere: “[^”]*the mayor", first, re.IGNORECASE)
    # In the end it is erased, and the cursor is shown again.
    assert re.search(r"\x1b\[\?25h.*\x1b\[2K.*Edda Holm", written, re.DOTALL)


def test_the_answer_is_shown_while_it_is_written(
    on_a_terminal: TerminalCommand, server: FakeServer, towns: None
) -> None:
    server.pace = 0.06
    written = plain(ask(on_a_terminal, server))
    drafts = re.findall(r"draft  (The mayor[^\r\n]*)", written)
    whole = "The mayor of Aldermere [1] is Edda Holm [2]."
    assert drafts[-1] == whole
    assert len(set(drafts)) > 1
    assert all(whole.startswith(draft) for draft in drafts)
    assert "taken back" not in written


def test_is_not_shown_where_nobody_watches(on_a_terminal: TerminalCommand, server: FakeServer, towns: None) -> None:
    written = ask(on_a_terminal, server, piped=True)
    assert "reading 1 of" not in written
    assert "draft  " not in written
    assert "nearest  " not in written
    assert "\x1b[?25l" not in written


@pytest.mark.parametrize(("after", "shown"), [(60.0, False), (0.0, True)])
def test_the_built_in_models_are_given_a_while_before_it_is_shown(after: float, shown: bool) -> None:
    screen = StringIO()
    status = RunStatus(Console(file=screen, force_terminal=True, width=80), after=after)
    status.redraw()
    status.progress(RunProgress("", (LANE,), 0, 0))
    status.stop()
    status.progress(RunProgress("", (), 0, 0))  # of a thread that ends later
    assert ("reading 2 of 5: Harriet Lane  0:00" in plain(screen.getvalue())) is shown
    assert screen.getvalue().count("\x1b[?25l") == screen.getvalue().count("\x1b[?25h") == shown


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (None, ""),
        (RunProgress("reflect", (), 3, 400), "checking the answer"),
        (RunProgress("extract", (LANE,), 3, 400), "reading 2 of 5: Harriet Lane"),
        (RunProgress("extract", (LANE, LANE, LANE), 3, 400), "reading 2 of 5: Harriet Lane and 2 more"),
    ],
)
def test_what_is_under_way(at: RunProgress | None, shown: str) -> None:
    assert under_way(at) == shown


def test_a_slow_server_is_told_with_its_pace_and_the_time_that_its_call_takes_yet() -> None:
    slow = RunProgress("read", (), 3, 1200, replies=2, waited=40.0)
    assert used(slow, 50.0, 42.0) == ["0:50", "3 calls", "1,200 tokens", "30 tokens/s", "0:12 left of this call"]
    assert used(slow, 90.0, 42.0) == ["1:30", "3 calls", "1,200 tokens", "30 tokens/s"]
    assert used(RunProgress("read", (), 3, 1200, replies=2, waited=4.0), 9.0, 8.0)[3:] == []
    assert used(None, 3.0) == ["0:03"]
