"""A run: prepare it, refuse to resume another one, execute it through inspect_ai, read back the records."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import UsageError
from iterative_rag.evaluation.preparation import Preparation, RunConfig
from iterative_rag.evaluation.records import Outcome, QuestionRecord
from iterative_rag.evaluation.run_folder import LOGS, MANIFEST, RunFolder, begin_or_resume, need_inspect, read_run
from iterative_rag.settings import home
from iterative_rag.system.files import FILE_MODE, check_writable, disk_full, is_disk_full, private_folder, tighten

if TYPE_CHECKING:
    from iterative_rag.index.indexing_progress import Progress as IndexProgress


@dataclass(slots=True)
class Tally:
    """Progress of a run. `fresh` questions were finished by this call, which has run for `seconds`."""

    total: int
    done: int = 0
    fresh: int = 0
    right: int = 0
    judged: int = 0
    faults: int = 0
    calls: int = 0
    tokens: int = 0
    begun: float = field(default_factory=time.monotonic)

    def add(self, record: QuestionRecord, *, fresh: bool = True) -> None:
        self.done += 1
        self.fresh += fresh
        self.judged += record.right is not None
        self.right += record.right is True
        self.faults += record.outcome is Outcome.FAULT
        for spent in (record.spent, record.judging):
            self.calls += spent.calls
            self.tokens += spent.prompt_tokens + spent.completion_tokens

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    @property
    def seconds_left(self) -> float | None:
        if not self.fresh:
            return None
        return self.seconds / self.fresh * (self.total - self.done)

    @property
    def per_minute(self) -> float:
        return self.fresh / max(1e-9, self.seconds) * 60


def run(
    config: RunConfig,
    out: Path,
    *,
    retry_errors: bool = False,
    progress: Callable[[Tally], None] | None = None,
    indexing: Callable[[IndexProgress], None] | None = None,
) -> RunFolder:
    """Run what of `config` is not done yet in `out`; the run as it lies there then.

    Raises UsageError when `out` holds another run, or one that is going on, and any IterativeRAGError of the parts.
    """
    need_inspect()
    with contextlib.closing(Preparation(config, indexing)) as prepared, _held(out):
        begin_or_resume(out, prepared.manifest)
        logs = out / LOGS
        if retry_errors:
            from iterative_rag.evaluation.inspect_task import forget_faults

            forget_faults(logs)
        tally = Tally(total=len(prepared.exams) * config.repeat)
        for record in read_run(out).records:
            tally.add(record, fresh=False)
        if progress is not None:
            progress(tally)
        if tally.done < tally.total:
            _carry_out(prepared, logs, tally, progress)
        return read_run(out)


def _carry_out(prepared: Preparation, logs: Path, tally: Tally, progress: Callable[[Tally], None] | None) -> None:
    """Have inspect_ai run what is not in the logs yet."""
    from inspect_ai import eval_set

    from iterative_rag.evaluation.inspect_task import make_task

    lock = threading.Lock()

    def done(record: QuestionRecord) -> None:
        with lock:
            tally.add(record)
            if progress is not None:
                progress(tally)

    config = prepared.config
    task = make_task(
        f"{prepared.dataset.name}-{config.mode}",
        prepared.exams,
        prepared.examine,
        prepared.score,
        repeat=config.repeat,
        concurrency=config.concurrency,
        done=done,
    )
    # The closing message of inspect_ai goes nowhere: stdout is for our data.
    with contextlib.redirect_stdout(io.StringIO()), _contained(), _cancelled_by_interrupts():
        _, eval_logs = eval_set(
            [task],
            log_dir=str(logs),
            model=None,
            display="none",
            max_samples=config.concurrency,
            log_buffer=1,  # every finished question is on disk at once
            log_realtime=False,
            retry_attempts=0,  # a question has retries of its own
            retry_immediate=False,
            fail_on_error=False,
            ctl_server=False,
            eval_set_id=prepared.dataset.digest[:12],
            log_dir_allow_dirty=True,
        )
    if not eval_logs:
        raise KeyboardInterrupt  # inspect_ai swallows the interrupt, saves what is finished and returns nothing


@contextlib.contextmanager
def _held(out: Path) -> Iterator[None]:
    """Lock the folder of a run: one process at a time writes to it."""
    from filelock import FileLock, Timeout

    try:
        if not out.exists() or not any(out.iterdir()) or (out / MANIFEST).exists():
            tighten(out)  # a folder that holds other things keeps its mode; it is refused, or its files are tightened
        lock = FileLock(out / ".lock", timeout=0, mode=FILE_MODE)
        with lock:
            try:
                yield
            finally:
                if (out / MANIFEST).exists():
                    tighten(out)  # inspect_ai creates its logs by the umask
    except Timeout as error:
        raise UsageError(f"Another process is running in {out}.", hint="Wait for it, or give another --out.") from error
    except OSError as error:
        if is_disk_full(error) and not error.filename:
            raise disk_full(out) from error  # inspect_ai closes its logs without saying which file was not written
        at, folder = Path(str(error.filename)).absolute(), out.absolute()
        if is_disk_full(error) or not (at.is_relative_to(folder) or folder.is_relative_to(at)):
            raise
        raise UsageError(
            f"{out} cannot be written: {error.strerror}.", hint="Give another folder with --out."
        ) from error


# --- inspect_ai kept apart: no `.env` is loaded, no program that the working folder names is run, nothing is written
# outside our data folder, and an interrupt ends it in an orderly way


# python-dotenv obeys it in load_dotenv. inspect_ai calls that for a .env of the working folder or any above it, which
# could name a proxy or a server, or hold somebody else's keys.
_NO_DOTENV = "PYTHON_DOTENV_DISABLED"


@contextlib.contextmanager
def _contained() -> Iterator[None]:
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
    # `git status` runs whatever .git/config of the working folder names as core.fsmonitor. The run's own manifest names
    # the version of the code.
    logs.git_context = lambda: None
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


@contextlib.contextmanager
def _cancelled_by_interrupts() -> Iterator[None]:
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
