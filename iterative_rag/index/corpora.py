"""The folder of corpora: list, describe, open, write, remove."""

from __future__ import annotations

import difflib
import os
import shlex
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from iterative_rag.errors import CorpusDamaged, CorpusError, CorpusMismatch, CorpusNotFound
from iterative_rag.index.catalogue import SCHEMA_VERSION, Generation
from iterative_rag.index.corpus_names import decoded, encoded, known_name, linked_file, only_read
from iterative_rag.index.database import DocumentStore
from iterative_rag.index.edge_place import EdgePlace
from iterative_rag.index.indexed_corpus import IndexedCorpus
from iterative_rag.index.open_generation import OpenGeneration, nothing_indexed
from iterative_rag.index.rank_fusion import Ranker
from iterative_rag.index.replacing import discard, discard_if_empty, removing, unusable, writing
from iterative_rag.index.sqlite_errors import DAMAGE_MARK, damaged, rebuild_command, roots_of, sqlite_errors
from iterative_rag.index.vector_store import LOCAL, VECTORS, Place, PlaceOf, places_at
from iterative_rag.index.writer import Chunking, CorpusWriter, check_all_given
from iterative_rag.protocols import Cache, Embedder, Reranker
from iterative_rag.sources.formats.format import unreadable
from iterative_rag.system.files import CORPUS_DATABASE, private_folder, tighten

if TYPE_CHECKING:
    from iterative_rag.index.zim.zim_corpus import ZimCorpus

_NAMES_SHOWN = 8


@dataclass(frozen=True, slots=True)
class CorpusInfo:
    """`state` is "ready", "incomplete" (indexing is running or was interrupted), "outdated" (made by another version of
    this package) or "damaged"; `updated` is ISO 8601. Includes documents that are written but not yet published.

    `place` is where its vectors are: "local", or the address of a server and a collection; or the path of a ZIM file
    (with `file`), which is searched as it is. `languages` are numbers of documents by code, without those that are
    English or not clear.
    """

    name: str
    documents: int
    passages: int
    embedder: str
    bytes: int
    updated: str
    state: str
    place: str = LOCAL
    languages: Mapping[str, int] = field(default_factory=dict)
    file: bool = False


