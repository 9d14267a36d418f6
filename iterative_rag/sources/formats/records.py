"""Records of JSON as documents: `{title, text or passage, url?}`, records of other fields, and tables of short ones."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, TypeAlias, TypeGuard

from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats.format import MAX_CHARS, plain
from iterative_rag.sources.formats.table_part import TablePart, table_documents, table_line
from iterative_rag.sources.metadata import MAX_VALUE_CHARS, metadata_of, scalars
from iterative_rag.types import Document
from iterative_rag.types.documents import as_field

HOW_TO_SPLIT = "divide the text into several records, or put it into a .txt file, which is read in parts"
# Names of the field that holds a record's text, the surest first; a table may have the last ones as columns.
_TEXTS = ("text", "passage", "contents", "body", "paragraph_text", "content", "article", "abstract")
_SURE_TEXTS = frozenset(_TEXTS[:5])
_OWN_FIELDS = frozenset({"title", "url", "metadata"})
# What names a record that has no title; else the first of its texts that is short enough.
_NAMES = ("wikipedia_title", "name", "heading", "headline", "label", "subject", "question")
_TITLE_CHARS = 120
# A table of records: so many at the beginning are looked at, and all have at most so many short values.
_LOOKED_AT, _MOST_COLUMNS, _CELL_CHARS = 50, 40, 200

# The place of a record, and the record or why it cannot be read.
Numbered: TypeAlias = tuple[str, object]


def record_documents(rows: Iterable[Numbered], source: str, title: str, what: str) -> Iterator[Document | Skipped]:
    """The documents of a file's records: one table of them where all are short, without a text; else one for each.

    `what` names a record in messages ("line").
    """
    left = iter(rows)
    start: list[Numbered] = []
    for item in left:
        start.append(item)
        if not _may_be_row(item[1]) or len(start) == _LOOKED_AT:
            break
    if sum(isinstance(row, dict) for _, row in start) > 1 and all(_may_be_row(row) for _, row in start):
        for document in table_documents(_table(chain(start, left), what), source, title):
            yield replace(document, id=_hash(f"rows {document.id}")) if isinstance(document, Document) else document
        return
    seen: Counter[str] = Counter()
    for position, row in chain(start, left):
        yield row if isinstance(row, Skipped) else _document(row, position, seen, what)


def _may_be_row(record: object) -> bool:
    """Whether a record may be a row of a table: short values, and no text of its own. One that cannot be read may."""
    if isinstance(record, Skipped):
        return True
    if not isinstance(record, dict) or not 1 < len(record) <= _MOST_COLUMNS or _SURE_TEXTS & record.keys():
        return False
    values = (value for value in record.values() if not isinstance(value, int | float | None))
    return all(isinstance(value, str) and len(value) <= _CELL_CHARS for value in values)


def _table(rows: Iterable[Numbered], what: str) -> Iterator[TablePart | Skipped]:
    """The records as rows under their keys. A key that comes late begins another table, with a longer header."""
    part: TablePart | None = None
    for position, row in rows:
        if not isinstance(row, dict):
            yield row if isinstance(row, Skipped) else Skipped(position, f"The {what} is not a JSON object.")
            continue
        values = {plain(str(key)): plain(in_words(value)) for key, value in row.items()}
        head = part.head if part else []
        new = [key for key in values if key not in head]
        line = table_line([values.get(key, "") for key in [*head, *new]])
        if part is None or new or not part.takes(line):
            if part is not None:
                yield part
            part = TablePart([*head, *new], part.next if part else 1)
        part.add(line)
    if part is not None:
        yield part


def _document(row: object, source: str, seen: Counter[str], what: str) -> Document | Skipped:
    match row:
        case str():
            row = {"text": row}
        case [str(title), str() | list() as held] if joined_text(held):  # as HotpotQA writes them
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
    title = plain(title) or _beginning(text)
    key = url or title
    seen[key] += 1
    document_id = _hash(f"{key}\n{seen[key]}" if seen[key] > 1 else key)
    nested = rest.get("metadata")
    fields = {key: value for key, value in rest.items() if key not in _OWN_FIELDS}
    metadata = metadata_of(scalars({**fields, **nested} if isinstance(nested, dict) else fields))
    return Document(document_id, title, text, source, url or None, metadata=metadata)


def is_record(row: Mapping[str, Any]) -> bool:
    """Whether an object is a record itself and no collection of others: it has a text or a name."""
    return bool(_text(row)[1]) or any(_is_filled(row.get(name)) for name in ("title", *_NAMES))


def _text(row: Mapping[str, Any]) -> tuple[str, str]:
    """The field that holds the text, and the text; two empty ones where none does."""
    held = ((name, joined_text(row.get(name))) for name in _TEXTS)
    return next(((name, text) for name, text in held if text.strip()), ("", ""))


def joined_text(value: Any) -> str:
    """A text, also one of sentences, or of paragraphs of sentences; "" for anything else."""
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        if any(text.endswith("\n") for text in value):  # paragraphs
            return "\n\n".join(filter(None, map(str.strip, value)))
        glued = any(text[:1].isspace() for text in value[1:]) or any(text[-1:].isspace() for text in value[:-1])
        return ("" if glued else " ").join(value)
    if isinstance(value, list) and all(isinstance(item, list) for item in value):
        return "\n\n".join(filter(None, map(joined_text, value)))
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
        if "\n" in shown or len(shown) > _CELL_CHARS:
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


def _beginning(text: str) -> str:
    line = text.strip().partition("\n")[0].strip("# ").strip()
    if len(line) <= _TITLE_CHARS:
        return line or "untitled"
    return line[:_TITLE_CHARS].rpartition(" ")[0] + " …" if " " in line[:_TITLE_CHARS] else line[:_TITLE_CHARS]


def _hash(key: str) -> str:
    return hashlib.sha1(key.encode()).hexdigest()


def _is_filled(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value.strip())


def _is_title(value: str) -> bool:
    return len(value) <= _TITLE_CHARS and "\n" not in value.strip() and not value.startswith(("http://", "https://"))
