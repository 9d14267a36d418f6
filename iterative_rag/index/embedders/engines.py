"""Where texts are embedded: in a thread of this process, or on the machines of a Ray cluster.

On a cluster each core has a worker with its own embedder. The driver reads, cuts and writes; only texts and vectors
travel. A worker that dies is started again and its batches are embedded anew, on another machine if need be (Ray's
`max_restarts` and `max_task_retries`).
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from iterative_rag.errors import EmbedderError, IterativeRAGError, MissingExtra
from iterative_rag.protocols import Embedder, Vectors
from iterative_rag.remote.hosts import announce
from iterative_rag.system.telemetry import warn_if_on

if TYPE_CHECKING:
    from concurrent.futures import Future

# An interrupted command ends after this many texts, not after the whole batch.
PIECE = 64


class LocalEngine:
    """The embedder itself has all cores; a second batch beside the first would not be faster. `ahead` is how many
    batches to submit before waiting for the first, so that an engine always has work."""

    ahead = 1

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._closed = threading.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="iterative-rag embedding")

    def submit(self, texts: Sequence[str]) -> Future[Vectors]:
        return self._thread.submit(self._embed, texts)

    def close(self) -> None:
        """Abandon the batches that are being embedded."""
        self._closed.set()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        pieces = []
        for first in range(0, len(texts), PIECE):
            if self._closed.is_set():
                break
            pieces.append(self._embedder.embed_documents(texts[first : first + PIECE]))
        return np.concatenate(pieces) if pieces else np.zeros((0, self._embedder.dimensions), np.float32)


# Batches per worker: one being embedded, one waiting.
BATCHES = 2
# Retries of a batch whose worker died: a text that kills every worker must end the run.
RETRIES = 5
REACH_SECONDS = 5.0
START = "Start one: ray start --head, and ray start --address HOST:6379 on the other machines."


class RayEngine:
    """`make` builds the embedder of a worker, in the worker. `address` is that of a running cluster ("auto": the one of
    this machine); without one, a cluster of this machine's cores is started and ended with the engine.

    Raises MissingExtra without Ray, EmbedderError where no cluster answers or its workers have another embedder.
    """

    def __init__(self, make: Callable[[], Embedder], embedder: Embedder, address: str = "") -> None:
        try:
            import ray
        except ImportError as error:
            raise MissingExtra("ray") from error
        warn_if_on("ray")
        self._ray: Any = ray
        self._mine = not ray.is_initialized()
        if self._mine:
            _reach(address)
            cluster = (address or os.environ.get("RAY_ADDRESS", "")).removeprefix("ray://")
            if cluster not in ("", "auto", "local"):
                announce(f"ray://{cluster}", "the documents")
            try:
                self._ray.init(
                    address=address or None, log_to_driver=False, logging_level="ERROR", include_dashboard=False
                )
            except (ConnectionError, RuntimeError, ValueError, OSError) as error:
                message = f"No Ray cluster answers at {address or 'this machine'}: {_first_line(error)}"
                raise EmbedderError(message, hint=START) from error
        worker: Any = self._ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=RETRIES)(_Worker)
        cores = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self._workers: list[Any] = [worker.remote(make) for _ in range(cores)]
        self._waiting = [0] * cores
        self.ahead = BATCHES * cores
        names = {self._get(worker.name.remote()) for worker in self._workers}
        if others := names - {embedder.name}:
            self.close()
            message = f"A Ray worker has the embedder {others.pop()}, not {embedder.name}."
            raise EmbedderError(message, hint="Install the same version of iterative-rag on every machine.")

    def submit(self, texts: Sequence[str]) -> RemoteBatch:
        worker = min(range(len(self._workers)), key=self._waiting.__getitem__)
        self._waiting[worker] += 1
        reference = self._workers[worker].embed.remote(list(texts))
        return RemoteBatch(partial(self._vectors, worker, reference), partial(self._is_ready, reference))

    def close(self) -> None:
        for worker in self._workers:
            self._ray.kill(worker)
        if self._mine:
            self._ray.shutdown()

    def _vectors(self, worker: int, reference: Any) -> Vectors:
        self._waiting[worker] -= 1
        # Ray's arrays are read-only views of shared memory and keep it allocated while they live.
        vectors: Vectors = self._get(reference).copy()
        return vectors

    def _is_ready(self, reference: Any) -> bool:
        return bool(self._ray.wait([reference], timeout=0)[0])

    def _get(self, reference: Any) -> Any:
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, IterativeRAGError):
                raise cause from error
            raise EmbedderError(f"A Ray worker failed: {_first_line(error.cause)}") from error
        except self._ray.exceptions.RayError as error:
            message = f"The Ray cluster failed, after {RETRIES} retries where a worker died: {_first_line(error)}"
            raise EmbedderError(message, hint="Look at `ray status`; the same command resumes.") from error


@dataclass(frozen=True, slots=True)
class RemoteBatch:
    """What a worker embeds, as much of a Future as is used of one."""

    result: Callable[[], Vectors]
    done: Callable[[], bool]


Engine: TypeAlias = LocalEngine | RayEngine


class _Worker:
    def __init__(self, make: Callable[[], Embedder]) -> None:
        self._embedder = make()

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._embedder.embed_documents(texts)

    def name(self) -> str:
        return self._embedder.name


def _reach(address: str) -> None:
    """Check that the address answers: Ray itself would retry it for many minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or "/" in host:
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=REACH_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise EmbedderError(f"No Ray cluster answers at {address}: {_first_line(error)}", hint=START) from error


def _first_line(error: object) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
