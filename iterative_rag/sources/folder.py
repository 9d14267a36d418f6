"""What a path leads to as a source of documents: a folder of files of any format, or one file, read within limits."""

from __future__ import annotations

import hashlib
import os
import shlex
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from iterative_rag.errors import CorpusError
from iterative_rag.protocols import DocumentSource, Skipped
from iterative_rag.registry import FORMATS, in_words
from iterative_rag.sources.formats.format import Encyclopedia, Format, format_in_folder, format_of, shown, unreadable
from iterative_rag.sources.formats.sandbox import ApartReader, Limits
from iterative_rag.system.files import CORPUS_DATABASE, NOT_REGULAR
from iterative_rag.types import FILE_DATE_KEY, Document

_NOT_REGULAR = f"{NOT_REGULAR[0].upper()}{NOT_REGULAR[1:]}."
_DUMP_BEGINS = 4096  # bytes of a dump in which its first element stands


# Another one where a file was written, replaced or given other permissions; of one that is skipped, the reason.
FileState = tuple[int, ...] | str


class Folder:
    """Walks a folder in sorted order, or reads one file. Links that lead out of the folder are not followed."""

    def __init__(self, path: Path | str, *, limits: Limits | None = None) -> None:
        self.path = Path(path).expanduser().absolute()
        self.root = shown(self.path)
        self._limits = limits or Limits()

    @property
    def total(self) -> int | None:
        """The number of files; None where one of them may hold many documents."""
        files = [entry.name for entry in self._entries() if isinstance(entry, Path)]
        return None if any((form := format_in_folder(name)) and form.many for name in files) else len(files)

    def states(self) -> dict[str, FileState]:
        """The state of each file, by its path, without opening one. Raises CorpusError as `documents` does."""
        states: dict[str, FileState] = {}
        for entry in self._entries():
            if isinstance(entry, Skipped):
                states[entry.source] = entry.reason
                continue
            try:
                at = entry.stat()
                states[shown(entry)] = (at.st_mtime_ns, at.st_ctime_ns, at.st_size, at.st_ino)
            except OSError as error:
                states[shown(entry)] = str(error.strerror)
        return states

    def documents(self) -> Iterator[Document | Skipped]:
        """Raises CorpusError when the path is missing or cannot be read, at the end when it holds no file of a known
        format."""
        self._check()
        return self._documents()

    def _documents(self) -> Iterator[Document | Skipped]:
        empty = True
        with closing(ApartReader(self._limits)) as apart:
            for entry in self._entries():
                if apart.used_up:
                    name = entry.name if isinstance(entry, Path) else Path(entry.source).name
                    seconds = f"{2 * self._limits.refused_seconds:,.0f} s"
                    reason = f"Reading stopped before {name!r}: refused files have taken more than {seconds}."
                    hint = "Remove them, or raise --refused-seconds."
                    yield Skipped(self.root, f"{reason} {hint}", rest_unread=True)
                    return
                empty = False
                if isinstance(entry, Skipped):
                    yield entry
                else:
                    yield from self._read(entry, apart)
        if empty:
            suffixes = [suffix for suffix in FORMATS.names if format_in_folder(f"name{suffix}")]
            message = f"{self.root} holds no {in_words(suffixes)} files."
            raise CorpusError(message, hint="Give a folder of such files, or one of them.")

    def _check(self) -> None:
        if not self.path.exists():
            raise CorpusError(f"There is no file or folder {self.root}.", hint="Check the path.")
        if self.path.is_dir():
            try:
                os.scandir(self.path).close()
            except OSError as error:
                raise unreadable(self.path, error) from error

    def _entries(self) -> Iterator[Path | Skipped]:
        self._check()
        if not self.path.is_dir():
            yield self.path if self.path.is_file() else Skipped(self.root, _NOT_REGULAR)
            return
        real_root = os.path.realpath(self.path)
        left: list[Path | str | Skipped] = [str(self.path)]
        while left:  # depth first, and not recursive: folders can be nested deeper than Python's stack
            entry = left.pop()
            if isinstance(entry, str):
                left += list(_children(entry, real_root))[::-1]
            else:
                yield entry

    def _read(self, path: Path, apart: ApartReader) -> Iterator[Document | Skipped]:
        form = format_in_folder(path.name)
        assert form is not None, path.name
        relative = path.name if path == self.path else path.relative_to(self.path).as_posix()
        try:
            if fault := _fault(path, form):
                yield fault
                return
            for item in apart.read(path) if form.apart else form.read(path):
                yield _placed(item, relative, path) if isinstance(item, Document) else item
        except OSError as error:
            yield Skipped(shown(path), f"It cannot be read: {error.strerror}.", unread=True)
        except CorpusError as error:
            yield Skipped(shown(path), str(error))


