"""Puts the nodes of a document together again, as far as they tell how."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from iterative_rag.index.collections.stored_node import PayloadKeys, StoredNode
from iterative_rag.text.document_labels import labels_of
from iterative_rag.types import Document

_WORD = re.compile(r"(?<!\S)\S")
_CHARS = 24  # of an anchor
_EACH = 16  # of so many beginnings of words one is an anchor, by chance


class GrowingText:
    """Finds pieces as `str.find` does, without a look at the whole text for each.

    Anchors, some beginnings of words with what follows them, are noted with their places. A piece that holds one can
    stand nowhere else; one that holds none, as in languages without spaces, is searched for in the whole text.
    """

    def __init__(self) -> None:
        self.text = ""
        self._places: dict[str, list[int]] = {}
        self._noted = 0

    def __len__(self) -> int:
        return len(self.text)

    def add(self, text: str) -> None:
        # A string that one variable alone holds grows in place; with an attribute all of it would be copied each time.
        whole, self.text = self.text, ""
        whole += text
        self.text = whole
        del whole
        end = len(self.text) - _CHARS + 1
        for word in _WORD.finditer(self.text, self._noted, max(end, self._noted)):
            anchor = self.text[word.start() : word.start() + _CHARS]
            if _is_anchor(anchor):
                self._places.setdefault(anchor, []).append(word.start())
        self._noted = max(end, self._noted)

    def find(self, piece: str) -> int:
        """The first place of a piece; -1 for none."""
        for word in _WORD.finditer(piece, 1, max(len(piece) - _CHARS + 1, 1)):
            anchor = piece[word.start() : word.start() + _CHARS]
            if _is_anchor(anchor):
                places = (place - word.start() for place in self._places.get(anchor, ()))
                return next((at for at in places if at >= 0 and self.text.startswith(piece, at)), -1)
        return self.text.find(piece)


def _is_anchor(text: str) -> bool:
    return hash(text) % _EACH == 0


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
    text, reach = GrowingText(), 0
    before: StoredNode | None = None
    for node in ordered:
        ends = None if node.start is None else node.start + len(node.text)
        # It is looked for only where it may stand there.
        at = text.find(node.text) if before and (ends is None or ends <= reach) else -1
        if at < 0:
            shared = _shared(text.text, before, node) if before else 0
            if before and not shared:
                text.add(_GAP)
            at = len(text) - shared
            text.add(node.text[shared:])
        places[node.id] = at, at + len(node.text)
        reach = max(reach, ends or 0)
        before = node
    metadata = ordered[0].metadata if ordered else {}
    labels = labels_of(metadata, text.text, title_key=keys.title, url_key=keys.url)
    source = labels.source or f"{collection}/{document_id}"
    return AssembledDocument(Document(document_id, labels.title or "untitled", text.text, source, labels.url), places)


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
