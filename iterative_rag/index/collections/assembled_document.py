"""Puts the nodes of a document together again, as far as they tell how."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from iterative_rag.index.collections.stored_node import PayloadKeys, StoredNode
from iterative_rag.text.document_labels import labels_of
from iterative_rag.types import Document

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
