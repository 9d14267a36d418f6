"""A folder of files of any format as documents: walks it, holds what it reads to its bounds, and hands it on."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from iterative_rag.errors import CorpusError
from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats.format import Format, Reading, shown
from iterative_rag.sources.formats.registry import format_of, formats_in_words
from iterative_rag.sources.formats.sandbox import ApartReader, Limits
from iterative_rag.system.files import NOT_REGULAR
from iterative_rag.types import Document


class Folder:
    """Walks a folder in sorted order, or reads one file. Links that lead out of the folder are not followed."""

    def __init__(self, path: Path | str, *, limits: Limits | None = None) -> None:
        self.path = Path(path).expanduser().absolute()
        self._limits = limits or Limits()

    @property
    def root(self) -> str:
        """What the documents belong to: those of it that are not yielded any more have vanished."""
        return shown(self.path)

    @property
    def total(self) -> int | None:
        """How many documents there are at most; None where one file may hold many."""
        formats = [format_of(entry.name) for entry in self._entries() if isinstance(entry, Path)]
        return None if any(one.many for one in formats if one) else len(formats)

    def documents(self) -> Iterator[Document | Skipped]:
        """Raises CorpusError when the path is missing or cannot be read, or holds no file of a known format."""
        empty = True
        with ApartReader(self._limits) as apart:
            for entry in self._entries():
                if apart.used_up:
                    yield Skipped(self.root, self._stopped_before(entry), rest_unread=True)
                    return
                empty = False
                if isinstance(entry, Skipped):
                    yield entry
                else:
                    yield from self._read(entry, apart)
        if empty:
            raise CorpusError(
                f"{shown(self.path)} holds no {formats_in_words()} files.",
                hint="Give a folder of such files, or one of them.",
            )

    # --- which files ---

    def _entries(self) -> Iterator[Path | Skipped]:
        if not self.path.exists():
            raise CorpusError(f"There is no file or folder {shown(self.path)}.", hint="Check the path.")
        if not self.path.is_dir():
            fault = None if self.path.is_file() else _NOT_REGULAR
            yield Skipped(shown(self.path), fault) if fault else self.path
            return
        try:
            os.scandir(self.path).close()
        except OSError as error:
            raise CorpusError(
                f"The folder {shown(self.path)} cannot be read: {error.strerror}.", hint="Check its permissions."
            ) from error
        yield from self._walk()

    def _walk(self) -> Iterator[Path | Skipped]:
        """Depth first. Without recursion: folders can be nested deeper than Python's stack."""
        real_root = os.path.realpath(self.path)
        left: list[_Place | Skipped] = [_Place(str(self.path), is_folder=True)]
        while left:
            place = left.pop()
            if isinstance(place, Skipped):
                yield place
            elif not place.is_folder:
                yield Path(place.path)
            else:
                left += reversed(list(_looked_at(place.path, real_root)))

    # --- what is in them ---

    def _stopped_before(self, entry: Path | Skipped) -> str:
        first = entry.name if isinstance(entry, Path) else Path(entry.source).name
        return (
            f"From {first!r} on it is not read: files that were refused have taken more than "
            f"{2 * self._limits.refused_seconds:,.0f} s. Remove them, or raise --refused-seconds."
        )

    def _read(self, path: Path, apart: ApartReader) -> Reading:
        form = format_of(path.name)
        assert form is not None, path.name
        source = shown(path)
        if fault := _fault(path, form):
            yield Skipped(source, fault, empty=fault == _EMPTY)
            return
        relative = path.name if path == self.path else path.relative_to(self.path).as_posix()
        try:
            for item in apart.read(path) if form.apart else form.read(path):
                yield replace(item, id=_id(relative, item.id)) if isinstance(item, Document) else item
        except OSError as error:
            yield Skipped(source, f"It cannot be read: {error.strerror}.")


class _Place:
    """A file to be read or a folder to be looked into."""

    __slots__ = ("is_folder", "path")

    def __init__(self, path: str, *, is_folder: bool) -> None:
        self.path = path
        self.is_folder = is_folder


_NOT_REGULAR = f"{NOT_REGULAR[0].upper()}{NOT_REGULAR[1:]}."


_EMPTY = "It is empty."


def _looked_at(folder: str, real_root: str) -> Iterator[_Place | Skipped]:
    """What is in a folder, sorted by name; nothing of what is hidden or of no known format."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield Skipped(shown(folder), f"The folder cannot be read: {error.strerror}.")
        return
    for entry in entries:
        readable = format_of(entry.name) is not None
        if entry.is_symlink():
            fault = _fault_of_link(entry.path, real_root)
            if fault and (readable or os.path.isdir(entry.path)):
                yield Skipped(shown(entry.path), fault)
            elif not fault and readable:
                yield _Place(entry.path, is_folder=False)
        elif entry.is_dir(follow_symlinks=False):
            if not entry.name.startswith("."):
                yield _Place(entry.path, is_folder=True)
        elif readable:
            regular = entry.is_file(follow_symlinks=False)
            yield _Place(entry.path, is_folder=False) if regular else Skipped(shown(entry.path), _NOT_REGULAR)


def _fault_of_link(path: str, real_root: str) -> str | None:
    """Why a symbolic link is not followed; None for a link to a file inside the folder."""
    real = os.path.realpath(path)
    if os.path.commonpath([real, real_root]) != real_root:
        return "It is a link that leads out of the folder."
    if os.path.isdir(real):
        return "It is a link to a folder, which would be read twice."
    if not os.path.exists(real):
        return "It is a link that leads nowhere."
    return None if os.path.isfile(real) else _NOT_REGULAR


def _fault(path: Path, form: Format) -> str | None:
    """Why a file is not opened at all."""
    try:
        size = path.stat().st_size
        path.open("rb").close()
    except OSError as error:
        return f"It cannot be read: {error.strerror}."
    if size > form.max_bytes:
        return f"It is larger ({size / 1e6:.0f} MB) than the limit of {form.max_bytes / 1e6:.0f} MB."
    if size == 0:
        return _EMPTY
    return form.missing()


def _id(relative: str, within: str) -> str:
    """Ids stay when a folder moves; documents of one file are told apart by their ids within it."""
    return hashlib.sha1(os.fsencode(relative) + (b"\0" + within.encode() if within else b"")).hexdigest()
