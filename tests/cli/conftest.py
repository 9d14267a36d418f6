from __future__ import annotations

import logging
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from iterative_rag.cli import main


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No settings file of the working folder is read, no colour is switched off, no log handler stays behind."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.chdir(tmp_path)
    yield
    logging.getLogger("iterative_rag").handlers = []


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """The command in this process; returns its exit code and what it printed."""
    monkeypatch.setattr(os, "_exit", sys.exit)  # a command that does not wait for its threads would end the tests too

    def call(*arguments: str) -> Done:
        with pytest.raises(SystemExit) as exit_info:
            main(arguments)
        printed = capsys.readouterr()
        code = exit_info.value.code
        assert code is None or isinstance(code, int)
        return Done(code or 0, printed.out, printed.err)

    return call


@pytest.fixture
def shell() -> Callable[..., Done]:
    """The command as a process of its own."""

    def call(*arguments: str, stdin: str = "", **environment: str) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "iterative_rag", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, **environment},
            timeout=120,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def on_a_terminal() -> Callable[..., str]:
    """The command on a pseudo terminal; returns all that it wrote there."""
    return _on_a_terminal


def _on_a_terminal(arguments: list[str], *, typed: str = "", **environment: str) -> str:
    """What the command writes to a pseudo terminal; `typed` is the answer to its first question."""
    main_end, other_end = pty.openpty()
    command = [sys.executable, "-m", "iterative_rag", *arguments]
    base = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    with subprocess.Popen(
        command,
        stdin=other_end if typed else None,
        stdout=other_end,
        stderr=other_end,
        env={**base, "TERM": "xterm-256color", **environment},
        start_new_session=bool(typed),  # else getpass would ask on the terminal of whoever runs the tests
    ) as process:
        os.close(other_end)
        written = b""
        while True:
            try:
                part = os.read(main_end, 4096)
            except OSError:  # Linux says so at the end of a pseudo terminal
                part = b""
            if not part:
                break
            written += part
            if typed and written.endswith(b": "):
                os.write(main_end, typed.encode())
                typed = ""
        process.wait(timeout=60)
    os.close(main_end)
    return written.decode()
