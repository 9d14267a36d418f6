"""Isolates inspect_ai: no `.env` is loaded, no program named by the working folder is executed, nothing is
written outside our data folder, and an interrupt ends it in an orderly way.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from iterative_rag.settings import home
from iterative_rag.system.files import check_writable
from iterative_rag.system.private_files import private_folder, tighten

# python-dotenv obeys it in load_dotenv. inspect_ai calls that for a .env of the working folder or any above it, which
# could name a proxy or a server, or hold somebody else's keys.
_NO_DOTENV = "PYTHON_DOTENV_DISABLED"


@contextmanager
def contained() -> Iterator[None]:
    """Hold this around every call of inspect_ai that runs something. Raises CorpusError where our data folder, which it
    writes its own traces to, takes no file."""
    from inspect_ai._eval.task import log
    from inspect_ai._util import appdirs

    check_writable(_own_folder("inspect_ai"))
    folders: Any = appdirs
    logs: Any = log
    kept = folders.user_data_path, folders.user_cache_path, logs.git_context
    before, loud = os.environ.get(_NO_DOTENV), logging.raiseExceptions
    logging.raiseExceptions = False  # a line of its trace that cannot be written would be told with a traceback
    os.environ[_NO_DOTENV] = "1"
    # Its traces and the note for its viewer; it has no setting for either.
    folders.user_data_path = folders.user_cache_path = _own_folder
    # `git status` runs whatever .git/config of the working folder names as core.fsmonitor.
    logs.git_context = _no_git
    try:
        yield
    finally:
        logging.raiseExceptions = loud
        tighten(_own_folder("inspect_ai"))  # it creates files by the umask
        folders.user_data_path, folders.user_cache_path, logs.git_context = kept
        if before is None:
            del os.environ[_NO_DOTENV]
        else:
            os.environ[_NO_DOTENV] = before


@contextmanager
def cancelled_by_interrupts() -> Iterator[None]:
    """Have an interrupt cancel the event loop that inspect_ai runs in, instead of being raised in the midst of it.

    Where it is raised the loop can lose a callback that somebody waits for, and with it the interrupt, or its own end.
    asyncio cancels only where the handler is Python's own.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before in (signal.SIG_IGN, None):
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _own_folder(name: str, *_: object) -> Path:
    return private_folder(home() / name)


def _no_git() -> None:
    """The run's own manifest names the version of the code."""
