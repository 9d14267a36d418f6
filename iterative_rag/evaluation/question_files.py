"""The bytes of a dataset -> rows of fields, each with its place for error messages: JSON Lines, JSON, TSV or CSV."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iterative_rag.errors import UsageError
from iterative_rag.sources.decoding import NotText, decode
from iterative_rag.system.files import json_value, readable

_TOO_MANY = "\0too many"


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a file; `place` is "line 3" or "entry 3"."""

    path: Path
    place: str
    fields: dict[str, Any]

    def fault(self, reason: str) -> UsageError:
        return broken(self.path, f"{self.place} {reason}")


def broken(path: Path, reason: str, *, hint: str = "") -> UsageError:
    return UsageError(f"{path} cannot be used: {reason}.", hint=hint or f"Correct {path} or give another file.")


def read_bytes(path: Path) -> bytes:
    """Raises UsageError where there is no file that can be read."""
    try:
        return readable(path).read_bytes()
    except FileNotFoundError as error:
        raise UsageError(f"There is no file {path}.", hint="Check the path.") from error
    except IsADirectoryError as error:
        raise broken(path, "it is a folder", hint="Give one file: .tsv, .csv, .jsonl, .jsonl.gz or .json.") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", hint="Check its permissions.") from error


def rows(path: Path, data: bytes) -> list[Row]:
    """All records of the file, one at least. Raises UsageError naming the line that is broken."""
    text = _text(path, data)
    start = text.lstrip()[:1]
    if not start:
        raise broken(path, "it is empty")
    records = list(_json(path, text) if start in ("[", "{") else _separated(path, text))
    if not records:
        raise broken(path, "it holds no rows")
    return records


def _text(path: Path, data: bytes) -> str:
    if data[:2] == b"\x1f\x8b" or path.suffix == ".gz":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise broken(path, f"it cannot be unpacked: {error}", hint="Fetch or compress the file again.") from error
    try:
        return decode(data)
    except NotText as error:
        raise broken(path, str(error).rstrip(".").replace("It is", "it is", 1)) from error


def _json(path: Path, text: str) -> Iterator[Row]:
    """One list of objects, one object, or an object in each line."""
    try:
        whole = json_value(text)
    except ValueError:
        yield from _json_lines(path, text)
        return
    if isinstance(whole, dict):
        yield _row(path, "line 1", whole)
    else:
        yield from (_row(path, f"entry {number}", entry) for number, entry in enumerate(whole, start=1))


def _json_lines(path: Path, text: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                value = json_value(line)
            except ValueError as error:
                raise broken(path, f"line {number} is not JSON ({error})") from error
            yield _row(path, f"line {number}", value)


def _row(path: Path, place: str, value: Any) -> Row:
    """Refuses NUL and lone surrogates, which JSON can hold, and which neither SQLite nor a terminal takes."""
    if not isinstance(value, dict):
        raise broken(path, f"{place} is not a JSON object")
    try:
        clean = b"\\u0000" not in json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        clean = False
    if not clean:
        raise broken(path, f"{place} holds characters that are not text")
    return Row(path, place, value)


def _separated(path: Path, text: str) -> Iterator[Row]:
    """The first line names the fields, and is separated as all others are: by tabs, or else by commas. A quoted field
    may hold line breaks."""
    separator = "\t" if "\t" in text.lstrip().partition("\n")[0] else ","
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, restkey=_TOO_MANY, strict=True)
    if len(reader.fieldnames or ()) < 2:
        raise broken(
            path,
            "it is neither JSON nor separated by tabs or commas",
            hint="Give a .tsv or .csv with its column names in the first line, a .jsonl, .jsonl.gz or .json file.",
        )
    line = reader.line_num + 1
    try:
        for fields in reader:
            row = Row(path, f"line {line}", fields)
            if _TOO_MANY in fields or None in fields.values():
                raise row.fault(f"has not the {len(reader.fieldnames or ())} columns of the first line")
            yield row
            line = reader.line_num + 1
    except csv.Error as error:
        raise broken(path, f"line {line} is not separated values ({error})") from error
