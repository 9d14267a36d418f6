"""Documents of one text under several names: one of them stands for all, so that no text is a witness for itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple


class Original(NamedTuple):
    """The document that stands for its copies."""

    id: str
    title: str


class Copies:
    """What searches have found: the first document of a text stands for those found after it.

    Only documents that a search has found are compared, and only those of equal size, so that a corpus without copies
    pays next to nothing. `described` gives the title, source and size of the documents that exist, `same` tells whether
    two hold the same text. Safe to use from several threads.
    """

    def __init__(
        self,
        described: Callable[[Sequence[str]], Mapping[str, tuple[str, str, int]]],
        same: Callable[[str, str], bool],
    ) -> None:
        self._described, self._same = described, same
        self._lock = threading.Lock()
        self._originals: dict[str, Original] = {}  # by the id of each document that was found
        self._by_size: dict[int, list[Original]] = {}
        self._sources: dict[str, list[str]] = {}  # of the copies, by the id of their original

    def learn(self, ids: Iterable[str]) -> None:
        """Take in documents that a search has found, best first."""
        with self._lock:
            new = [document_id for document_id in dict.fromkeys(ids) if document_id not in self._originals]
            described = self._described(new)
            for document_id in filter(described.__contains__, new):
                title, source, size = described[document_id]
                alike = self._by_size.setdefault(size, [])
                original = next((other for other in alike if self._same(document_id, other.id)), None)
                if original is None:
                    original = Original(document_id, title)
                    alike.append(original)
                else:
                    self._sources.setdefault(original.id, []).append(source)
                self._originals[document_id] = original

    def original(self, document_id: str) -> Original:
        """The document that stands for this one, which `learn` was told of."""
        return self._originals[document_id]

    def sources(self, document_id: str) -> tuple[str, ...]:
        """Where else the text of a document was found."""
        with self._lock:
            return tuple(self._sources.get(document_id, ()))
