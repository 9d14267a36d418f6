"""Runs `iterative-rag` as users do, as a process of its own; on a terminal: `fakes/terminal_session.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Done:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Command = Callable[..., Done]  # (*arguments, **environment); the process takes `stdin`, too
TerminalCommand = Callable[..., str]

# Runs the command lines that it is given one after the other in one process; each may end with 0, or 3 (abstained).
SEVERAL = """
import os, shlex, sys
from iterative_rag.cli import main
os._exit = sys.exit  # a command that does not wait for its threads would end the others too
for line in sys.argv[1:]:
    try:
        main(shlex.split(line))
    except SystemExit as done:
        assert done.code in (0, 3), (line, done.code)
"""


def run_as_process(*arguments: str, stdin: str = "", **environment: str) -> Done:
    """The command as a process of its own; its home is that of the test."""
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
