"""The vectors of one corpus in its own folder: immutable generations, and the one being written.

vectors/7/         published: read by whoever likes, written by nobody
vectors/work-8/    the writer's own, made of 7: large files that never change are links, the others are copies
vectors/packing-…  a copy of work-8 while it is sealed
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import uuid
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory

from iterative_rag.errors import CorpusDamaged, CorpusError, DiskFull
from iterative_rag.index import edge_store
from iterative_rag.index.edge_store import EdgeStore
from iterative_rag.index.generation_pins import PIN, Pin, removed
from iterative_rag.index.sqlite_errors import FREE_BYTES, index_disk_full
from iterative_rag.index.vector_store import LOCAL, VECTORS, Place, PlaceOf
from iterative_rag.system.child_process import ChildProcess
from iterative_rag.system.files import free_bytes, is_disk_full, json_value

# Fewer points are compared one by one in a millisecond or two: not worth starting a process to seal them.
SEALED_POINTS = 20_000
# From so many points on a graph finds the nearest vectors; below, all of them are compared by their quantised form. At
# this number it halves the time of a query, for nineteen times that of sealing (docs/scale.md).
GRAPH_POINTS = 500_000
_SEAL_SECONDS = 7 * 24 * 3600
# Sealed again when this share of the points was written or removed: during indexing, and at its end.
_SHARE, _LAST_SHARE = 0.5, 0.1
# File in a sealed shard: the number of its points, and whether it has a graph.
_SEAL = "sealed.json"
# Files of a sealed segment that Edge never writes again (a test holds it to that).
_LASTING = ("matrix.dat", "quantized.data", "inverted_index.dat", "indices_tracker.json", "id_tracker.mappings")
_LASTING_PATTERNS = ("links*.bin", "graph*.bin", "page_*.dat")
_BLOCK = 1 << 18
# Bytes that must be free for Edge to load a shard where it lies.
_ROOM_TO_LOAD = 16 * 2**20

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Seal:
    points: int = 0
    graph: bool = False


class EdgePlace(Place):
    """The folder of one corpus's vectors: the default place of an index."""

    name = LOCAL
    option = LOCAL
    shared = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written: EdgeStore | None = None

    # --- reading ---

    def exists(self) -> bool:
        """Whether it holds a generation, or the beginning of one."""
        return bool(self._numbers()) or any(self._path.glob("work-*"))

    def pin(self, generation: int) -> Pin:
        return Pin(self._folder(generation))

    def load(self, generation: int, *, points: int = 0, dimensions: int = 0, owner: str = "") -> EdgeStore:
        folder = self._folder(generation)
        writable = os.access(folder, os.W_OK) and free_bytes(folder) >= _ROOM_TO_LOAD
        if writable or not folder.is_dir():
            with suppress(DiskFull):
                return EdgeStore.load(folder, points=points, sealed=_seal_of(folder).points)
        # Loading writes some small files anew, with what they held before, and maps others that have holes: on a full
        # disk the system would end the process. Where that cannot be, the shard is loaded through a folder for
        # temporary files, which holds copies of them and links to all the rest.
        with ExitStack() as stack:
            beside = Path(stack.enter_context(TemporaryDirectory(prefix="iterative-rag-")))
            try:
                copy_shard(folder, beside, os.symlink)
            except OSError as error:
                if is_disk_full(error):
                    raise index_disk_full(beside) from error
                raise
            store = EdgeStore.load(beside, points=points, sealed=_seal_of(beside).points)
            store.closing = stack.pop_all()
        return store

    # --- writing, by one process at a time ---

    def create(self, dimensions: int, owner: str, *, published: int = 0) -> None:
        """An empty shard to write to; its folder says which corpus it belongs to."""
        self.sweep(published)
        work = self._work(published)
        shutil.rmtree(work, ignore_errors=True)
        EdgeStore.create(work, dimensions).close()

    def begun(self, published: int) -> bool:
        work = self._work(published)
        if not work.exists() and self._folder(published + 1).exists():
            self._folder(published + 1).rename(work)  # the run was killed just before publishing
        return work.exists()

    def work(self, published: int, *, points: int = 0, dimensions: int = 0, owner: str = "") -> EdgeStore:
        """Open the next generation for writing. Raises CorpusDamaged if it holds fewer than `points` points."""
        work = self._work(published)
        if not self.begun(published):
            if not self._folder(published).is_dir():
                raise CorpusDamaged(f"The index at {self._path} is missing.")
            copied = self._path / f"copying-{uuid.uuid4().hex}"
            copy_shard(self._folder(published), copied, os.link)
            copied.rename(work)
        self._written = EdgeStore.load(work, points=points, sealed=_seal_of(work).points)
        return self._written

    def publish(self, published: int, dimensions: int, *, last: bool) -> None:
        """Close what was written and give it the next number; the database announces it to readers."""
        store, self._written = self._written or self.work(published), None
        count, unsealed, before = store.count(), store.unsealed(), _seal_of(store.path)
        store.close()
        whole, graph = self._work(published), last and count >= GRAPH_POINTS
        share = max(SEALED_POINTS // 4, int((_LAST_SHARE if last else _SHARE) * before.points))
        if count >= SEALED_POINTS and (unsealed > share or (graph and not before.graph)) and _room_to_seal(whole):
            try:
                whole = self._sealed(whole, dimensions, _Seal(count, graph))
            except (CorpusError, OSError) as error:
                _log.warning("%s It is searched as it is, which takes longer.", error)
        (whole / PIN).touch()
        target = self._folder(published + 1)
        shutil.rmtree(target, ignore_errors=True)
        whole.rename(target)

    def _sealed(self, work: Path, dimensions: int, made: _Seal) -> Path:
        """A sealed copy. If this process is killed meanwhile, the written shard is unchanged."""
        packing = self._path / f"packing-{uuid.uuid4().hex}"
        copy_shard(work, packing, os.link)
        seal(packing, dimensions, graph=made.graph)
        (packing / _SEAL).write_text(json.dumps(asdict(made)), encoding="utf-8")
        # Opened and counted, so that no half-made shard is published.
        EdgeStore.load(packing, points=made.points).close()
        return packing

    def retire(self, published: int) -> int:
        self.sweep(published)
        left = [number for number in self._numbers() if number < published and not removed(self._folder(number))]
        return min([published, *left])

    def sweep(self, published: int) -> None:
        """Remove the remains of killed runs and of former layouts."""
        kept = {self._work(published), *map(self._folder, self._numbers())}
        for path in self._path.iterdir() if self._path.exists() else ():
            if path.is_dir() and path not in kept:
                shutil.rmtree(path, ignore_errors=True)
            elif not path.is_dir():
                path.unlink()

    def remove(self, owner: str) -> None:
        shutil.rmtree(self._path, ignore_errors=True)

    def _numbers(self) -> list[int]:
        return sorted(int(path.name) for path in self._path.glob("[0-9]*") if path.name.isdigit())

    def _folder(self, generation: int) -> Path:
        return self._path / str(generation)

    def _work(self, published: int) -> Path:
        return self._path / f"work-{published + 1}"


def build(address: str) -> PlaceOf:
    return lambda corpus, folder: EdgePlace(folder / VECTORS)


def seal(folder: Path, dimensions: int, *, graph: bool) -> None:
    """Seal the shard in `folder`, in a process of its own, since Edge holds the GIL meanwhile. Raises CorpusError; the
    shard is then unusable."""
    child = ChildProcess(edge_store.__name__, str(folder), dimensions, graph)
    told = child.reply(_SEAL_SECONDS).decode(errors="replace").strip()
    ended = child.close()
    if told != edge_store.SEALED:
        raise CorpusError(told or f"The index at {folder} cannot be packed: the process ended with {ended}.")


def copy_shard(shard: Path, target: Path, link: Callable[[Path, Path], None]) -> None:
    """Copy a shard. Immutable files are hard-linked where the file system allows it."""
    for folder, folders, names in os.walk(shard):
        # Whoever opens or closes a shard makes folders such as .atomicwrite7, and removes them at once.
        folders[:] = [name for name in folders if not name.startswith(".")]
        into = target / Path(folder).relative_to(shard)
        into.mkdir(parents=True, exist_ok=True)
        for path in (Path(folder, name) for name in names if name != PIN):
            if _lasts(path):
                with suppress(OSError):
                    link(path.absolute(), into / path.name)
                    continue
            _copy(path, into / path.name)


def _lasts(path: Path) -> bool:
    if path.name in _LASTING:
        return True
    if not any(fnmatch(path.name, pattern) for pattern in _LASTING_PATTERNS):
        return False
    # Only a sealed segment has this file; in others new points are written to the same pages.
    segment = next(folder for folder in path.parents if folder.parent.name == "segments")
    return (segment / "id_tracker.mappings").exists()


def _copy(path: Path, into: Path) -> None:
    """Copy a file, leaving blocks of zeros as holes: a small corpus has files that are mostly holes."""
    zeros = bytes(_BLOCK)
    with path.open("rb") as source, into.open("wb") as target:
        while block := source.read(_BLOCK):
            if block == zeros[: len(block)]:
                target.seek(len(block), os.SEEK_CUR)
            else:
                target.write(block)
        target.truncate()


def _seal_of(shard: Path) -> _Seal:
    try:
        return _Seal(**json_value((shard / _SEAL).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return _Seal()
    except (ValueError, TypeError) as error:
        raise CorpusDamaged(f"The index at {shard} cannot be read: {error}.") from error


def _room_to_seal(work: Path) -> bool:
    """Whether the disk has room for a sealed copy. Without it the unsealed shard is searched."""
    needed = sum(path.stat().st_size for path in work.rglob("*") if path.is_file()) + FREE_BYTES
    if free_bytes(work) >= needed:
        return True
    _log.warning(
        "%s has no room for %d MB: the index is left as it is, and searching it takes longer.", work, needed // 2**20
    )
    return False
