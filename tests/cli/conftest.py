"""The command line of these tests: in this process, as a process of its own, on a pseudo terminal."""

from __future__ import annotations

import io
import logging
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes.command_line import Command, Done, TerminalCommand, run_as_process
from fakes.loopback_server import RecordingServer
from fakes.model_server import FakeServer
from fakes.terminal_session import run_on_terminal
from fakes.two_article_corpus import indexed_home, play
from iterative_rag.cli import main

TEXTS = {
    "Sunday_bridge.md": "# Sunday bridge\n\nThe Sunday bridge is the oldest crossing in Aldermere.\n",
    "Aldermere.md": "# Aldermere\n\nAldermere is a market town that was founded by Edda Holm in 1204.\n",
}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No settings file of the working folder is read, no colour is switched off, no log handler stays behind."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.chdir(tmp_path)
    yield
    logging.getLogger("iterative_rag").handlers = []


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command in this process; returns its exit code and what it printed. What it imports and loads is there for
    the next one, so it costs a fraction of a process of its own."""
    monkeypatch.setattr(os, "_exit", sys.exit)  # a command that does not wait for its threads would end the tests too

    def call(*arguments: str, stdin: str = "", **environment: str) -> Done:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
            for name, value in environment.items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as exit_info:
                main(arguments)
        printed = capsys.readouterr()
        code = exit_info.value.code
        assert code is None or isinstance(code, int)
        return Done(code or 0, printed.out, printed.err)

    return call


@pytest.fixture
def shell() -> Command:
    """The command as a process of its own."""
    return run_as_process


@pytest.fixture
def on_a_terminal() -> TerminalCommand:
    """The command on a pseudo terminal; returns all that it wrote there."""
    return run_on_terminal


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in which the two articles are the default corpus."""
    return indexed_home(tmp_path_factory.mktemp("towns"))


@pytest.fixture
def towns(indexed: Path, tmp_path: Path) -> None:
    """A copy of its own for each test: another cache, other traces."""
    shutil.copytree(indexed, tmp_path / "home")


def played(body: Mapping[str, Any]) -> str:
    """The reply of a model that plays every role for the two articles."""
    return play(body["format"], body["messages"][-1]["content"])


@pytest.fixture
def ollama(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    """The server of this machine, with that model."""
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    server.reply = played
    return server


@pytest.fixture
def thief() -> Iterator[RecordingServer]:
    """A server that nothing may reach."""
    with RecordingServer() as running:
        yield running


def written(folder: Path, texts: Mapping[str, str]) -> Path:
    """The folder with files of these names and texts."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def articles(tmp_path: Path) -> Path:
    """A folder of two articles."""
    return written(tmp_path / "articles", TEXTS)
