"""The command `iterative-rag`: reads arguments, calls the factory, prints. One file per group of commands.

Importing this must stay cheap (`--help` answers in 0.1 s): each command imports what it needs when it runs.
"""

from __future__ import annotations

import os
import sys

from iterative_rag.cli import interrupts

TYPE_CHECKING = False  # as in the package's __init__
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit with its code."""
    interrupts.leave_before_the_start()
    code = _run(sys.argv[1:] if arguments is None else list(arguments))
    interrupts.ignore()
    threads = sys.modules.get("iterative_rag.system.threads")
    # An interrupt that strikes while a thread is being started can leave one that never ends.
    if code == interrupts.INTERRUPTED or (threads is not None and threads.busy()):
        # Do not wait for replies to abandoned calls, nor for a model that is still loading.
        import contextlib

        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    """The one place where errors become messages and exit codes."""
    from typer import Abort

    from iterative_rag.cli.app import route, run
    from iterative_rag.cli.console import guard_streams

    guard_streams()
    arguments, debug = route(arguments)
    interrupts.raise_the_first(arguments)
    try:
        code = run(arguments)
        if code == interrupts.INTERRUPTED:  # typer has made an exit code of it
            interrupts.say_stopped(arguments)
        sys.stdout.flush()  # so that a closed pipe shows here, and not after the last statement
        return code
    except SystemExit as done:
        # Both libraries that print end with 1 where the reader of a pipe has left.
        if isinstance(done.__context__, BrokenPipeError):
            _drop_output()
            return 0
        return done.code if isinstance(done.code, int) else 0
    except Abort as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            return _interrupted(arguments)
        say("Nothing was done.", "")
        return 1
    except KeyboardInterrupt:
        return _interrupted(arguments)
    except BrokenPipeError:  # the reader of the pipe (head, less) has closed it
        _drop_output()
    except Exception as error:
        if interrupts.raised():  # an extension module that is stopped in its import raises an ImportError
            return _interrupted(arguments)
        if debug:
            raise
        return _told(error)
    return 0


def _interrupted(arguments: list[str]) -> int:
    interrupts.say_stopped(arguments)
    return interrupts.INTERRUPTED


def _told(error: Exception) -> int:
    """Print an error, also one that no lower layer has named; its exit code."""
    from iterative_rag.errors import IterativeRAGError
    from iterative_rag.system.files import refusal

    if named := error if isinstance(error, IterativeRAGError) else refusal(error):
        say(str(named), named.hint)
        try:
            sys.stdout.flush()
        except OSError:  # it is what this command prints: the interpreter would try to write the rest once more
            _drop_output()
        return named.exit_code
    say(f"Unexpected {type(error).__name__}: {error}", "Run it again with --debug and report what it shows.")
    return 1


def say(message: str, hint: str) -> None:
    """Print an error: one sentence, and what to type next."""
    from iterative_rag.cli.console import clean, err

    printer = err()
    printer.line(("Error: ", "bold red"), clean(message))
    if hint:
        printer.line(("Hint:  ", "yellow"), clean(hint))


def _drop_output() -> None:
    """Redirect both streams to null, so that the interpreter's last flush does not fail as well."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(null, stream.fileno())


__all__ = ["main"]
