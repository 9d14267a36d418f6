"""The runs of the server: a queue with a place in line, a few threads, and an end for runs that nobody watches."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from typing import Any, TypeAlias, cast

from iterative_rag.app.factory import IterativeRAG
from iterative_rag.errors import IterativeRAGError, ServerBusy
from iterative_rag.serve.rag_pool import RagPool
from iterative_rag.serve.runs.events import Failed, Queued, Started, Stopped
from iterative_rag.serve.runs.run import Run, RunStatus
from iterative_rag.serve.runs.run_request import RunRequest
from iterative_rag.serve.serve_options import ServeOptions
from iterative_rag.storage.trace import new_run_id
from iterative_rag.system.threads import LastingPool, RunStopped, refuse_stopped, stoppable
from iterative_rag.types import Earlier, Step
from iterative_rag.types.steps import WrittenAnswer

_log = logging.getLogger(__name__)
_MOMENT = 0.02  # seconds


# The steps of one run over what answers its question, told its `run_id` and where it reports to besides its steps
# (`progress`, `written`). It is iterated, and closed, on one thread of the manager.
Work: TypeAlias = Callable[[IterativeRAG, Mapping[str, Any]], Iterator[Step]]


class RunManager:
    """Starts, queues, finds and stops runs. Safe to use from several threads."""

    def __init__(self, pool: RagPool, options: ServeOptions) -> None:
        self.pool, self.options = pool, options
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}  # the oldest first
        self._threads = LastingPool("run", options.runs_at_once)
        self._timers: dict[str, threading.Timer] = {}
        self._closed = False

    def submit(self, request: RunRequest, *, client: str = "", work: Work | None = None) -> Run:
        """Start a run, or put it into the queue. `work` gives its steps where they are not those of the question alone.

        Raises ServerBusy where the queue is full, or this client has as many runs as it may have.
        """
        with self._lock:
            self._refuse_too_many(client)
            while (run_id := new_run_id()) in self._runs:
                pass
            run = Run(run_id, request, client, alone=self._left_alone, ended=self._cancel_timer)
            self._runs[run_id] = run
            over = [known for known, other in self._runs.items() if other.over]
            for old in over[: max(0, len(over) - self.options.kept_runs)]:
                del self._runs[old]
        self._left_alone(run)
        self._tell_places()
        self._threads.submit(self._carry_out, run, work or asking(request))
        return run

    def get(self, run_id: str) -> Run | None:
        """A run that goes on, or one of the last that ended."""
        return self._runs.get(run_id)

    def all(self) -> list[Run]:
        """The newest first."""
        with self._lock:
            return list(reversed(self._runs.values()))

    def stop(self, run: Run) -> None:
        """Stop a run. One that goes on keeps its thread until its next step or model call."""
        run.stop()
        self._tell_places()

    def close(self, seconds: float = 5.0) -> None:
        """Stop every run and wait so long for their threads, once."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        for run in self.all():
            if not run.over:
                self.stop(run)
        ends = time.monotonic() + seconds
        while self._threads.busy and time.monotonic() < ends:
            time.sleep(_MOMENT)
        for timer in list(self._timers.values()):
            timer.cancel()

    # --- the queue -----------------------------------------------------------------------------------

    def _refuse_too_many(self, client: str) -> None:
        going = [run for run in self._runs.values() if not run.over]
        if self._closed:
            raise ServerBusy("The server is stopping.")
        if client and sum(run.client == client for run in going) >= self.options.runs_per_client:
            raise ServerBusy(
                f"You have {self.options.runs_per_client} runs already, which is the most for one client.",
                hint="Wait for one of them, or stop it.",
            )
        if len(going) >= self.options.runs_at_once + self.options.queue:
            raise ServerBusy("The queue is full.", hint="Try again in a minute.")

    def _tell_places(self) -> None:
        waiting = [run for run in reversed(self.all()) if run.state is RunStatus.QUEUED]
        for place, run in enumerate(waiting, 1):
            run.publish(Queued(place))

    # --- one run -------------------------------------------------------------------------------------

    def _carry_out(self, run: Run, work: Work) -> None:
        if run.over:  # stopped while it waited
            return
        run.publish(Started())
        self._tell_places()
        text = WrittenAnswer(run.publish)
        try:
            with stoppable(run.stopped):
                rag = self.pool.rag(run.request.corpus, run.request.backend)
                rag = rag.over(rag.corpus, within=run.request.within, **run.request.settings)
                steps = work(rag, {"run_id": run.id, "progress": run.publish, "written": text.wrote})
                with closing(cast(Generator[Step], steps)):
                    for step in steps:
                        refuse_stopped()
                        text.check(step)
                        run.publish(step)
        except RunStopped:
            pass
        except IterativeRAGError as error:
            _log.warning("Run %s: %s", run.id, error)
            run.publish(Failed(error))
        except Exception:  # noqa: BLE001 - the boundary: logged, and the client is told
            _log.exception("Run %s", run.id)
            run.publish(Failed(IterativeRAGError("An unexpected error ended the run.", hint="See the server's log.")))
        run.publish(Stopped())  # dropped where it is over already

    def _cancel_timer(self, run: Run) -> None:
        if timer := self._timers.pop(run.id, None):
            timer.cancel()

    def _left_alone(self, run: Run) -> None:
        """Stop the run unless somebody watches it in a while."""

        def end() -> None:
            if not run.watched and not run.over:
                _log.info("Run %s is stopped: nobody watches it.", run.id)
                self.stop(run)

        timer = threading.Timer(self.options.grace_seconds, end)
        timer.daemon = True
        self._cancel_timer(run)
        self._timers[run.id] = timer
        timer.start()
        if run.over:
            self._cancel_timer(run)


def asking(request: RunRequest, earlier: Earlier | None = None) -> Work:
    """The steps of answering the question of a request; with `earlier` it is a follow-up."""

    def work(rag: IterativeRAG, told: Mapping[str, Any]) -> Iterator[Step]:
        return rag.steps(request.question, strategy=request.strategy, earlier=earlier, **told)

    return work
