"""Ctrl-C: one line that says what is kept and which command goes on, exit code 130, never a traceback.

Before a command begins and after it has ended there is nothing to tidy up, and the process leaves at once. In between
the first interrupt is raised as KeyboardInterrupt, so that files are closed; a second one leaves at once.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as in the package's __init__: the sooner the first handler stands, the better
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from types import FrameType
    from typing import Any, NoReturn
else:
    try:
        import _signal as signal  # what `signal` wraps in enumerations, which take milliseconds to import
    except ImportError:
        import signal

INTERRUPTED = 130

_NOT_BEGUN = "Stopped: nothing was begun. To go on, run the same command again.\n"
_KEPT = {
    "ask": "what was read so far is in the cache",
    "chat": "the conversation so far is kept",
    "index": "what is embedded so far is kept",
    "corpus add": "the pages and passages so far are kept",
    "corpus fetch": "the articles and passages so far are kept",
    "corpus push": "the vectors copied so far are kept",
    "corpus remove": "part of it may be removed",
    "cache clear": "part of it may be removed",
    "history delete": "part of it may be removed",
    "evaluate fetch": "the pages and passages so far are kept",
    "evaluate frames": "the pages, the passages and the finished questions are kept",
    "evaluate matrix": "finished questions are kept",
    "evaluate run": "finished questions are kept",
}
_UNCACHED = "nothing of it is kept but the trace"
# Where ^C stands on the line that was begun, below a progress bar that hides the cursor.
_SHOW_CURSOR = "\x1b[?25h\n"
_MOMENT = 0.05  # seconds
_raised = _said = False


def leave_before_the_start() -> None:
    """Until `raise_the_first` is called, an interrupt ends the process with one line."""
    _handle(lambda frame: _leave(_NOT_BEGUN))


def raise_the_first(arguments: list[str], *, stay: bool = False) -> None:
    """From here on the first interrupt raises KeyboardInterrupt; `arguments` are those of the command that begins.

    With `stay` one that cannot be raised where it strikes is raised a little later; else it ends the process.
    """
    global _raised, _said
    _raised = _said = False
    text = stopped_message(arguments)

    def interrupt(frame: FrameType | None) -> None:
        global _raised
        _raised = True
        if _importing(frame):
            # Extension modules print a traceback, or raise something else, when they are stopped half imported.
            if stay and _again_later():
                return
            _leave(text)
        _handle(lambda frame: _leave(text))
        raise KeyboardInterrupt

    _handle(interrupt)
    before = sys.unraisablehook

    def unraisable(args: Any) -> None:
        """An interrupt in a destructor or a callback is not raised: it would be printed and forgotten."""
        if args.exc_type is not None and issubclass(args.exc_type, KeyboardInterrupt):
            if stay and _again_later():
                _handle(interrupt)
                return
            _leave(text)
        before(args)

    sys.unraisablehook = unraisable


def _again_later() -> bool:
    """Have the interrupt strike once more in a moment; whether the system can do that."""
    if not hasattr(signal, "setitimer"):
        return False
    signal.signal(signal.SIGALRM, lambda number, frame: os.kill(os.getpid(), signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, _MOMENT)
    return True


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
    """`Stopped: what is embedded so far is kept. To go on: iterative-rag index articles`"""
    import shlex

    from iterative_rag.text.control_characters import one_line

    command = next((name for name in _KEPT if arguments[: len(name.split())] == name.split()), "")
    kept = _KEPT.get(command, "nothing was changed")
    if command == "ask" and "--no-cache" in arguments:
        kept = _UNCACHED
    return one_line(f"Stopped: {kept}. To go on: {shlex.join(['iterative-rag', *arguments])}") + "\n"


def _leave(text: str) -> NoReturn:
    before = _SHOW_CURSOR if os.isatty(2) else ""
    try:
        os.write(2, (before + ("" if _said else text)).encode("utf-8", "replace"))
    finally:  # a full stderr does not keep the process from leaving
        os._exit(INTERRUPTED)


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _handle(act: Callable[[FrameType | None], object]) -> None:
    """Nothing is handled where interrupts are ignored (`nohup`, a job in the background of a script)."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        return

    def handler(number: int, frame: FrameType | None) -> None:
        act(frame)

    signal.signal(signal.SIGINT, handler)
