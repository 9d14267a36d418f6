"""Runs `iterative-rag` as users do: as a process of its own, or on a pseudo terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
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


def run_on_terminal(
    arguments: list[str], *, typed: str = "", columns: int = 0, piped: bool = False, **environment: str
) -> str:
    """What the command writes to a pseudo terminal of so many columns (0: the usual number); `typed` is the answer to
    its first question; `piped`: its stdout is no terminal, and what it writes there is dropped."""
    main_end, other_end = pty.openpty()
    if columns:
        fcntl.ioctl(other_end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = [sys.executable, "-m", "iterative_rag", *arguments]
    # Test workers have COLUMNS set, which would count for more than the terminal's own size.
    base = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "LINES")}
    with subprocess.Popen(
        command,
        stdin=other_end if typed else None,
        stdout=subprocess.DEVNULL if piped else other_end,
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
