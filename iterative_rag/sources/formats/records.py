"""Records of JSON as documents: `{title, text or passage, url?}`, and records of other fields."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias, TypeGuard

from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats.format import MAX_CHARS, plain
from iterative_rag.sources.metadata import MAX_VALUE_CHARS, metadata_of, scalars
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


def _beginning(text: str) -> str:
    line = text.strip().partition("\n")[0].strip("# ").strip()
    return line[:_TITLE_CHARS] or "untitled"


def _hash(key: str) -> str:
    return hashlib.sha1(key.encode()).hexdigest()


def _is_filled(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value.strip())


def _is_title(value: str) -> bool:
    return len(value) <= _TITLE_CHARS and "\n" not in value.strip() and not value.startswith(("http://", "https://"))
