"""JSON: lists of records, records one after the other, an object of them; and JSON Lines."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, cast

from iterative_rag.errors import CorpusError
from iterative_rag.protocols import Skipped
from iterative_rag.sources.decoding import decode
from iterative_rag.sources.formats.format import FileSource, Format, Reading, limit_skipped, shown, unreadable
from iterative_rag.sources.formats.records import HOW_TO_SPLIT, Numbered, is_record, record_documents
from iterative_rag.system.files import readable
from iterative_rag.types import Document

MAX_BYTES = 64 * 1024 * 1024
# JSON Lines are read line by line: only a line has a limit, and the lists and objects of its record: `[[],[],...`
# takes thirty times its length in memory.
MAX_LINE_BYTES = 16 * 1024 * 1024
MAX_CONTAINERS = 500_000
_DECODER = json.JSONDecoder()
_BETWEEN = re.compile(r"[ \t\n\r,\x1e\]]*")  # records that stand one after the other, or in a list
_NO_RECORDS = "It holds no record: neither a list of objects, nor an object with fields."


def read(path: Path) -> Reading:
    source = shown(path)
    text = decode(path.read_bytes())
    if not text.strip():
        yield Skipped(source, "It is empty.", empty=True)
        return
    yield from limit_skipped(_documents(text, source), source)


def _documents(text: str, source: str) -> Reading:
    has_records = False
    for item in record_documents(_numbered(text, source), "record"):
        has_records = True
        yield item
    if not has_records:
        yield Skipped(source, _NO_RECORDS)


def _numbered(text: str, source: str) -> Iterator[Numbered]:
    """The records with their numbers; at the end why the rest is none."""
    number = 0
    try:
        for number, row in enumerate(_rows(text), 1):
            yield f"{source}:{number}", row
    except RecursionError:
        yield source, Skipped(source, f"It is nested too deeply to be read beyond record {number}.")
    except ValueError as error:  # a number of a million digits raises no JSONDecodeError
        after = f"What follows record {number}" if number else "It"
        yield source, Skipped(source, f"{after} is not JSON: {str(error).partition(';')[0][:120]}.")


def _rows(text: str) -> Iterator[Any]:
    """The records of lists, of an object, or of several one after the other (JSON Lines), parsed one by one: together
    they take many times the memory of their text. Raises ValueError."""
    start = at = _BETWEEN.match(text).end()  # type: ignore[union-attr]
    if text.startswith("[", at):
        at = _BETWEEN.match(text, at + 1).end()  # type: ignore[union-attr]
    while at < len(text):
        row, end = _DECODER.raw_decode(text, at)
        if _are_objects(row):
            yield from row
        else:
            yield from _unfolded(row) if at == start and _BETWEEN.fullmatch(text, end) else (row,)
        at = _BETWEEN.match(text, end).end()  # type: ignore[union-attr]


def _unfolded(row: Any) -> Iterator[Any]:
    """The records that the only object of a file holds: those of its lists, and of objects under their names."""
    if not isinstance(row, dict) or not row or is_record(row):
        yield from (row,) if row else ()
        return
    values = list(row.values())
    lists = {key: value for key, value in row.items() if value and _are_objects(value)}
    if len(row) == 1 and isinstance(values[0], dict):
        yield from _unfolded(values[0])
    elif all(isinstance(value, dict) for value in values):
        yield from ({"title": key, **value} for key, value in row.items())
    else:
        yield from chain.from_iterable(lists.values())
        rest = {key: value for key, value in row.items() if key not in lists and value not in ([], {})}
        # A version or a count says nothing beside records.
        if rest and (not lists or any(not isinstance(value, int | float | str) for value in rest.values())):
            yield rest


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


FORMAT = Format(read, MAX_BYTES, many=True)


# --- JSON Lines, plain or gzipped ----------------------------------------------------------------


class JsonLines(FileSource):
    """A malformed line is yielded as a Skipped with its number."""

    def __init__(self, path: Path | str, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        super().__init__(path)
        self.max_line_bytes = max_line_bytes

    def documents(self) -> Iterator[Document | Skipped]:
        """Raises CorpusError when the file cannot be read, or holds lines and no document."""
        self.check()
        return limit_skipped(self._documents(), self.root)

    def _documents(self) -> Iterator[Document | Skipped]:
        empty, has_documents = True, False
        for item in record_documents(self._records(), "line"):
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


LINES = Format(lambda path: JsonLines(path).documents(), 1 << 50, apart=False, many=True, source=JsonLines)
