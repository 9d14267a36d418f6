"""Articles by the titles that a model writes: exactly, or with the titles that come near."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from iterative_rag.protocols import Corpus
from iterative_rag.text.folding import folded
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Document

# Hits of a title that are looked at for the articles of that name, and titles that are offered in its place.
HITS, OFFERED = 100, 3
LIKENESS = 0.5

_WITH_SOURCE = lazy_pattern(r"(?P<title>.*\S)\s*\[(?P<source>[^\[\]]+)\]")


class ArticleTitles:
    """The titles that one run has met.

    Where articles share a title, each is named with the end of its source: "Mercury [planets/mercury.md]". The folders
    above it are nothing that a model has to know.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._ids: dict[str, dict[str, str]] = {}  # the ids of each plain title, with the title as it is written
        self._searched: set[str] = set()

    def learn(self, title: str, document_id: str) -> None:
        self._ids.setdefault(_plain(title), {}).setdefault(document_id, title)

    def articles(self, title: str) -> list[Document]:
        """The articles of this title, ignoring case and accents; of a title with a source the one from there."""
        if documents := self._articles(title):
            return documents
        named = _WITH_SOURCE.fullmatch(title.strip())
        if named is None:
            return []
        source = named["source"].strip()
        return [article for article in self._articles(named["title"]) if f"/{article.source}".endswith(f"/{source}")]

    def label(self, document: Document) -> str:
        """The title, with as much of the source as tells it from other articles that are known by the same title."""
        namesakes = [id_ for id_ in self._ids.get(_plain(document.title), ()) if id_ != document.id]
        if not namesakes:
            return document.title
        others = [self._corpus.document(id_).source for id_ in namesakes]
        return f"{document.title} [{_telling_end(document.source, others)}]"

    def near(self, title: str) -> list[str]:
        """Titles like this one, the most alike first; it was searched for before."""
        written = {plain: next(iter(ids.values())) for plain, ids in self._ids.items()}
        plain = _plain(title)
        held = [name for name in written if plain and (plain in name or name in plain)]
        close = difflib.get_close_matches(plain, written, n=OFFERED, cutoff=LIKENESS)
        return [written[name] for name in dict.fromkeys([*close, *held])][:OFFERED]

    def _articles(self, title: str) -> list[Document]:
        plain = _plain(title)
        if plain not in self._searched:  # also where one is known: others may have the same title
            self._searched.add(plain)
            for hit in self._corpus.search([title], HITS)[0]:
                self.learn(hit.title, hit.document_id)
        return [self._corpus.document(id_) for id_ in self._ids.get(plain, ())]


def _plain(title: str) -> str:
    return " ".join(folded(title).replace("_", " ").split()).strip(" \"'.")


def _telling_end(source: str, others: Sequence[str]) -> str:
    """The last parts of a source, as few as no other one ends in."""
    parts = source.split("/")
    ends = ("/".join(parts[-count:]) for count in range(1, len(parts)))
    return next((end for end in ends if not any(f"/{other}".endswith(f"/{end}") for other in others)), source)
