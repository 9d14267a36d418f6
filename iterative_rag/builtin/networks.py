"""Loading the weights that travel in the package: read, checked, run on one thread each."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from iterative_rag.errors import WeightsError
from iterative_rag.system.telemetry import warn_if_on

if TYPE_CHECKING:
    from tokenizers import Tokenizer

T = TypeVar("T")

# The vocabulary of all-MiniLM-L6-v2, which the encoder and the reader share.
VOCABULARY: Final = "tokenizer.json"
VOCABULARY_DIGEST: Final = "6681992d43e581b35b3dd61f3c81ee0f891fbf13ad54f8b692ea868bd46b066b"
_HINT: Final = "Install the package again: pip install --force-reinstall --no-deps iterative-rag"


class Lazy(Generic[T]):
    """A model that is loaded from a folder of weights when it is first needed.

    Safe to use from several threads. A load that fails is tried again the next time.
    """

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
    """The model of a folder; without one that of the package, which all of the process share: 23 MB each."""
    return _packaged(load) if weights is None else Lazy(load, weights)


@cache
def _packaged(load: Callable[[Traversable], T]) -> Lazy[T]:
    return Lazy(load, packaged_weights())


def packaged_weights() -> Traversable:
    return files("iterative_rag.builtin") / "weights"


def read_file(weights: Traversable, name: str, digest: str = "") -> bytes:
    """A file of weights; `digest` is its sha256. Raises WeightsError where it cannot be read or is another one."""
    try:
        content = (weights / name).read_bytes()
    except OSError as error:
        raise _unreadable(name, error) from error
    if digest and hashlib.sha256(content).hexdigest() != digest:
        raise damaged(name, len(content))
    return content


def load_network(weights: Traversable, name: str, digest: str) -> Network:
    """The network in a file whose sha256 is `digest`. Raises WeightsError where it cannot be read or is another one.

    The file is checked piece by piece and loaded by its path: to hold its 23 MB besides took a fifth of the time.
    """
    with as_file(weights / name) as path:
        try:
            with path.open("rb") as file:
                found, size = hashlib.file_digest(file, "sha256").hexdigest(), file.tell()
        except OSError as error:
            raise _unreadable(name, error) from error
        if found != digest:
            raise damaged(name, size)
        return Network(path)


def damaged(name: str, size: int) -> WeightsError:
    return WeightsError(f"The built-in backend's file {name} is damaged ({size:,} bytes).", hint=_HINT)


def _unreadable(name: str, error: OSError) -> WeightsError:
    return WeightsError(f"The built-in backend cannot read its file {name}: {error}.", hint=_HINT)


class Network:
    """A network that computes on the calling thread: sums are taken in one order, cores stay free.

    As many run at a time as there are cores, over all networks of the process: more are no faster, and each holds what
    it computes with. Safe to use from several threads.
    """

    def __init__(self, network: Path) -> None:
        import onnxruntime  # type: ignore[import-untyped]

        warn_if_on("onnxruntime")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # 1 to 2 % faster without, and no memory is hoarded
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(str(network), options, providers=["CPUExecutionProvider"])

    def run(self, inputs: Mapping[str, Any]) -> list[Any]:
        """All outputs, as arrays."""
        with _cores.free:
            outputs: list[Any] = self._session.run(None, inputs)
        return outputs


class _Cores:
    """How many networks may run now; counted anew in a forked child, where nobody would give back what is taken."""

    def __init__(self) -> None:
        self._begin()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self.free = threading.BoundedSemaphore(usable_cores())


def tokenizer(vocabulary: bytes) -> Tokenizer:
    """Neither pads nor cuts. Threads may share it."""
    from tokenizers import Tokenizer

    loaded: Tokenizer = Tokenizer.from_buffer(vocabulary)
    loaded.no_padding()
    loaded.no_truncation()
    return loaded


@lru_cache(maxsize=1)
def shared_tokenizer(vocabulary: bytes) -> Tokenizer:
    """The same one for all networks of a vocabulary, which takes as long to parse as ten sentences to encode.

    To be used as it is: no cutting or padding may be switched on.
    """
    return tokenizer(vocabulary)


def valid_unicode(text: str) -> str:
    """Half a surrogate pair, as a damaged file may hold, becomes "?"; offsets stay right."""
    return text.encode("utf-8", "replace").decode("utf-8")


def usable_cores() -> int:
    """The cores this process may run on, which in a container are fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_cores = _Cores()