class Corpora:
    """One folder per corpus under `root`: documents.sqlite, vectors/ and locks/. `place_of` says where the vectors of a
    corpus are kept; in its folder unless it is given."""

    def __init__(self, root: Path, *, place_of: PlaceOf | None = None) -> None:
        self.root = root
        self._local = places_at(LOCAL)
        self._place_of = place_of or self._local

    def place(self, name: str) -> Place:
        """Where the vectors of this corpus are read and written."""
        return self._place_of(name, self.folder(name))

    def folder(self, name: str) -> Path:
        """The folder of a corpus, which need not exist. Raises UsageError for what cannot be a name."""
        return self.root / encoded(name)

    def names(self) -> list[str]:
        """All corpora, sorted; also damaged ones."""
        try:
            names = {decoded(path.name) for path in self.root.iterdir() if _holds(path)}
            return sorted(name for name in names if name is not None)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise unreadable(self.root, error) from error

    def known(self, name: str) -> str:
        """The name itself, or that by which the ZIM file at this path is known from now on. Raises CorpusNotFound."""
        return known_name(self.root, name)

    def info(self, name: str) -> CorpusInfo:
        """Raises CorpusNotFound; a damaged corpus is described as such."""
        name = self.known(name)
        folder = self._existing(name)
        if file := linked_file(folder):
            return _info_of(name, file)
        size = _bytes_on_disk(folder)
        try:
            with self._reading(name, any_version=True) as store:
                meta = store.meta()
                if meta.get("schema", str(SCHEMA_VERSION)) != str(SCHEMA_VERSION):
                    return CorpusInfo(name, 0, 0, meta.get("embedder", ""), size, meta.get("updated", ""), "outdated")
                documents, passages = store.view().counts()
                place, _ = store.place()
                if documents and place == LOCAL and not EdgePlace(folder / VECTORS).exists():
                    raise damaged(folder, name, "its vectors are missing")
                if (folder / DAMAGE_MARK).exists():
                    raise damaged(folder, name, "a search found it so")
                whole = documents and meta.get("unfinished", "[]") == "[]" and not store.unpublished()
                state = "ready" if whole else "incomplete"
                told = meta["embedder"], size, meta["updated"], state, place, store.view().languages()
                return CorpusInfo(name, documents, passages, *told)
        except (CorpusDamaged, KeyError):
            return CorpusInfo(name, 0, 0, "", size, "", "damaged")

    def versions(self, name: str) -> dict[str, dict[str, str]]:
        """The content hash of every document by root and id. Raises CorpusNotFound or CorpusDamaged."""
        with self._reading(name) as store:
            return store.view().versions_by_root()

    def keys(self, name: str) -> list[tuple[str, int]]:
        """The keys of the metadata with how many documents have each, the most used first. Raises CorpusNotFound or
        CorpusDamaged."""
        from iterative_rag.index.filters import known_keys

        with self._reading(name) as store:
            return known_keys(store.view().catalogue())

    def remove(self, name: str) -> None:
        """Raises CorpusNotFound, or CorpusHeld while another process writes it. Whoever reads it may still finish. Its
        points on a server go where these corpora are kept there; else they stay."""
        folder = self._existing(name)
        if linked_file(folder):
            shutil.rmtree(folder)  # the file stays
            return
        with writing(folder, name), sqlite_errors(folder, name):
            identity = ""  # whose points on a server go with it, unless its database is missing or damaged
            if self._place_of is not self._local:
                with suppress(CorpusDamaged), self._reading(name, any_version=True) as store:
                    identity = store.identity()
            with removing(folder):
                if identity:
                    self.place(name).remove(identity)

    def open_file(
        self, name: str, embedder: Embedder, *, cache: Cache | None = None, reranker: Reranker | None = None
    ) -> ZimCorpus | None:
        """The ZIM file that a corpus is, by its name or path; None for another corpus. Raises CorpusError."""
        name = self.known(name)
        if not (file := linked_file(self.folder(name))):
            return None
        from iterative_rag.index.zim.zim_corpus import ZimCorpus
        from iterative_rag.sources.zim_file import ZimFile

        return ZimCorpus(name, ZimFile(file), Ranker(embedder, cache, reranker))

    def open(
        self, name: str, embedder: Embedder, *, cache: Cache | None = None, reranker: Reranker | None = None
    ) -> IndexedCorpus:
        """Raises CorpusNotFound, CorpusMismatch (another embedder or schema, vectors elsewhere), CorpusDamaged, or
        UsageError for a ZIM file."""
        folder = self._existing(name)
        if linked_file(folder):
            raise only_read(name)
        with sqlite_errors(folder, name), ExitStack() as stack:
            store = self._store(folder, name)
            stack.callback(store.close)
            meta = store.meta()
            if "schema" not in meta:
                raise nothing_indexed(name)  # the run that created it was killed at once
            _check_schema(name, folder, meta)
            if (newest := store.newest()) is None:
                raise nothing_indexed(name)
            _check_embedder(name, folder, newest, embedder)
            place = self.place(name)
            _check_place(name, folder, store, place)
            corpus = IndexedCorpus(OpenGeneration(name, folder, store, place), Ranker(embedder, cache, reranker))
            stack.pop_all()
        return corpus

    @contextmanager
    def writer(
        self,
        name: str,
        embedder: Embedder,
        chunking: Chunking,
        roots: Sequence[str],
        *,
        adding: Collection[str] = (),
        alone: bool = False,
    ) -> Iterator[CorpusWriter]:
        """Hold the corpus for writing; it is made if there is none.

        One that was made otherwise (embedder, chunking, schema) or is damaged is emptied first if `roots` hold
        all of it, or are all that it shall hold (`alone`); else CorpusMismatch says which paths to give. Roots in
        `adding` are given in part only.
        """
        folder = self.folder(name)
        if linked_file(folder):
            raise only_read(name)
        with writing(folder, name), sqlite_errors(folder, name):
            private_folder(self.root)
            tighten(folder)
            if reason := unusable(folder / CORPUS_DATABASE):
                if not alone:
                    check_all_given(name, reason, roots_of(folder), roots, adding)
                discard(folder)
            try:
                with closing(DocumentStore(folder / CORPUS_DATABASE, write=True)) as store:
                    place = self.place(name)
                    writer = CorpusWriter(name, folder, store, embedder, chunking, roots, place, adding, alone=alone)
                    with closing(writer):
                        writer.prepare()
                        try:
                            yield writer
                        except BaseException:
                            writer.leave()
                            raise
                        writer.publish(last=True)
            finally:
                discard_if_empty(folder)
                with suppress(OSError):
                    tighten(folder)  # the vector engine creates its files by the umask

    @contextmanager
    def _reading(self, name: str, *, any_version: bool = False) -> Iterator[DocumentStore]:
        folder = self._existing(name)
        with sqlite_errors(folder, name), closing(self._store(folder, name)) as store:
            if not any_version and store.is_of_another_version():
                _check_schema(name, folder, store.meta())
            yield store

    def _store(self, folder: Path, name: str) -> DocumentStore:
        if not (folder / CORPUS_DATABASE).is_file():
            raise damaged(folder, name, "its documents are missing")
        return DocumentStore(folder / CORPUS_DATABASE)

    def _existing(self, name: str) -> Path:
        folder = self.folder(name)
        if not _holds(folder):
            raise _not_found(name, self.names())
        return folder


