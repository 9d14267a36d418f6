"""The documents that an answer cites, found again in the corpus that was asked."""

from __future__ import annotations

from collections.abc import Mapping

from iterative_rag.errors import CorpusError
from iterative_rag.index.indexed_corpus import IndexedCorpus
from iterative_rag.index.joint_corpus import corpus_and_id
from iterative_rag.serve.api.documents import opened_corpus
from iterative_rag.serve.services import Services
from iterative_rag.types import Answer, Citation, Document


class CitedDocuments:
    """Looks documents up by the ids that the facts of the run name, else by title. Not for several threads at once."""

    def __init__(self, services: Services, corpus: str, answer: Answer) -> None:
        self._services, self._name = services, corpus
        facts = (*(fact for hop in answer.hops for fact in hop.facts), *answer.facts)
        self._ids = {(fact.source, fact.title): fact.document_id for fact in facts}
        self._known: dict[tuple[str, str], Document | None] = {}

    def of(self, citation: Citation) -> Document | None:
        """None where the corpus does not hold the document, or is not served any more."""
        key = citation.source, citation.title
        if key not in self._known:
            self._known[key] = self._found(*key, citation.corpus)
        return self._known[key]

    def ids(self, citations: tuple[Citation, ...]) -> Mapping[int, str]:
        """The ids of documents that are known without looking them up, by the number of the citation."""
        known = {one.n: self._ids.get((one.source, one.title), "") for one in citations}
        return {n: document_id for n, document_id in known.items() if document_id}

    def _found(self, source: str, title: str, cited_from: str) -> Document | None:
        """`cited_from` is the corpus of the citation, "" where only one was asked."""
        name, document_id = corpus_and_id(self._name, self._ids.get((source, title), ""))
        try:
            corpus = opened_corpus(self._services.pool, name if document_id else cited_from or name)
        except CorpusError:
            return None
        if document := _by_id(corpus, document_id):
            return document
        try:
            found = corpus.find(title)
        except CorpusError:
            return None
        return next(
            (one for one in found if source in (one.source, *one.copies)), found[0] if len(found) == 1 else None
        )


def _by_id(corpus: IndexedCorpus, document_id: str) -> Document | None:
    try:
        return corpus.document(document_id) if document_id else None
    except CorpusError:
        return None
