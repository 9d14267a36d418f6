"""JSON: lists of records, records one after the other, an object of them; and JSON Lines. A record is
`{title, text or passage, url?}`, or has other fields."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

from iterative_rag.errors import CorpusError
from iterative_rag.protocols import Skipped
from iterative_rag.sources.decoding import decode
from iterative_rag.sources.formats.format import (
    MAX_CHARS,
    FileSource,
    Format,
    Reading,
    limit_skipped,
    or_else,
    plain,
    shown,
    unreadable,
)
from iterative_rag.sources.metadata import MAX_VALUE_CHARS, metadata_of, scalars
from iterative_rag.system.files import json_value
from iterative_rag.types import Document
from iterative_rag.types.documents import as_field

HOW_TO_SPLIT = "divide the text into several records, or put it into a .txt file, which is read in parts"
# Names of the field that holds a record's text, the surest first; SQuAD's articles have the last two.
_TEXTS = (
    *("text", "passage", "contents", "body", "paragraph_text", "content", "article", "abstract"),
    *("paragraphs", "context"),
)
_OWN_FIELDS = frozenset({"title", "url", "metadata"})
# What names a record that has no title; else the first of its texts that is short enough.
_NAMES = ("wikipedia_title", "name", "heading", "headline", "label", "subject", "question")
_TITLE_CHARS = 120
_LINE_CHARS = 200  # of a field that is written on one line

# The place of a record, and the record or why it cannot be read.
Numbered: TypeAlias = tuple[str, object]


def record_documents(rows: Iterable[Numbered], what: str) -> Iterator[Document | Skipped]:
    """The document of each record of a file; `what` names a record in messages ("line")."""
    seen: Counter[str] = Counter()
    for position, row in rows:
        yield row if isinstance(row, Skipped) else _document(row, position, seen, what)


def _document(row: object, source: str, seen: Counter[str], what: str) -> Document | Skipped:
    match row:
        case str():
            row = {"text": row}
        case [str(title), str() | list() as held] if _joined(held):  # as HotpotQA writes them
            row = {"title": title, "text": held}
    if not isinstance(row, dict):
        return Skipped(source, f"The {what} is no text and not a JSON object.")
    try:
        title = _title(row)
        name, text = _text(row)
        rest = {key: value for key, value in row.items() if key not in ("title", "url", name)}
        # Beside a text only what the metadata have no room for.
        more = _fields_as_text({key: value for key, value in rest.items() if not text or _is_long(value)}, title)
    except RecursionError:
        return Skipped(source, f"The {what} is nested too deeply.")
    more = f"# {title}\n\n{more}" if title and more and not text else more
    text = plain("\n\n".join(filter(None, [text.rstrip(), more])))
    if not text:
        return Skipped(source, f'The {what} has no "text" or "passage", and no other field.')
    if len(text) > MAX_CHARS:
        return Skipped(source, f"The text is longer than the limit of {MAX_CHARS:,} characters: {HOW_TO_SPLIT}.")
    url = plain(url) if isinstance(url := row.get("url"), str) else ""
    title = plain(title) or text.strip().partition("\n")[0].strip("# ").strip()[:_TITLE_CHARS] or "untitled"
    key = url or title
    seen[key] += 1
    key = f"{key}\n{seen[key]}" if seen[key] > 1 else key
    document_id = hashlib.sha1(key.encode()).hexdigest()
    nested = rest.get("metadata")
    fields = {key: value for key, value in rest.items() if key not in _OWN_FIELDS}
    metadata = metadata_of(scalars({**fields, **nested} if isinstance(nested, dict) else fields))
    return Document(document_id, title, text, source, url or None, metadata=metadata)


def _text(row: Mapping[str, Any]) -> tuple[str, str]:
    """The field that holds the text, and the text; two empty ones where none does."""
    held = ((name, _joined(row.get(name))) for name in _TEXTS)
    return next(((name, text) for name, text in held if text.strip()), ("", ""))


def _joined(value: Any) -> str:
    """A text, also one of sentences, of paragraphs of sentences or of records of paragraphs; "" for anything else."""
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        if any(text.endswith("\n") for text in value):  # paragraphs
            return "\n\n".join(filter(None, map(str.strip, value)))
        glued = any(text[:1].isspace() for text in value[1:]) or any(text[-1:].isspace() for text in value[:-1])
        return ("" if glued else " ").join(value)
    if isinstance(value, list):
        held = (_text(item)[1] if isinstance(item, dict) else _joined(item) for item in value)
        return "\n\n".join(filter(None, held))
    return value if isinstance(value, str) else ""


def _is_long(value: Any) -> bool:
    """Whether a field is a further text, or holds fields of its own."""
    nested = isinstance(value, list) and any(isinstance(item, dict) for item in value)
    return nested or isinstance(value, dict) or (isinstance(value, str) and len(value) > MAX_VALUE_CHARS)


def _title(row: Mapping[str, Any]) -> str:
    """The title of a record, else what names it; "" where nothing does."""
    title = row.get("title")
    if _is_filled(title) or (isinstance(title, int | float) and not isinstance(title, bool)):
        return str(title).strip()
    held = {str(key).casefold(): value for key, value in row.items()}
    names = [held.get(name) for name in _NAMES]
    texts = [value for key, value in row.items() if key not in _OWN_FIELDS]
    return next((value.strip() for value in (*names, *texts) if _is_filled(value) and _is_title(value)), "")


def _fields_as_text(row: Mapping[str, Any], title: str) -> str:
    """Fields as text: a line for each, long ones as sections of their own. "" where there are none."""
    lines, sections = [], []
    for key, value in row.items():
        key, shown = as_field(key), in_words(value).strip()
        if not shown or key == "metadata" or (shown == title and len(row) > 1):
            continue
        if "\n" in shown or len(shown) > _LINE_CHARS:
            sections.append(f"## {key}\n\n{shown}")
        else:
            lines.append(f"- {key}: {shown}")
    return "\n\n".join(["\n".join(lines)] * bool(lines) + sections)


def in_words(value: Any) -> str:
    """A value in words: lists by commas, objects by the names of their fields."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case list():
            joint = ", " if all(isinstance(item, str | int | float) for item in value) else "; "
            return joint.join(filter(None, map(in_words, value)))
        case dict():
            return ", ".join(f"{key}: {shown}" for key, field in value.items() if (shown := in_words(field)))
    return str(value)