def _bytes_on_disk(folder: Path) -> int:
    """Blocks in use where the system tells: Edge's files are mostly holes while a corpus is small. What generations
    share counts once, and what vanishes meanwhile not at all."""
    sizes: dict[tuple[int, int], int] = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                stat = os.stat(os.path.join(parent, name))
                sizes[stat.st_dev, stat.st_ino] = stat.st_blocks * 512 if hasattr(stat, "st_blocks") else stat.st_size
    return sum(sizes.values())


def _not_found(name: str, others: Sequence[str] = ()) -> CorpusNotFound:
    by_plain = {other.casefold(): other for other in others}
    near = difflib.get_close_matches(name.casefold(), by_plain, n=1)
    meant = f"Did you mean {by_plain[near[0]]!r}? " if near else ""
    shown = [*others[:_NAMES_SHOWN], *(["…"] if len(others) > _NAMES_SHOWN else [])]
    there = f"There are: {', '.join(shown)}. " if others else ""
    return CorpusNotFound(f"There is no corpus {name!r}.", hint=f"{meant}{there}Make it: {rebuild_command(name)}")


def _holds(folder: Path) -> bool:
    """Whether there is a corpus; a removed one may leave a folder with nothing but locks."""
    return any((folder / name).exists() for name in (CORPUS_DATABASE, VECTORS)) or linked_file(folder) is not None


def _info_of(name: str, path: Path) -> CorpusInfo:
    """What a ZIM file tells of itself. One that cannot be read is "damaged", one that is not there "missing"."""
    from iterative_rag.sources.zim_file import ZimFile

    try:
        file = ZimFile(path)
    except CorpusError:
        state, size = ("damaged", path.stat().st_size) if path.is_file() else ("missing", 0)
        return CorpusInfo(name, 0, 0, "", size, "", state, str(path), file=True)
    state, size = "ready" if file.has_words else "titles only", path.stat().st_size
    languages = dict.fromkeys(file.languages, file.articles)
    return CorpusInfo(name, file.articles, 0, "", size, file.date, state, str(path), languages, file=True)


def _check_schema(name: str, folder: Path, meta: dict[str, str]) -> None:
    schema = int(meta.get("schema", "0"))
    if schema != SCHEMA_VERSION:
        age = "a newer" if schema > SCHEMA_VERSION else "an older"
        message = f"The corpus {name!r} was indexed by {age} version of iterative-rag."
        raise CorpusMismatch(message, hint=f"Index it again: {rebuild_command(name, folder)}")


def _check_place(name: str, folder: Path, store: DocumentStore, place: Place) -> None:
    kept, option = store.place()
    if place.name != kept:
        raise CorpusMismatch(
            f"The vectors of the corpus {name!r} are kept at {kept}, not at {place.name}.",
            hint=f"Ask with --index {shlex.quote(option)}, or index it there: "
            f"{rebuild_command(name, folder)} --index {shlex.quote(place.option)}",
        )


def _check_embedder(name: str, folder: Path, made: Generation, embedder: Embedder) -> None:
    if (made.embedder, made.dimensions) != (embedder.name, embedder.dimensions):
        asking = f"Ask with --embedder {made.embedder}, or from Python with that object as embed_model"
        raise CorpusMismatch(
            f"The corpus {name!r} was indexed with the embedder {made.embedder} ({made.dimensions} dimensions), "
            f"not with {embedder.name} ({embedder.dimensions}).",
            hint=f"{asking}, or index it again: {rebuild_command(name, folder)}",
        )


__all__ = ["Chunking", "Corpora", "CorpusInfo", "CorpusWriter", "IndexedCorpus"]
