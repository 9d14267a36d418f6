"""A command on a pseudo terminal that is typed to while it runs."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import subprocess
import sys
import time
from types import TracebackType

_PATIENCE = 90.0  # seconds; on a busy machine a start takes ten
_INTERRUPTS = 20


class TerminalSession:
    """`expect` waits for words on the screen, `type` sends a line, `press` sends keys such as ^C."""

    def __init__(self, arguments: list[str], *, asked: bool = True, piped: bool = False, **environment: str) -> None:
        """`asked`: its input is the terminal, too; `piped`: its output is not, and is dropped."""
        self._main, other = pty.openpty()
        # Test workers have COLUMNS set, which would count for more than the terminal's own size.
        base = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "LINES")}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "iterative_rag", *arguments],
            stdin=other if asked else None,
            stdout=subprocess.DEVNULL if piped else other,
            stderr=other,
            env={**base, "TERM": "xterm-256color", **environment},
            preexec_fn=_own_terminal if asked else None,
        )
        os.close(other)
        self._seen = b""
        self._written = b""

    def __enter__(self) -> TerminalSession:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._main)

    @property
    def screen(self) -> str:
        """All that was written so far."""
        return self._written.decode(errors="replace")

    def expect(self, words: str, seconds: float = _PATIENCE) -> str:
        """What was written up to and with these words. Raises AssertionError where they do not come."""
        until = time.monotonic() + seconds
        while (at := self._seen.find(words.encode())) < 0:
            if not self._read(until):
                raise AssertionError(f"{words!r} did not come; the screen holds:\n{self.screen[-3000:]}")
        end = at + len(words.encode())
        found, self._seen = self._seen[:end].decode(errors="replace"), self._seen[end:]
        return found

    def type(self, line: str) -> None:
        os.write(self._main, f"{line}\n".encode())

    def press(self, key: str) -> None:
        os.write(self._main, key.encode())

    def interrupt_until(self, words: str) -> str:
        """Press Ctrl-C, and again where nothing comes of it: Python does not notice one that strikes between readline's
        last key and its waiting for the next."""
        for _ in range(_INTERRUPTS):
            self.press("\x03")
            with contextlib.suppress(AssertionError):
                return self.expect(words, _PATIENCE / _INTERRUPTS)
        raise AssertionError(f"{words!r} did not come; the screen holds:\n{self.screen[-3000:]}")

    def answer(self, keys: str) -> None:
        """Press these once a question stands at the end of the screen."""
        until = time.monotonic() + _PATIENCE
        while not self.screen.endswith(": "):
            assert self._read(until), f"no question came; the screen holds:\n{self.screen[-3000:]}"
        self.press(keys)

    def end(self) -> int:
        """The exit code, once the command has ended."""
        until = time.monotonic() + _PATIENCE
        while self._read(until):
            pass
        return self._process.wait(timeout=_PATIENCE)

    def _read(self, until: float) -> bool:
        ready, _, _ = select.select([self._main], [], [], max(0.0, until - time.monotonic()))
        try:
            part = os.read(self._main, 65536) if ready else b""
        except OSError:  # Linux says so at the end of a pseudo terminal
            part = b""
        self._seen += part
        self._written += part
        return bool(part)


def run_on_terminal(arguments: list[str], *, typed: str = "", piped: bool = False, **environment: str) -> str:
    """What the command writes to a pseudo terminal; `typed` is the answer to its first question."""
    with TerminalSession(arguments, asked=bool(typed), piped=piped, **environment) as session:
        if typed:
            session.answer(typed)
        session.end()
        return session.screen


def _own_terminal() -> None:
    """In the new process: ^C on this terminal is for it alone, also where the tests ignore it."""
    import fcntl
    import signal
    import termios

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
