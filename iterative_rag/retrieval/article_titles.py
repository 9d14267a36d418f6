"""Articles by the titles that a model writes: exactly, or with the titles that come near."""

from __future__ import annotations

import difflib
import threading

from iterative_rag.protocols import Corpus
from iterative_rag.text.folding import folded
from iterative_rag.types import Document, Hit

# Hits of a title that are looked at for the article of that name, and titles that are offered in its place.
HITS, OFFERED = 32, 3
LIKENESS = 0.5


class ArticleTitles:
    """The titles that one run has met. Used from several threads at once."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._ids: dict[str, str] = {}
        self._written: dict[str, str] = {}
        self._lock = threading.Lock()

    def learn(self, title: str, document_id: str) -> None:
        with self._lock:
            self._ids.setdefault(_plain(title), document_id)
            self._written.setdefault(_plain(title), title)

    def article(self, title: str) -> Document | None:
        """The article of this title, ignoring case and accents; None where the corpus has none."""
        if (known := self._known(title)) is None:
            self._search(title)
            known = self._known(title)
        return None if known is None else self._corpus.document(known)

    def near(self, title: str) -> list[str]:
        """Titles like this one, the most alike first; it was searched for before."""
        with self._lock:
            written = dict(self._written)
        plain = _plain(title)
        held = [one for one in written if plain and (plain in one or one in plain)]
        close = difflib.get_close_matches(plain, written, n=OFFERED, cutoff=LIKENESS)
        return [written[one] for one in dict.fromkeys([*close, *held])][:OFFERED]

    def _known(self, title: str) -> str | None:
        with self._lock:
            return self._ids.get(_plain(title))

    def _search(self, title: str) -> None:
        hits: list[Hit] = self._corpus.search([title], HITS)[0]
        for hit in hits:
            self.learn(hit.title, hit.document_id)


def _plain(title: str) -> str:
    return " ".join(folded(title).replace("_", " ").split()).strip(" \"'.")
