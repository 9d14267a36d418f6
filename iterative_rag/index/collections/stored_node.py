"""Points of such a collection as pieces of text, and the documents that they are put together to, as far as they tell
how. Payloads are untrusted input."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from iterative_rag.index.vector_store import point_uuid
from iterative_rag.text.document_labels import labels_of
from iterative_rag.types import Document

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
    return next((text for text in held if isinstance(text, str) and text.strip()), "")


def _document_of(payload: Mapping[str, Any], keys: PayloadKeys) -> str:
    values = (value_at(payload, key) for key in ((keys.document,) if keys.document else DOCUMENT_KEYS))
    return next((str(value) for value in values if isinstance(value, str | int) and str(value) not in ("", _NONE)), "")


def _previous(content: Mapping[str, Any]) -> UUID | None:
    links = content.get("relationships")
    link = links.get(_PREVIOUS) if isinstance(links, Mapping) else None
    node = link.get("node_id") if isinstance(link, Mapping) else None
    try:
        return UUID(node) if isinstance(node, str) else None
    except ValueError:
        return None


# Shorter repeats at a seam are chance, longer ones no overlap of a splitter.
_LEAST_OVERLAP, _MOST_OVERLAP = 12, 4000
_GAP = "\n"


@dataclass(frozen=True, slots=True)
class AssembledDocument:
    """A document, and where in its text each of its nodes stands."""

    document: Document
    places: Mapping[UUID, tuple[int, int]]


def assembled(document_id: str, nodes: Iterable[StoredNode], keys: PayloadKeys, collection: str) -> AssembledDocument:
    """The document of these nodes. What neighbours share stands in it once; what lies between them is lost, and a line
    break in its place."""
    ordered = _in_order([node for node in nodes if node.text.strip()])
    places: dict[UUID, tuple[int, int]] = {}
    text, reach, last = "", 0, 0
    before: StoredNode | None = None
    for node in ordered:
        ends = None if node.start is None else node.start + len(node.text)
        # It is looked for only where it may stand there, and nodes mostly stand one after the other.
        at = text.find(node.text, last) if before and (ends is None or ends <= reach) else -1
        if at < 0 and before and ends is not None and ends <= reach:
            at = text.find(node.text)
        if at < 0:
            shared = _shared(text, before, node) if before else 0
            if before and not shared:
                text += _GAP
            at = len(text) - shared
            text += node.text[shared:]
        places[node.id] = at, at + len(node.text)
        reach = max(reach, ends or 0)
        before, last = node, at
    metadata = ordered[0].metadata if ordered else {}
    labels = labels_of(metadata, text, title_key=keys.title, url_key=keys.url)
    source = labels.source or f"{collection}/{document_id}"
    return AssembledDocument(Document(document_id, labels.title or "untitled", text, source, labels.url), places)


def _in_order(nodes: Sequence[StoredNode]) -> list[StoredNode]:
    """By the links of the nodes; the chains of them, of which most documents have one, by their offsets. A larger node
    comes before those that were cut from it."""
    after: dict[UUID, list[StoredNode]] = {}
    known = {node.id for node in nodes}
    heads = []
    for node in nodes:
        if node.previous in known and node.previous is not None and node.previous != node.id:
            after.setdefault(node.previous, []).append(node)
        else:
            heads.append(node)
    heads.sort(key=lambda node: (-1 if node.start is None else node.start, -len(node.text)))
    ordered: dict[UUID, StoredNode] = {}
    waiting = heads[::-1]
    while waiting:
        node = waiting.pop()
        if node.id not in ordered:
            ordered[node.id] = node
            waiting += after.get(node.id, ())
    ordered |= {node.id: node for node in nodes if node.id not in ordered}  # links that lead in a circle
    return list(ordered.values())


def _shared(text: str, before: StoredNode, node: StoredNode) -> int:
    """How many characters at the end of the text the node begins with: by its offset where that is right."""
    if before.start is not None and node.start is not None:
        told = before.start + len(before.text) - node.start
        if 0 < told <= len(node.text) and text.endswith(node.text[:told]):
            return told
    longest = min(len(text), len(node.text), _MOST_OVERLAP)
    return next((size for size in range(longest, _LEAST_OVERLAP - 1, -1) if text.endswith(node.text[:size])), 0)
