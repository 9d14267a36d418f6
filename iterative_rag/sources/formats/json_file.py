"""JSON: a list of `{title, text or passage, url?}`, one such record, or SQuAD's `{"data": [...]}` by article."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from iterative_rag.protocols import Skipped
from iterative_rag.sources.decoding import decode
from iterative_rag.sources.formats.format import Format, Reading, limit_skipped, shown
from iterative_rag.sources.jsonl import document_of

MAX_BYTES = 64 * 1024 * 1024
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_FIELDS = {"title", "text", "passage", "paragraphs"}
_WANTED = 'It is neither a list of {"title", "text"} records nor in the format of SQuAD ({"data": [...]}).'


def read(path: Path) -> Reading:
    source = shown(path)
    text = decode(path.read_bytes())
    if not isinstance(text, str):
        yield Skipped(source, text.reason)
        return
    if not text.strip():
        yield Skipped(source, "It is empty.", empty=True)
        return
    yield from limit_skipped(_documents(text, source), source)


def _documents(text: str, source: str) -> Reading:
    seen: Counter[str] = Counter()
    number = 0
    try:
        for number, row in enumerate(_by_article(_rows(text)), 1):
            yield document_of(row, f"{source}:{number}", seen, "record")
    except RecursionError:
        yield Skipped(source, f"It is nested too deeply to be read beyond record {number}.")
        return
    except ValueError as error:
        yield Skipped(source, f"It is not JSON: {str(error).partition(';')[0][:120]}.")
        return
    if not number:
        yield Skipped(source, _WANTED)


def _rows(text: str) -> Iterator[Any]:
    """The records, one by one: all of them at once take many times the memory of their text. Raises ValueError."""
    place = _next(text, 0)
    if text.startswith("[", place):
        yield from _entries(text, place)
    elif text.startswith("{", place):
        yield from _of_object(text, place)


def _of_object(text: str, place: int) -> Iterator[Any]:
    """The entries of "data" if there is such a list; else the object itself, if it may be a record."""
    whole: dict[str, Any] = {}
    place = _next(text, place + 1)
    while not text.startswith("}", place):
        key, place = _DECODER.raw_decode(text, place)
        place = _after(text, place, ":")
        if key == "data" and text.startswith("[", place):
            yield from _entries(text, place)
            return
        whole[str(key)], place = _DECODER.raw_decode(text, place)
        place = _next(text, place)
        if not text.startswith("}", place):
            place = _after(text, place, ",")
    if _FIELDS & set(whole):
        yield whole


def _entries(text: str, place: int) -> Iterator[Any]:
    place = _next(text, place + 1)
    while not text.startswith("]", place):
        row, place = _DECODER.raw_decode(text, place)
        yield row
        place = _next(text, place)
        if not text.startswith("]", place):
            place = _after(text, place, ",")


def _after(text: str, place: int, sign: str) -> int:
    place = _next(text, place)
    if not text.startswith(sign, place):
        raise json.JSONDecodeError(f"Expecting {sign!r}", text, place)
    return _next(text, place + 1)


def _next(text: str, place: int) -> int:
    """The place of what comes after white space."""
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _by_article(rows: Iterator[Any]) -> Iterator[Any]:
    """The records; those that hold SQuAD's paragraphs as one record an article, whose sections they are."""
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


FORMAT = Format((".json",), MAX_BYTES, read, many=True)
