"""Points of such a collection as pieces of text, and the documents that they are put together to. Payloads are
untrusted input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from iterative_rag.index.vector_store import point_uuid
from iterative_rag.sources.given_documents import labels_of
from iterative_rag.system.files import json_value
from iterative_rag.types import Document

# LlamaIndex keeps the whole node here, as JSON.
_NODE = "_node_content"
# Where other programs keep a text, and what else they know of it.
TEXT_KEYS, _METADATA = ("text", "page_content", "content", "document", "chunk"), "metadata"
# The id of the document of a node, as LlamaIndex writes it; "None" for a node that has none.
DOCUMENT_KEYS = ("doc_id", "ref_doc_id", "document_id")
_NONE = "None"
_INTERNAL = frozenset({_NODE, "_node_type", *DOCUMENT_KEYS})
_GAP = "\n"


@dataclass(frozen=True, slots=True)
class PayloadKeys:
    """Keys of the payload that the user names, "" where they are to be guessed; a dot leads into an object. `vector` is
    the name of the dense vectors."""

    text: str = ""
    title: str = ""
    url: str = ""
    document: str = ""
    vector: str = ""


@dataclass(frozen=True, slots=True)
class StoredNode:
    """`document_id` is "" where the point belongs to no document; `start` is its offset there, where that is known."""

    id: UUID
    document_id: str
    text: str
    metadata: Mapping[str, Any]
    start: int | None = None


@dataclass(frozen=True, slots=True)
class AssembledDocument:
    """A document, and where in its text each of its nodes stands."""

    document: Document
    places: Mapping[UUID, tuple[int, int]]


def node_of(point: int | str | UUID, payload: Mapping[str, Any] | None, keys: PayloadKeys) -> StoredNode:
    """The node of a point; its text is "" where no key that is known holds one."""
    payload = payload or {}
    content, inner = _content(payload.get(_NODE)), payload.get(_METADATA)
    own = {key: value for key, value in payload.items() if key not in _INTERNAL}
    start = content.get("start_char_idx")
    start = start if type(start) is int and start >= 0 else None
    text, metadata = _text_of(payload, content, keys), {**(inner if isinstance(inner, Mapping) else {}), **own}
    return StoredNode(point_uuid(point), _document_of(payload, keys), text, metadata, start)


def assembled(document_id: str, nodes: Iterable[StoredNode], keys: PayloadKeys, collection: str) -> AssembledDocument:
    """The document of these nodes, by their offsets; without these in the order of the collection. What neighbours
    share stands in it once; what lies between them is lost, and a line break in its place. A larger node comes before
    those that were cut from it."""
    held = [node for node in nodes if node.text.strip()]
    held.sort(key=lambda node: (-1 if node.start is None else node.start, -len(node.text)))
    places: dict[UUID, tuple[int, int]] = {}
    text, reach, at = "", 0, 0
    for node in held:
        end = 0 if node.start is None else node.start + len(node.text)
        inside = text.find(node.text, at) if 0 < end <= reach else -1
        if inside < 0:
            shared = 0 if node.start is None else max(0, reach - node.start)
            if not text.endswith(node.text[:shared]):
                shared = 0
            text += ("" if shared or not text else _GAP) + node.text[shared:]
        at = inside if inside >= 0 else len(text) - len(node.text)
        places[node.id] = at, at + len(node.text)
        reach = max(reach, end)
    labels = labels_of(held[0].metadata if held else {}, text, title_key=keys.title, url_key=keys.url)
    source = labels.source or f"{collection}/{document_id}"
    return AssembledDocument(Document(document_id, labels.title or "untitled", text, source, labels.url), places)


def _value_at(payload: Mapping[str, Any], key: str) -> Any:
    """The value of a key; `a.b` is that of `b` in the object `a`."""
    if key in payload:
        return payload[key]
    value: Any = payload
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _content(text: Any) -> Mapping[str, Any]:
    try:
        content = json_value(text) if isinstance(text, str) else {}
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _text_of(payload: Mapping[str, Any], content: Mapping[str, Any], keys: PayloadKeys) -> str:
    if keys.text:
        named = _value_at(payload, keys.text)
        return named if isinstance(named, str) else ""
    resource = content.get("text_resource")
    held = [content.get("text"), resource.get("text") if isinstance(resource, Mapping) else None]
    held += [payload.get(key) for key in TEXT_KEYS]
    return next((text for text in held if isinstance(text, str) and text.strip()), "")


def _document_of(payload: Mapping[str, Any], keys: PayloadKeys) -> str:
    values = (_value_at(payload, key) for key in ((keys.document,) if keys.document else DOCUMENT_KEYS))
    return next((str(value) for value in values if isinstance(value, str | int) and str(value) not in ("", _NONE)), "")
