"""A file format: a reader that yields documents or what it skipped, and the limits under which it is run."""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from iterative_rag.errors import CorpusError, IterativeRAGError, MissingExtra
from iterative_rag.protocols import DocumentSource, Skipped
from iterative_rag.registry import FORMATS
from iterative_rag.system.files import readable
from iterative_rag.text.plurals import counted
from iterative_rag.types import Document

EXTRA = "files"
# Of one document: a longer text is split into several documents, or the rest is skipped with a reason.
MAX_CHARS = 8_000_000
# Faults of one file that are reported one by one: a million bad records must not make a report of a million lines.
MAX_SKIPPED = 100
MAX_PAGES_SKIPPED = 1000  # of an encyclopedia

# Of the description of a picture; fewer name an icon.
ALT_WORDS = 3

Reading = Iterator[Document | Skipped]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Format:
    """How files of some suffixes are read; `registry.FORMATS` says of which.

    `read` yields documents whose ids are unique within the file ("" for the only one). It may raise OSError, or a
    CorpusError that says why the rest is not read.
    `apart`: read in a child process, because the parser can crash, hang or exhaust the memory.
    `needs` are modules of the extra `files`; `many`: one file may hold many documents.
    `source` opens a file that is given by itself, where its documents do not belong to a folder.
    """

    read: Callable[[Path], Reading]
    max_bytes: int = 64 * 1024 * 1024
    apart: bool = True
    needs: tuple[str, ...] = ()
    many: bool = False
    source: Callable[[Path], DocumentSource] | None = None

    def missing(self, source: str) -> Skipped | None:
        """Why a file of this format cannot be read here; None if it can."""
        error = MissingExtra(EXTRA)
        lacking = Skipped(source, f"{error} Type: {error.hint}", extra=EXTRA)
        return None if all(importlib.util.find_spec(module) for module in self.needs) else lacking


@dataclass(frozen=True, slots=True)
class Encyclopedia:
    """A file of many articles, indexed by itself and not where it lies in a folder of other files. `source` opens it
    for the articles of these titles; None: all of them."""

    source: Callable[[Path, Collection[str] | None], DocumentSource]


def shown(path: Path | str) -> str:
    """A path as text. File names may hold bytes that are not text, which no database or terminal takes."""
    return os.fsencode(path).decode("utf-8", "replace")


def unreadable(path: Path | str, error: OSError) -> CorpusError:
    return CorpusError(f"{shown(path)} cannot be read: {error.strerror}.", hint="Check its permissions.")


def plain(text: str) -> str:
    """Text that databases and terminals take: without NUL and lone surrogates, lines ending in `\\n`."""
    text = text.encode("utf-8", "replace").decode().replace("\0", "")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def or_else(items: Iterator[T], nothing: T | IterativeRAGError) -> Iterator[T]:
    """The same items; where there are none, `nothing`, which is raised if it is an error."""
    empty = True
    for item in items:
        empty = False
        yield item
    if empty:
        if isinstance(nothing, IterativeRAGError):
            raise nothing
        yield nothing


def limit_skipped(reading: Reading, source: str, unit: str = "record", limit: int = MAX_SKIPPED) -> Reading:
    """The same items, but of those that were skipped only the first `limit`, then a count of the others."""
    skipped = 0
    for item in reading:
        skipped += isinstance(item, Skipped)
        if isinstance(item, Document) or skipped <= limit:
            yield item
    if skipped > limit:
        yield Skipped(source, f"{counted(skipped - limit, f'more {unit} was', f'more {unit}s were')} left out.")


class FileSource:
    """A file of many documents as a source of its own, of an encyclopedia only the articles of these `titles`."""

    def __init__(self, path: Path | str, *, titles: Collection[str] | None = None) -> None:
        self.path = Path(path).expanduser().absolute()
        self.root = shown(self.path)
        self.titles = None if titles is None else tuple(dict.fromkeys(titles))
        self.total = None if self.titles is None else len(self.titles)  # counting would mean reading the file

    def check(self) -> None:
        if self.path.is_dir() or not self.path.exists():  # a pipe or a device is there, and refused when it is opened
            raise CorpusError(f"There is no file {self.root}.", hint="Check the path.")

    def opened(self) -> BinaryIO:
        """The file, unpacked where its name says that it is packed. Raises CorpusError."""
        unpacking: Callable[..., Any] = {".bz2": bz2.open, ".gz": gzip.open}.get(self.path.suffix.lower(), open)
        try:
            return cast(BinaryIO, unpacking(readable(self.path), "rb"))
        except OSError as error:
            raise unreadable(self.path, error) from error

    def articles(self, reading: Reading, hint: str) -> Reading:
        """The articles of an encyclopedia. Raises CorpusError where there is none; `hint` says what to give."""
        reading = or_else(reading, CorpusError(f"{self.path} holds no article.", hint=hint))
        return limit_skipped(reading, self.root, "page", MAX_PAGES_SKIPPED)


def format_of(name: str) -> Format | Encyclopedia | None:
    """None for files of no known format."""
    suffix = next((suffix for suffix in FORMATS.names if name.lower().endswith(suffix)), None)
    return FORMATS.load(suffix) if suffix else None


def format_in_folder(name: str) -> Format | None:
    """The format of a file that is read where it lies among others; None for encyclopedias and hidden files."""
    form = None if name.startswith(".") else format_of(name)
    return form if isinstance(form, Format) else None
