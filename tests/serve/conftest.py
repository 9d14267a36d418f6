"""A server over the two articles for each file of tests."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from fakes.running_server import RunningServer, running_server


@pytest.fixture(scope="module")
def module_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One server for all tests of a file; none of them may change what it holds."""
    folder = tmp_path_factory.mktemp("served")
    before = os.environ.get("ITERATIVE_RAG_HOME")
    os.environ["ITERATIVE_RAG_HOME"] = str(folder / "home")
    try:
        with running_server(folder) as running:
            yield running
    finally:
        os.environ.pop("ITERATIVE_RAG_HOME")
        if before is not None:
            os.environ["ITERATIVE_RAG_HOME"] = before


@pytest.fixture
def served(module_server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> RunningServer:
    """The server of this file, in the data folder that it began with."""
    folder = module_server.home
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(folder))
    return module_server
