"""What earlier questions found in the documents that a question names: facts to begin with.

A fact of such a document may be about something else: one that shares no name and no other word with the question, or
with a value that leads on from it, is left out. It would stay in every prompt of the run.
The facts of a document are kept under a hash of its title and text and the version of the model that read it, so an
edited document has none. An entry is untrusted input: every quote is looked up again in the document of today.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from iterative_rag.errors import CorpusError
from iterative_rag.protocols import Cache, Corpus, FactCheck
from iterative_rag.retrieval.extract_cache import checked_rows
from iterative_rag.retrieval.need_reading import is_value, verified
from iterative_rag.retrieval.need_words import plain_words
from iterative_rag.retrieval.reading_policy import named
from iterative_rag.retrieval.shortlist import shortlist
from iterative_rag.storage.cache_keys import cache_key
from iterative_rag.text.languages import content_words
from iterative_rag.types import Document, Extract, Fact, Need, Window

# The facts that are kept of a document, those that one document may give to a question, and all that a question gets.
MOST_KEPT, MOST_OF_ONE, MOST = 24, 6, 12
# The documents and passages that are searched for what a question names.
DOCUMENTS, PASSAGES = 8, 24
# How many values of known facts are looked up as titles, so that a chain is followed beyond its first link.
MOST_FOLLOWED = 6
LONGEST = 2000
Row = dict[str, Any]
_TEXTS = ("need", "statement", "quote", "value")


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """The facts that the cache holds about documents of `corpus`, as read by the model with this `fingerprint`, each
    with what the `check` says of it."""

    cache: Cache
    corpus: Corpus
    fingerprint: str
    check: FactCheck | None = None

    def about(self, question: str) -> tuple[Fact, ...]:
        """The facts to begin with. The same question begins with the same ones each time, less those of documents that
        have changed since, so that all calls of a repeated question are found in the cache."""
        begun = self.cache.get(self._start_key(question), _start)
        if begun is None:
            return self._found(question)
        documents = {id_: self._document(id_) for id_, _, _ in begun}
        return tuple(
            fact
            for id_, version, row in begun
            if (document := documents[id_]) and self._key(document) == version
            for fact in self._verified(document, [row])
        )

    def remember(self, question: str, begun: Sequence[Fact], facts: Iterable[Fact]) -> None:
        """Keep what a question has begun with, and for others the values that it has found; none of the web, which is
        read anew, and none of documents that are gone by now."""
        rows = []
        for fact in begun:
            if document := self._document(fact.document_id):
                rows.append([fact.document_id, self._key(document), _row(fact)])
        self.cache.put(self._start_key(question), rows)
        by_document: dict[str, list[Fact]] = {}
        for fact in facts:
            if is_value(fact) and not fact.retrieved:
                by_document.setdefault(fact.document_id, []).append(fact)
        for id_, valued in by_document.items():
            document = self._document(id_)
            if document is None:
                continue
            key = self._key(document)
            new = [row for row in map(_row, valued) if all(len(row[name]) <= LONGEST for name in _TEXTS)]
            kept = [row for row in self.cache.get(key, _rows) or [] if row not in new]
            self.cache.put(key, [*kept, *new][-MOST_KEPT:])

    def _found(self, question: str) -> tuple[Fact, ...]:
        """The facts of the documents that the question names, then of those that are named by a value found there."""
        need = Need(question)
        (listed,) = shortlist(self.corpus, [need], documents=DOCUMENTS, passages=PASSAGES, sharpen=True)
        about = [id_ for ids in named(need, listed).values() for id_ in ids]
        waiting = [self.corpus.document(id_) for id_ in about]
        by_document: dict[str, tuple[Fact, ...]] = {}
        followed: set[str] = set()
        words = content_words(question)
        while waiting and sum(map(len, by_document.values())) < MOST:
            document = waiting.pop(0)
            if document.id in by_document:
                continue
            rows = self.cache.get(self._key(document), _rows) or []
            known = self._verified(document, rows[-MOST_OF_ONE:])
            by_document[document.id] = tuple(fact for fact in known if _concerns(fact, words))
            words |= content_words(" ".join(fact.value for fact in by_document[document.id]))
            values = [fact.value for fact in by_document[document.id] if fact.value not in followed]
            for value in values[: max(0, MOST_FOLLOWED - len(followed))]:
                followed.add(value)
                waiting += self._titled(value)
        return tuple(fact for facts in by_document.values() for fact in facts)[:MOST]

    def _titled(self, name: str) -> list[Document]:
        """The documents with this title."""
        (hits,) = self.corpus.search([name], PASSAGES)
        ids = dict.fromkeys(hit.document_id for hit in hits if plain_words(hit.title) == plain_words(name))
        return [self.corpus.document(id_) for id_ in ids]

    def _verified(self, document: Document, rows: Sequence[Row]) -> tuple[Fact, ...]:
        """The rows whose quotes stand in the document of today."""
        whole = Window(document.id, document.title, document.source, ((0, len(document.text)),), document.text)
        facts = (verified(self.corpus, Need(row["need"]), whole, _extract(row), self.check) for row in rows)
        return tuple(fact for fact in facts if fact)

    def _start_key(self, question: str) -> str:
        return cache_key("known at the start", self.fingerprint, self.corpus.name, Need(question).key)

    def _document(self, id_: str) -> Document | None:
        """None where the document, or the whole corpus, was removed since its id was written."""
        try:
            return self.corpus.document(id_)
        except CorpusError:
            return None

    def _key(self, document: Document) -> str:
        return cache_key("facts of a document", self.fingerprint, document.title, document.text)


def _concerns(fact: Fact, words: frozenset[str]) -> bool:
    """Whether a fact is about the document that was named, or shares one of these words. In scripts without spaces the
    title alone tells."""
    said = f"{fact.need.question} {fact.statement} {fact.value}"
    return f" {plain_words(fact.title)} " in f" {plain_words(said)} " or bool(words & content_words(said))


def _row(fact: Fact) -> Row:
    texts = {"statement": fact.statement, "quote": fact.quote, "value": fact.value}
    return {"need": fact.need.question, **texts, "score": fact.score}


def _extract(row: Row) -> Extract:
    return Extract(row["statement"], row["quote"], row["value"], row["score"])


def _start(value: Any) -> list[tuple[str, str, Row]]:
    """The facts that a question began with. Raises ValueError where the value has another form."""
    if not isinstance(value, list) or len(value) > MOST:
        raise ValueError("not a list of facts")
    for row in value:
        if not (isinstance(row, list) and len(row) == 3 and isinstance(row[0], str) and isinstance(row[1], str)):
            raise ValueError("not a document and its fact")
    return [(id_, version, row) for (id_, version, _), row in zip(value, _rows([row[2] for row in value]), strict=True)]


def _rows(value: Any) -> list[Row]:
    return checked_rows(value, _TEXTS, MOST_KEPT, LONGEST)
