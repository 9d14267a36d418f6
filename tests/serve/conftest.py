"""A server over the two articles for each file of tests, and servers whose model waits until it is let go."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fakes.running_server import PlayingLLM, RunningServer, running_server
from iterative_rag.protocols import ChatRequest
from iterative_rag.serve.runs.run import RunStatus

PATIENCE = 30.0


@pytest.fixture(scope="module")
def module_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One server for all tests of a file; none of them may change what it holds."""
    folder = tmp_path_factory.mktemp("served")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ITERATIVE_RAG_HOME", str(folder / "home"))
        with running_server(folder) as running:
            yield running


@pytest.fixture
def served(module_server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> RunningServer:
    """The server of this file, in the data folder that it began with."""
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(module_server.home))
    return module_server


class HeldLLM(PlayingLLM):
    """Every call waits until it is let go, in short steps, as a stream that is read in chunks."""

    def __init__(self) -> None:
        super().__init__(self._wait)
        self.free, self.called = threading.Event(), threading.Event()

    def _wait(self, request: ChatRequest) -> None:
        self.called.set()
        assert self.free.wait(PATIENCE)


def check_stopped(server: RunningServer, llm: HeldLLM) -> None:
    """The one run of the server ends before its next call."""
    [run] = server.services.runs.all()
    assert run.stopped.wait(PATIENCE)
    llm.free.set()
    assert run.wait(PATIENCE)
    assert run.state is RunStatus.STOPPED


@contextmanager
def held_server(folder: Path, **options: Any) -> Iterator[tuple[RunningServer, HeldLLM]]:
    llm = HeldLLM()
    with running_server(folder, backends={"held": llm}, **options) as running:
        try:
            yield running, llm
        finally:
            llm.free.set()
