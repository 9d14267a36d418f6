"""Ctrl-C: one line that says which command goes on, exit code 130, never a traceback.

Before a command begins the process leaves at once. Then the first interrupt is raised as KeyboardInterrupt, so that
files are closed; a second one leaves at once.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as in the package's __init__: the sooner the first handler stands, the better
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from types import FrameType
    from typing import NoReturn
else:
    try:
        import _signal as signal  # what `signal` wraps in enumerations, which take milliseconds to import
    except ImportError:
        import signal

INTERRUPTED = 130

_NOT_BEGUN = "Stopped: nothing was begun. To go on, run the same command again.\n"
# A run that has not ended by then has lost the interrupt, or was importing.
_LOST_SECONDS = 1.0
# Where ^C stands on the line that was begun, below a progress bar that hides the cursor.
_SHOW_CURSOR = "\x1b[?25h\n"
_raised = _said = False


def leave_before_the_start() -> None:
    """Until `raise_the_first` is called, an interrupt ends the process with one line."""
    _handle(lambda _: _leave(_NOT_BEGUN))


def raise_the_first(arguments: list[str], *, again: bool = False) -> None:
    """From here on the first interrupt raises KeyboardInterrupt; `arguments` are those of the command that begins.
    Python drops what is raised in a destructor, of which an import calls many, and an import that is broken off may
    leave its module locked for other threads: it is raised `again`, outside of imports, until `noticed`."""
    global _raised, _said
    _raised = _said = False
    text = stopped_message(arguments)

    def interrupt(frame: FrameType | None) -> None:
        global _raised
        _raised = True
        _handle(lambda _: _leave(text))
        if again and _raise_every(_LOST_SECONDS):
            return _raise_outside_imports(0, frame)
        raise KeyboardInterrupt

    _handle(interrupt)


def noticed() -> None:
    """What the interrupt was to end has ended."""
    _raise_every(0)


def _raise_every(seconds: float) -> bool:
    """Whether it can be raised again: not on Windows."""
    if able := hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _raise_outside_imports)
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    return able


def _raise_outside_imports(number: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return
        frame = frame.f_back
    raise KeyboardInterrupt


def say_stopped(arguments: list[str]) -> None:
    """Print the line for an interrupt that was raised."""
    global _said
    _said = True
    if sys.stderr.isatty():
        sys.stderr.write("\n")  # the terminal shows ^C on the line that was begun
    sys.stderr.write(stopped_message(arguments))
    sys.stderr.flush()


def raised() -> bool:
    """Whether an interrupt was raised, whatever has become of it."""
    return _raised


def ignore() -> None:
    """Everything is done and printed, and the process ends with its own exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def stopped_message(arguments: list[str]) -> str:
    """`Stopped. To go on: iterative-rag index articles`"""
    import shlex

    from iterative_rag.text.control_characters import one_line

    return one_line(f"Stopped. To go on: {shlex.join(['iterative-rag', *arguments])}") + "\n"


def _leave(text: str) -> NoReturn:
    before = _SHOW_CURSOR if os.isatty(2) else ""
    try:
        os.write(2, (before + ("" if _said else text)).encode("utf-8", "replace"))
    finally:  # a full stderr does not keep the process from leaving
        os._exit(INTERRUPTED)


def _handle(act: Callable[[FrameType | None], object]) -> None:
    """Nothing is handled where interrupts are ignored (`nohup`, a job in the background of a script)."""
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda number, frame: act(frame))
