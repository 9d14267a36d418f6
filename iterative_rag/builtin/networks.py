"""Loads the packaged weights, verifies their sha256, runs the networks on one thread each, and caches their outputs."""

from __future__ import annotations

import hashlib
import math
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from iterative_rag.errors import WeightsError
from iterative_rag.protocols import Cache
from iterative_rag.storage.cache import cache_key
from iterative_rag.system.telemetry import warn_if_on

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from tokenizers import Tokenizer

T = TypeVar("T")

_HINT: Final = "Install the package again: pip install --force-reinstall --no-deps iterative-rag"


class Lazy(Generic[T]):
    """Loads a model from a folder of weights at the first call; thread-safe. A failed load is retried at the next."""

    def __init__(self, load: Callable[[Traversable], T], weights: Traversable) -> None:
        self._load, self._weights = load, weights
        self._lock = threading.Lock()
        self._model: T | None = None

    def __call__(self) -> T:
        if self._model is None:
            with self._lock:
                if self._model is None:
                    self._model = self._load(self._weights)
        return self._model


def lazy(load: Callable[[Traversable], T], weights: Traversable | None) -> Lazy[T]:
    """The lazy model of a folder; None is the packaged one, shared by the whole process (23 MB for each network)."""
    return _packaged(load) if weights is None else Lazy(load, weights)


@cache
def _packaged(load: Callable[[Traversable], T]) -> Lazy[T]:
    return Lazy(load, packaged_weights())


def packaged_weights() -> Traversable:
    return files("iterative_rag.builtin") / "weights"


def read_file(weights: Traversable, name: str, digest: str = "") -> bytes:
    """Read a file of weights. Raises WeightsError if it is unreadable or `digest` (sha256) does not match."""
    try:
        content = (weights / name).read_bytes()
    except OSError as error:
        raise _unreadable(name, error) from error
    if digest and hashlib.sha256(content).hexdigest() != digest:
        raise damaged(name, len(content))
    return content


def load_network(weights: Traversable, name: str, digest: str) -> Network:
    """Load the network in a file. Raises WeightsError if it is unreadable or `digest` (sha256) does not match.

    The file is hashed in chunks and loaded by path: reading its 23 MB into memory first took a fifth of the time.
    """
    with as_file(weights / name) as path:
        try:
            with path.open("rb") as file:
                checksum, size = hashlib.file_digest(file, "sha256").hexdigest(), file.tell()
        except OSError as error:
            raise _unreadable(name, error) from error
        if checksum != digest:
            raise damaged(name, size)
        return Network(path)


def damaged(name: str, size: int) -> WeightsError:
    return WeightsError(f"The built-in backend's file {name} is damaged ({size:,} bytes).", hint=_HINT)


def _unreadable(name: str, error: OSError) -> WeightsError:
    return WeightsError(f"The built-in backend cannot read its file {name}: {error}.", hint=_HINT)


class Network:
    """An ONNX network that runs on the calling thread, so that results are deterministic; thread-safe.

    At most as many run at once as there are cores, over all networks of the process: more would not be faster, and
    each run holds its activations in memory.
    """

    def __init__(self, network: Path) -> None:
        import onnxruntime  # type: ignore[import-untyped]

        warn_if_on("onnxruntime")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # 1 to 2 % faster without, and memory is returned
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(str(network), options, providers=["CPUExecutionProvider"])

    def run(self, inputs: Mapping[str, Any]) -> list[Any]:
        """Run the network on named input arrays and return all outputs as arrays."""
        with _cores.free:
            outputs: list[Any] = self._session.run(None, inputs)
        return outputs


class _Cores:
    """Limits how many networks run at once. Reset in a forked child, where a slot held by the parent is never freed."""

    def __init__(self) -> None:
        self._begin()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self.free = threading.BoundedSemaphore(usable_cores())


def tokenizer(vocabulary: bytes) -> Tokenizer:
    """Load a tokenizer without padding or truncation; threads may share it as long as nobody switches them on."""
    from tokenizers import Tokenizer

    loaded: Tokenizer = Tokenizer.from_buffer(vocabulary)
    loaded.no_padding()
    loaded.no_truncation()
    return loaded


def valid_unicode(text: str) -> str:
    """Replace lone surrogates, as in a damaged file, by "?"; character offsets stay the same."""
    return text.encode("utf-8", "replace").decode("utf-8")


def log_odds(probability: float) -> float:
    kept = min(max(probability, 1e-4), 1 - 1e-4)
    return math.log(kept / (1 - kept))


def usable_cores() -> int:
    """Number of cores that this process may use; in a container it may be less than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_cores = _Cores()


def cached_result(
    cache: Cache | None,
    key: Sequence[object],
    form: TypeAdapter[T],
    work: Callable[[], T],
    fits: Callable[[T], bool],
) -> T:
    """Return the cached result of `work` under `key`, or compute and cache it.

    `key` consists of JSON values: what is computed, versions of code and model, the input. A cached row is untrusted
    input: one that is invalid for `form`, or for which `fits` is false, is dropped and computed again.
    """
    if cache is None:
        return work()
    name = cache_key("builtin", *key)

    def read(row: object) -> T:
        value = form.validate_python(row)
        if not fits(value):
            raise ValueError("the row does not fit its key")
        return value

    if (cached := cache.get(name, read)) is not None:
        return cached
    value = work()
    cache.put(name, form.dump_python(value, mode="json"))
    return value
