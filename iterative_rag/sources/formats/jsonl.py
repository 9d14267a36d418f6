"""JSON Lines of `{title, text or passage, url?}`, plain or gzipped, as documents."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TypeGuard, cast

from iterative_rag.errors import CorpusError
from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats.format import MAX_CHARS, Format, Reading, limit_skipped, shown
from iterative_rag.sources.metadata import metadata_of, scalars
from iterative_rag.system.files import readable
from iterative_rag.types import Document, Metadata

MAX_BYTES = 1 << 50  # read line by line: only a line has a limit
MAX_LINE_BYTES = 16 * 1024 * 1024
# Lists and objects of one record: `[[],[],...` takes thirty times its length in memory.
MAX_CONTAINERS = 500_000
# The lines of larger files are not counted for the progress bar: it would take long.
COUNT_BELOW_BYTES = 256 * 1024 * 1024
_OWN_FIELDS = frozenset({"title", "text", "passage", "url", "metadata"})
_HOW_TO_SPLIT = "divide the text into several records, or put it into a .txt file, which is read in parts"


class JsonLines:
    """A malformed line is yielded as a Skipped with its number."""

    def __init__(self, path: Path | str, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self.path = Path(path).expanduser().absolute()
        self.max_line_bytes = max_line_bytes

    @property
    def root(self) -> str:
        """Identifies the source in the index: its documents that are no longer yielded are removed."""
        return shown(self.path)

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
        return limit_skipped(self._documents(), shown(self.path))

    def _documents(self) -> Iterator[Document | Skipped]:
        seen: Counter[str] = Counter()
        empty, found = True, False
        number = 0
        try:
            with self._open() as file:
                while line := file.readline(self.max_line_bytes + 1):
                    number += 1
                    empty = empty and not line.strip()
                    if len(line) > self.max_line_bytes:
                        while line and not line.endswith(b"\n"):
                            line = file.readline(1 << 20)
                        limit = f"{self.max_line_bytes / 1e6:.0f} MB"
                        yield self._skip(number, f"The line is longer than the limit of {limit}: {_HOW_TO_SPLIT}.")
                    elif line.strip():
                        document = self._document(number, line, seen)
                        found = found or isinstance(document, Document)
                        yield document
        except FileNotFoundError as error:
            raise CorpusError(f"There is no file {shown(self.path)}.", hint="Check the path.") from error
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise CorpusError(
                f"{shown(self.path)} is damaged after line {number}: {error}.", hint="Fetch or compress the file again."
            ) from error
        except OSError as error:
            raise CorpusError(
                f"{shown(self.path)} cannot be read: {error.strerror}.", hint="Check its permissions."
            ) from error
        if empty:
            yield Skipped(shown(self.path), "It is empty.", empty=True)
        elif not found:
            raise CorpusError(
                f"{shown(self.path)} holds no document.",
                hint='Each line must be {"title": ..., "text": ..., "url": ...}.',
            )

    def _open(self) -> BinaryIO:
        if self.path.suffix.lower() == ".gz":
            return cast(BinaryIO, gzip.open(readable(self.path), "rb"))
        return readable(self.path).open("rb")

    def _skip(self, number: int, reason: str) -> Skipped:
        return Skipped(f"{shown(self.path)}:{number}", reason)

    def _document(self, number: int, line: bytes, seen: Counter[str]) -> Document | Skipped:
        if line.count(b"[") + line.count(b"{") > MAX_CONTAINERS:
            return self._skip(number, f"The line holds more than {MAX_CONTAINERS:,} lists and objects.")
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            return self._skip(number, f"The line is not JSON: {str(error).partition(';')[0][:120]}.")
        return document_of(row, f"{shown(self.path)}:{number}", seen, "line")


def document_of(row: object, source: str, seen: Counter[str], what: str) -> Document | Skipped:
    """The document of one record. `what` names the record in messages ("line"), `seen` counts those of one key."""
    if not isinstance(row, dict):
        return Skipped(source, f"The {what} is not a JSON object.")
    title, text, url = row.get("title"), row.get("text", row.get("passage")), row.get("url")
    if not _is_filled(title):
        return Skipped(source, f'The {what} has no "title".')
    if not _is_filled(text):
        return Skipped(source, f'The {what} has no "text" or "passage".')
    url = url if isinstance(url, str) and url else None
    if "\0" in text or not _is_encodable(f"{title}{text}{url or ''}"):
        return Skipped(source, "The text holds characters that are not text.")
    if len(text) > MAX_CHARS:
        return Skipped(source, f"The text is longer than the limit of {MAX_CHARS:,} characters: {_HOW_TO_SPLIT}.")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    key = url or title
    seen[key] += 1
    if seen[key] > 1:
        key = f"{key}\n{seen[key]}"
    return Document(hashlib.sha1(key.encode()).hexdigest(), title.strip(), text, source, url, metadata=_metadata(row))


def _metadata(row: Mapping[str, Any]) -> Metadata:
    """The other fields of a record, and those of its "metadata"."""
    nested = row.get("metadata")
    rest = {key: value for key, value in row.items() if key not in _OWN_FIELDS}
    return metadata_of(scalars({**rest, **nested} if isinstance(nested, dict) else rest))


def _is_filled(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value.strip())


def _is_encodable(text: str) -> bool:
    """False for lone surrogates, which JSON can hold but UTF-8 and SQLite cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def read(path: Path) -> Reading:
    """The documents of a file in a folder, where one that cannot be read is skipped like any other."""
    try:
        yield from JsonLines(path).documents()
    except CorpusError as error:
        yield Skipped(shown(path), str(error))


FORMAT = Format(read, MAX_BYTES, apart=False, many=True, source=JsonLines)
