"""For every test: data of its own, nothing of the user's environment, and local servers that break on demand."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from fakes.model_server import FakeServer
from iterative_rag.remote import server_calls
from iterative_rag.remote.api_keys import SECRETS

# No test asserts on time, and the first text of a language compiles its patterns.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
# A suite in the background of a shell inherits that Ctrl-C is ignored, and so would the commands that it interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def _clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test reads or writes what belongs to the user, or leaves a handler of Ctrl-C to the next."""
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    for name in [name for name in os.environ if name.startswith("ITERATIVE_RAG_")]:
        monkeypatch.delenv(name)
    for name in (*SECRETS, "OLLAMA_HOST", *PROXIES, *(name.lower() for name in PROXIES)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    interrupts = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, interrupts)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        yield running


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that failed are repeated at once."""
    monkeypatch.setattr(server_calls, "FIRST_PAUSE", 0.01)


@pytest.fixture(params=["ollama", "openai-like"])
def kind(request: pytest.FixtureRequest) -> str:
    """The kinds of model servers that both chat models and embedders are adapted to."""
    return str(request.param)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help="also all of the long matrices of kills and faults")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Live tests run only where they are asked for, with `-m live`; the whole of long matrices with `--nightly`."""
    asked = str(config.getoption("markexpr"))
    skips = {}
    if "live" not in asked:
        skips["live"] = pytest.mark.skip(reason="needs a real server: run with -m live")
    if not config.getoption("nightly"):
        skips["nightly"] = pytest.mark.skip(reason="one of a long matrix: run with --nightly")
    for item in items:
        for marker, skip in skips.items():
            if item.get_closest_marker(marker):
                item.add_marker(skip)
