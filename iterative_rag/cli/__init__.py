"""The command `iterative-rag`: reads arguments, calls the factory, prints. One file a group of commands.

Importing this must stay cheap (`--help` answers in a fraction of a second): whatever costs is imported by
the command that needs it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from iterative_rag.errors import DiskFull

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit with its code."""
    code = _run(sys.argv[1:] if arguments is None else list(arguments))
    threads = sys.modules.get("iterative_rag.system.threads")
    # An interrupt may also have struck while a thread was being started, which nobody would ever end then.
    if code == INTERRUPTED or (threads is not None and threads.busy()):
        # Answered, interrupted or out of time: do not wait for a server's replies to calls given up, nor for a model
        # that was being loaded.
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    """The one place where errors become words and exit codes."""
    from iterative_rag.cli.app import route, run
    from iterative_rag.cli.terminal import guard_streams
    from iterative_rag.errors import IterativeRAGError

    guard_streams()
    arguments, debug = route(arguments)
    try:
        run(arguments)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 0
    except IterativeRAGError as error:
        if debug:
            raise
        say(str(error), error.hint)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the pipe (head, less) has seen enough
        _drop_output()
    except Exception as error:
        if not debug and (full := _disk_full(error)):
            say(str(full), full.hint)
            return full.exit_code
        if debug:
            raise
        say(f"Unexpected {type(error).__name__}: {error}", "Run it again with --debug and report what it shows.")
        return 1
    return 0


def _disk_full(error: Exception) -> DiskFull | None:
    """What to say where a write failed for want of room and nobody below said it."""
    from pathlib import Path

    from iterative_rag.system.files import disk_full, is_no_room

    if not is_no_room(error):
        return None
    return disk_full(Path(getattr(error, "filename", None) or "."))


def say(message: str, hint: str) -> None:
    """An error as the user sees it: one sentence, and what to type next."""
    from iterative_rag.cli.console import clean, err

    printer = err()
    printer.line(("Error: ", "bold red"), clean(message))
    if hint:
        printer.line(("Hint:  ", "yellow"), clean(hint))


def _drop_output() -> None:
    """Point stdout at nothing, so that the interpreter's last flush stays quiet too."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


__all__ = ["main"]
