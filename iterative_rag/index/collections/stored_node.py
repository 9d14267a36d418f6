"""A point of such a collection as a piece of text: what its payload tells. Payloads are untrusted input."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from iterative_rag.index.vector_store import point_uuid

# LlamaIndex keeps the whole node here, as JSON.
_NODE = "_node_content"
# Where other programs keep a text, and what else they know of it.
_TEXTS, _METADATA = ("text", "page_content", "content", "document", "chunk"), "metadata"
# The id of the document of a node, as LlamaIndex writes it; "None" for a node that has none.
DOCUMENT_KEYS = ("doc_id", "ref_doc_id", "document_id")
_NONE = "None"
_INTERNAL = frozenset({_NODE, "_node_type", *DOCUMENT_KEYS})
_PREVIOUS = "2"


@dataclass(frozen=True, slots=True)
class PayloadKeys:
    """Keys of the payload that the user names, "" where they are to be guessed; a dot leads into an object.

    `vector` is the name of the dense vectors.
    """

    text: str = ""
    title: str = ""
    url: str = ""
    document: str = ""
    vector: str = ""


@dataclass(frozen=True, slots=True)
class StoredNode:
    """`document_id` is "" where the point belongs to no document. `start` is its offset there, and `previous` the node
    before it, where they are known."""

    id: UUID
    document_id: str
    text: str
    metadata: Mapping[str, Any]
    start: int | None = None
    previous: UUID | None = None


def node_of(point: int | str | UUID, payload: Mapping[str, Any] | None, keys: PayloadKeys) -> StoredNode:
    """The node of a point; its text is "" where no key that is known holds one."""
    payload = payload or {}
    content = _content(payload.get(_NODE))
    inner = payload.get(_METADATA)
    metadata = {
        **(inner if isinstance(inner, Mapping) else {}),
        **{key: value for key, value in payload.items() if key not in _INTERNAL},
    }
    start = content.get("start_char_idx")
    return StoredNode(
        point_uuid(point),
        _document_of(payload, keys),
        _text_of(payload, content, keys),
        metadata,
        start if type(start) is int and start >= 0 else None,
        _previous(content),
    )


def value_at(payload: Mapping[str, Any], key: str) -> Any:
    """The value of a key; `a.b` is that of `b` in the object `a`."""
    if key in payload:
        return payload[key]
    value: Any = payload
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _content(text: Any) -> Mapping[str, Any]:
    try:
        content = json.loads(text) if isinstance(text, str) else {}
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _text_of(payload: Mapping[str, Any], content: Mapping[str, Any], keys: PayloadKeys) -> str:
    if keys.text:
        named = value_at(payload, keys.text)
        return named if isinstance(named, str) else ""
    resource = content.get("text_resource")
    held = [content.get("text"), resource.get("text") if isinstance(resource, Mapping) else None]
    held += [payload.get(key) for key in _TEXTS]
    return next((one for one in held if isinstance(one, str) and one.strip()), "")


def _document_of(payload: Mapping[str, Any], keys: PayloadKeys) -> str:
    found = (value_at(payload, key) for key in ((keys.document,) if keys.document else DOCUMENT_KEYS))
    return next((str(one) for one in found if isinstance(one, str | int) and str(one) not in ("", _NONE)), "")


def _previous(content: Mapping[str, Any]) -> UUID | None:
    links = content.get("relationships")
    link = links.get(_PREVIOUS) if isinstance(links, Mapping) else None
    node = link.get("node_id") if isinstance(link, Mapping) else None
    try:
        return UUID(node) if isinstance(node, str) else None
    except ValueError:
        return None
