"""JSON: lists of records, records one after the other, an object of them, and SQuAD's articles."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from iterative_rag.protocols import Skipped
from iterative_rag.sources.decoding import decode
from iterative_rag.sources.formats.format import Format, Reading, limit_skipped, shown
from iterative_rag.sources.formats.records import Numbered, is_record, joined_text, record_documents
from iterative_rag.sources.formats.text import title_of

MAX_BYTES = 64 * 1024 * 1024
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_BETWEEN = re.compile(r"[ \t\n\r,\x1e]*")  # records that stand one after the other
_NEXT = re.compile(r"\n[ \t]*([\[{])")
_OBJECTS = re.compile(r"\[\s*\{")
_WHOLE_CHARS = 8_000_000  # of an object that is parsed as a whole
_LABEL_CHARS = 40
_NO_RECORDS = "It holds no record: neither a list of objects, nor an object with fields."


def read(path: Path) -> Reading:
    source = shown(path)
    text = decode(path.read_bytes())
    if not isinstance(text, str):
        yield Skipped(source, text.reason)
        return
    if not text.strip():
        yield Skipped(source, "It is empty.", empty=True)
        return
    yield from limit_skipped(_documents(path, text, source), source)


def _documents(path: Path, text: str, source: str) -> Reading:
    has_records = False
    for item in record_documents(
        _numbered(_by_article(_readable(text, source)), source), source, title_of(path), "record"
    ):
        has_records = True
        yield item
    if not has_records:
        yield Skipped(source, _NO_RECORDS)


def _numbered(rows: Iterator[Any], source: str) -> Iterator[Numbered]:
    number = 0
    for row in rows:
        number += not isinstance(row, Skipped)
        yield source if isinstance(row, Skipped) else f"{source}:{number}", row


def _readable(text: str, source: str) -> Iterator[Any]:
    """The records; what is not JSON as a Skipped, after which the next line that begins one is read."""
    number = at = 0
    while at < len(text):
        try:
            for row in _rows(text, at):
                yield row
                number += 1
            return
        except RecursionError:
            yield Skipped(source, f"It is nested too deeply to be read beyond record {number}.")
            return
        except ValueError as error:  # a number of a million digits raises no JSONDecodeError
            if not isinstance(error, json.JSONDecodeError):
                yield Skipped(source, f"It is not JSON: {str(error).partition(';')[0][:120]}.")
                return
            shown = " ".join(text[error.pos : error.pos + 40].split())
            after = f"What follows record {number}" if number else "It"
            yield Skipped(source, f"{after} is not JSON: {error.msg} at {shown!r}, line {error.lineno}.")
            begins = _NEXT.search(text, max(at + 1, error.pos))
            at = begins.start(1) if begins else len(text)


def _rows(text: str, at: int) -> Iterator[Any]:
    """The records of a list, of an object, or of several one after the other (JSON Lines), parsed one by one: together
    they take many times the memory of their text. Raises JSONDecodeError."""
    at = _skip_space(text, at)
    if text.startswith("{", at) and len(text) > _WHOLE_CHARS and not _NEXT.match(text, text.find("\n", at)):
        at = yield from _of_large_object(text, at)
    while (at := _BETWEEN.match(text, at).end()) < len(text):  # type: ignore[union-attr]
        if text.startswith("[", at):
            at = yield from _entries(text, at)
            continue
        alone = at == _skip_space(text, 0)
        row, at = _DECODER.raw_decode(text, at)
        yield from _unfolded(row) if alone and _BETWEEN.fullmatch(text, at) else (row,)


def _of_large_object(text: str, at: int) -> Generator[Any, None, int]:
    """The entries of its lists of objects, and the rest of it as a record; returns where it ends."""
    whole: dict[str, Any] = {}
    at = _skip_space(text, at + 1)
    while not text.startswith("}", at):
        key, at = _DECODER.raw_decode(text, at)
        at = _skip_sign(text, at, ":")
        if _OBJECTS.match(text, at):
            at = yield from _entries(text, at)
        else:
            whole[str(key)], at = _DECODER.raw_decode(text, at)
        at = _skip_space(text, at)
        if not text.startswith("}", at):
            at = _skip_sign(text, at, ",")
    if any(_is_prose(value) for value in whole.values()):
        yield whole
    return at + 1


def _unfolded(row: Any) -> Iterator[Any]:
    """The records that the only object of a file holds: those of its lists, and of objects under their names."""
    if not isinstance(row, dict) or not row or is_record(row):
        yield from (row,) if row else ()
        return
    rest: dict[str, Any] = {}
    named = len(row) > 1 and all(isinstance(value, dict) for value in row.values())
    for key, value in row.items():
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            yield from value
        elif isinstance(value, dict) and named:
            yield {"title": key, **value}
        elif isinstance(value, dict) and len(row) == 1:
            yield from _unfolded(value)
        elif value not in ([], {}):
            rest[key] = value
    if len(rest) == len(row) or any(map(_is_prose, rest.values())):
        yield rest


def _is_prose(value: Any) -> bool:
    """Whether a field says something; a version or a count of a file of records does not."""
    return not isinstance(value, str | int | float) or (isinstance(value, str) and len(value) > _LABEL_CHARS)


def _entries(text: str, at: int) -> Generator[Any, None, int]:
    """The entries of a list; returns where it ends."""
    at = _skip_space(text, at + 1)
    while not text.startswith("]", at):
        row, at = _DECODER.raw_decode(text, at)
        yield row
        at = _skip_space(text, at)
        if not text.startswith("]", at):
            at = _skip_sign(text, at, ",")
    return at + 1


def _skip_sign(text: str, at: int, sign: str) -> int:
    at = _skip_space(text, at)
    if not text.startswith(sign, at):
        raise json.JSONDecodeError(f"Expecting {sign!r}", text, at)
    return _skip_space(text, at + 1)


def _skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _by_article(rows: Iterator[Any]) -> Iterator[Any]:
    """The records; SQuAD's paragraphs become one record per article, with a section for each."""
    articles: dict[str, list[str]] = {}
    for row in rows:
        if isinstance(row, dict) and isinstance(row.get("paragraphs"), list) and isinstance(row.get("title"), str):
            title = unquote(row["title"]).replace("_", " ").strip()
            texts = [
                joined_text(section.get("context", section.get("text")) if isinstance(section, dict) else section)
                for section in row["paragraphs"]
            ]
            articles.setdefault(title, []).extend(text.strip() for text in texts)
        else:
            yield row
    for title, texts in articles.items():
        sections = list(dict.fromkeys(filter(None, texts)))
        yield {"title": title, "text": "\n\n".join([f"# {title}", *sections]) if sections else ""}


FORMAT = Format(read, MAX_BYTES, many=True)