def _children(folder: str, real_root: str) -> Iterator[Path | str | Skipped]:
    """The files of a folder as Path, its folders as str, sorted by name; nothing hidden, of no known format or of a
    corpus of ours, whose settings are JSON files."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield Skipped(shown(folder), f"The folder cannot be read: {error.strerror}.", unread=True)
        return
    if any(entry.name == CORPUS_DATABASE for entry in entries):
        return
    for entry in entries:
        readable = format_in_folder(entry.name) is not None
        if entry.is_symlink():
            fault = _fault_of_link(entry.path, real_root)
            if fault and (readable or os.path.isdir(entry.path)):
                yield Skipped(shown(entry.path), fault)
            elif not fault and readable:
                yield Path(entry.path)
        elif entry.is_dir(follow_symlinks=False):
            if not entry.name.startswith("."):
                yield entry.path
        elif not readable and _holds_encyclopedia(entry):
            told = f"It is indexed by itself: iterative-rag index {shlex.quote(shown(entry.path))}"
            yield Skipped(shown(entry.path), told)
        elif readable:
            regular = entry.is_file(follow_symlinks=False)
            yield Path(entry.path) if regular else Skipped(shown(entry.path), _NOT_REGULAR)


def _holds_encyclopedia(entry: os.DirEntry[str]) -> bool:
    """Whether a file is read only if it is given by itself; a bare .xml file is, if it begins as a dump of a wiki."""
    if not is_encyclopedia(entry.path) or not entry.is_file(follow_symlinks=False) or entry.name.startswith("."):
        return False
    if not entry.name.endswith(".xml"):
        return True
    try:
        with open(entry.path, "rb") as file:
            return b"<mediawiki" in file.read(_DUMP_BEGINS)
    except OSError:
        return False


def _fault_of_link(path: str, real_root: str) -> str | None:
    """Why a symbolic link is not followed; None for a link to a file of the folder that is not read otherwise."""
    real = os.path.realpath(path)
    if os.path.commonpath([real, real_root]) != real_root:
        return "It is a link that leads out of the folder."
    if os.path.isdir(real):
        return "It is a link to a folder, which would be read twice."
    if not os.path.exists(real):
        return "It is a broken link."
    if not os.path.isfile(real):
        return _NOT_REGULAR
    # A hidden target (git-annex keeps its files so) is read through the link alone.
    return "It is a link to a file that is read where it lies." if reads(real_root, real) else None


def _fault(path: Path, form: Format) -> Skipped | None:
    """Why a file is not read at all. Raises OSError."""
    source, size = shown(path), path.stat().st_size
    path.open("rb").close()
    if size > form.max_bytes:
        limit = f"the limit of {form.max_bytes / 1e6:.0f} MB"
        return Skipped(source, f"It is larger ({size / 1e6:.0f} MB) than {limit}: split it into smaller files.")
    if not size:
        return Skipped(source, "It is empty.", empty=True)
    return form.missing(source)


def _placed(document: Document, relative: str, path: Path) -> Document:
    """The document with the day on which its file was written, and an id that stays when the folder moves."""
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()
    within = b"\0" + document.id.encode() if document.id else b""  # tells the documents of one file apart
    own_id = hashlib.sha1(os.fsencode(relative) + within).hexdigest()
    return replace(document, id=own_id, metadata=(*document.metadata, (FILE_DATE_KEY, written)))


def reads(root: str, path: str) -> bool:
    """Whether what is indexed as `root` reads `path` too: the same file or folder, or one that lies in the folder."""
    real_root, real = os.path.realpath(root), os.path.realpath(path)
    if real == real_root:
        return True
    if not os.path.isdir(real_root) or not Path(real).is_relative_to(real_root):
        return False
    inside = Path(real).relative_to(real_root)
    hidden = any(part.startswith(".") for part in inside.parts)
    return not hidden and (os.path.isdir(real) or format_in_folder(inside.name) is not None)


def root_of(path: str, roots: Iterable[str]) -> str:
    """The root under which a path is indexed: the outermost of `roots` that reads it, else the path itself."""
    return min([*(root for root in roots if reads(root, path)), path], key=lambda root: len(os.path.realpath(root)))


def is_encyclopedia(path: Path | str) -> bool:
    """Whether single articles can be chosen from it by title."""
    path = Path(path)
    return isinstance(format_of(path.name), Encyclopedia) and not path.is_dir()


def encyclopedias_in_words() -> str:
    return in_words([suffix for suffix in FORMATS.names if is_encyclopedia(f"name{suffix}")])


def open_source(
    path: Path | str, *, titles: Collection[str] | None = None, limits: Limits | None = None
) -> DocumentSource:
    """A folder, or one file of a known format. Raises CorpusError for anything else. `titles` are the articles to take
    of an encyclopedia; other sources are taken whole. `limits` are for a folder, which must hold a file."""
    path = Path(path).expanduser()
    form = None if path.is_dir() else format_of(path.name)
    if isinstance(form, Encyclopedia):
        return form.source(path, titles)
    if form and form.source:
        return form.source(path)
    if path.is_dir() or format_in_folder(path.name) or not path.exists():
        return Folder(path, limits=limits)
    message = f"{path} is neither a folder nor a {in_words(FORMATS.names)} file."
    raise CorpusError(message, hint="Give a folder of such files, or one of them.")


# --- changes --------------------------------------------------------------------------------------

# The files are looked at now and then rather than watched by the operating system: notices of the system (watchfiles,
# inotify) do not come from network drives and shared folders of containers, are limited in number, and miss the targets
# of links.

States = dict[str, FileState]
LOOK_SECONDS = 0.5  # between two looks
SETTLE_SECONDS = 1.0  # without a change before files count as settled


def states_of(paths: Sequence[Path]) -> States:
    """The states of all files below the paths; of a path that cannot be read, why."""
    states: States = {}
    for path in paths:
        folder = Folder(path)
        try:
            states |= folder.states()
        except CorpusError as error:
            states[folder.root] = str(error)
    return states


def settled_changes(paths: Sequence[Path], known: States, stopped: Callable[[], bool]) -> States | None:
    """The states once they differ from `known` and have settled; None when it was `stopped` before."""
    last, since = known, time.monotonic()
    while not stopped():
        now = states_of(paths)
        if now != last:
            last, since = now, time.monotonic()
        elif now != known and time.monotonic() - since >= SETTLE_SECONDS:
            return now
        rest(LOOK_SECONDS, stopped)
    return None


def rest(seconds: float, stopped: Callable[[], bool]) -> None:
    """Sleep, but no longer than until it is `stopped`."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and not stopped():
        time.sleep(min(left, 0.1))
