"""JSON Lines, plain or gzipped: records as documents, or as the rows of a table."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from iterative_rag.errors import CorpusError
from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats.format import FileSource, Format, Reading, limit_skipped, shown, unreadable
from iterative_rag.sources.formats.records import HOW_TO_SPLIT, Numbered, record_documents
from iterative_rag.sources.formats.text import title_of
from iterative_rag.system.files import readable
from iterative_rag.types import Document

MAX_BYTES = 1 << 50  # read line by line: only a line has a limit
MAX_LINE_BYTES = 16 * 1024 * 1024
# Lists and objects of one record: `[[],[],...` takes thirty times its length in memory.
MAX_CONTAINERS = 500_000
# The lines of larger files are not counted for the progress bar: it would take long.
COUNT_BELOW_BYTES = 256 * 1024 * 1024


class JsonLines(FileSource):
    """A malformed line is yielded as a Skipped with its number."""

    def __init__(self, path: Path | str, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        super().__init__(path)
        self.max_line_bytes = max_line_bytes

    @property
    def total(self) -> int | None:
        """The number of lines; None where counting would take long."""
        try:
            if self.path.stat().st_size > COUNT_BELOW_BYTES:
                return None
            with self._open() as file:
                return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
        except (OSError, EOFError, zlib.error):
            return None

    def documents(self) -> Iterator[Document | Skipped]:
        """Raises CorpusError when the file cannot be read, or holds lines and no document."""
        self.check()
        return limit_skipped(self._documents(), self.root)

    def _documents(self) -> Iterator[Document | Skipped]:
        empty, has_documents = True, False
        for item in record_documents(self._records(), self.root, _title_of(self.path), "line"):
            empty, has_documents = False, has_documents or isinstance(item, Document)
            yield item
        if empty:
            yield Skipped(self.root, "It is empty.", empty=True)
        elif not has_documents:
            raise CorpusError(
                f"{self.root} holds no document.",
                hint='Each line must be an object, such as {"title": ..., "text": ..., "url": ...}.',
            )

    def _records(self) -> Iterator[Numbered]:
        """The record of each line that is not empty, or why it is none."""
        number = 0
        try:
            with self._open() as file:
                while line := file.readline(self.max_line_bytes + 1):
                    number += 1
                    source = f"{self.root}:{number}"
                    if len(line) > self.max_line_bytes:
                        while line and not line.endswith(b"\n"):
                            line = file.readline(1 << 20)
                        limit = f"{self.max_line_bytes / 1e6:.0f} MB"
                        reason = f"The line is longer than the limit of {limit}: {HOW_TO_SPLIT}."
                        yield source, Skipped(source, reason)
                    elif line.strip():
                        yield source, _parsed(line, source)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise CorpusError(
                f"{self.root} is damaged after line {number}: {error}.", hint="Fetch or compress the file again."
            ) from error
        except OSError as error:
            raise unreadable(self.path, error) from error

    def _open(self) -> BinaryIO:
        if self.path.suffix.lower() == ".gz":
            return cast(BinaryIO, gzip.open(readable(self.path), "rb"))
        return readable(self.path).open("rb")


def _parsed(line: bytes, source: str) -> object:
    if line.count(b"[") + line.count(b"{") > MAX_CONTAINERS:
        return Skipped(source, f"The line holds more than {MAX_CONTAINERS:,} lists and objects.")
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        return Skipped(source, f"The line is not JSON: {str(error).partition(';')[0][:120]}.")


def _title_of(path: Path) -> str:
    return title_of(path.with_suffix("") if path.suffix.lower() == ".gz" else path)


def read(path: Path) -> Reading:
    """The documents of a file in a folder, where one that cannot be read is skipped like any other."""
    try:
        yield from JsonLines(path).documents()
    except CorpusError as error:
        yield Skipped(shown(path), str(error))


FORMAT = Format(read, MAX_BYTES, apart=False, many=True, source=JsonLines)
