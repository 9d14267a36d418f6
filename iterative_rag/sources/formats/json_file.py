"""JSON: a list of records, one record, or SQuAD's `{"data": [...]}` by article."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from iterative_rag.protocols import Skipped
from iterative_rag.sources.decoding import decode
from iterative_rag.sources.formats.format import Format, Reading, limit_skipped, shown
from iterative_rag.sources.formats.records import Numbered, record_documents
from iterative_rag.sources.formats.text import title_of

MAX_BYTES = 64 * 1024 * 1024
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_NO_RECORDS = 'It is neither a list of records nor in the format of SQuAD ({"data": [...]}).'


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
    found = False
    for item in record_documents(_numbered(_by_article(_rows(text)), source), source, title_of(path), "record"):
        found = True
        yield item
    if not found:
        yield Skipped(source, _NO_RECORDS)


def _numbered(rows: Iterator[Any], source: str) -> Iterator[Numbered]:
    """Each record with its place; where the text breaks off, a Skipped that says so."""
    number = 0
    try:
        for number, row in enumerate(rows, 1):
            yield f"{source}:{number}", row
    except RecursionError:
        yield source, Skipped(source, f"It is nested too deeply to be read beyond record {number}.")
    except ValueError as error:
        yield source, Skipped(source, f"It is not JSON: {str(error).partition(';')[0][:120]}.")


def _rows(text: str) -> Iterator[Any]:
    """The records, parsed one by one: together they take many times the memory of their text. Raises ValueError."""
    at = _skip_space(text, 0)
    if text.startswith("[", at):
        yield from _entries(text, at)
    elif text.startswith("{", at):
        yield from _of_object(text, at)


def _of_object(text: str, at: int) -> Iterator[Any]:
    """The entries of the list "data", or else the object itself."""
    whole: dict[str, Any] = {}
    at = _skip_space(text, at + 1)
    while not text.startswith("}", at):
        key, at = _DECODER.raw_decode(text, at)
        at = _skip_sign(text, at, ":")
        if key == "data" and text.startswith("[", at):
            yield from _entries(text, at)
            return
        whole[str(key)], at = _DECODER.raw_decode(text, at)
        at = _skip_space(text, at)
        if not text.startswith("}", at):
            at = _skip_sign(text, at, ",")
    if whole:
        yield whole


def _entries(text: str, at: int) -> Iterator[Any]:
    at = _skip_space(text, at + 1)
    while not text.startswith("]", at):
        row, at = _DECODER.raw_decode(text, at)
        yield row
        at = _skip_space(text, at)
        if not text.startswith("]", at):
            at = _skip_sign(text, at, ",")


def _skip_sign(text: str, at: int, sign: str) -> int:
    at = _skip_space(text, at)
    if not text.startswith(sign, at):
        raise json.JSONDecodeError(f"Expecting {sign!r}", text, at)
    return _skip_space(text, at + 1)


def _skip_space(text: str, at: int) -> int:
    """The position after white space."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _by_article(rows: Iterator[Any]) -> Iterator[Any]:
    """The records; SQuAD's paragraphs become one record per article, with a section for each."""
    articles: dict[str, list[str]] = {}
    for row in rows:
        if isinstance(row, dict) and isinstance(row.get("paragraphs"), list) and isinstance(row.get("title"), str):
            contexts = [one.get("context") for one in row["paragraphs"] if isinstance(one, dict)]
            title = unquote(row["title"]).replace("_", " ").strip()
            articles.setdefault(title, []).extend(text.strip() for text in contexts if isinstance(text, str))
        else:
            yield row
    for title, texts in articles.items():
        sections = list(dict.fromkeys(filter(None, texts)))
        yield {"title": title, "text": "\n\n".join([f"# {title}", *sections]) if sections else ""}


FORMAT = Format(read, MAX_BYTES, many=True)