def _is_filled(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value.strip())


def _is_title(value: str) -> bool:
    return len(value) <= _TITLE_CHARS and "\n" not in value.strip() and not value.startswith(("http://", "https://"))


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
    items = record_documents(_numbered(text, source), "record")
    yield from limit_skipped(or_else(items, Skipped(source, _NO_RECORDS)), source)


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
    # With a text or a name an object is a record itself, and no collection of others.
    if not isinstance(row, dict) or _text(row)[1] or any(_is_filled(row.get(name)) for name in ("title", *_NAMES)):
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

    def documents(self) -> Iterator[Document | Skipped]:
        """Raises CorpusError when the file cannot be read, or holds lines and no document."""
        self.check()
        return limit_skipped(self._documents(), self.root)

    def _documents(self) -> Iterator[Document | Skipped]:
        read = False
        nothing = Skipped(self.root, "It is empty.", empty=True)
        for item in or_else(record_documents(self._records(), "line"), nothing):
            read = read or item is nothing or isinstance(item, Document)
            yield item
        if not read:
            raise CorpusError(
                f"{self.root} holds no document.",
                hint='Each line must be an object, such as {"title": ..., "text": ..., "url": ...}.',
            )

    def _records(self) -> Iterator[Numbered]:
        """The record of each line that is not empty, or why it is none."""
        number = 0
        try:
            with self.opened() as file:
                while line := file.readline(MAX_LINE_BYTES + 1):
                    number += 1
                    source = f"{self.root}:{number}"
                    if len(line) > MAX_LINE_BYTES:
                        while line and not line.endswith(b"\n"):
                            line = file.readline(1 << 20)
                        limit = f"{MAX_LINE_BYTES / 1e6:.0f} MB"
                        reason = f"The line is longer than the limit of {limit}: {HOW_TO_SPLIT}."
                        yield source, Skipped(source, reason)
                    elif line.strip():
                        yield source, _parsed(line, source)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            message = f"{self.root} is damaged after line {number}: {error}."
            raise CorpusError(message, hint="Fetch or compress the file again.") from error
        except OSError as error:
            raise unreadable(self.path, error) from error


def _parsed(line: bytes, source: str) -> object:
    if line.count(b"[") + line.count(b"{") > MAX_CONTAINERS:
        return Skipped(source, f"The line holds more than {MAX_CONTAINERS:,} lists and objects.")
    try:
        return json_value(line)
    except ValueError as error:
        return Skipped(source, f"The line is not JSON: {str(error).partition(';')[0][:120]}.")


LINES = Format(lambda path: JsonLines(path).documents(), 1 << 50, apart=False, many=True, source=JsonLines)
