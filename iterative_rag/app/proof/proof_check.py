"""A proof as data that a program keeps, and compared with a corpus as it is now: what still stands where it was quoted,
and what changed since."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from iterative_rag.app.proof.proof_file import DocumentOf, content_hash, proof_data, sealed
from iterative_rag.errors import CorpusError, UsageError
from iterative_rag.protocols import Corpus
from iterative_rag.retrieval.quote_verification import locate
from iterative_rag.types import Answer, Citation, Document


class ProofFinding(StrEnum):
    """What has become of a quote."""

    UNCHANGED = "unchanged"  # the document is the same, and the quote stands where it stood
    IN_PLACE = "document changed"  # but the quote stands where it stood
    MOVED = "moved"  # the document changed, and the quote stands elsewhere in it
    GONE = "gone"  # the document does not hold the quote
    NO_DOCUMENT = "no document"  # the corpus does not hold the document
    FALSE = "false"  # the document is the same, and the quote was never in it

    @property
    def holds(self) -> bool:
        """Whether the corpus still bears out the quote."""
        return self in (ProofFinding.UNCHANGED, ProofFinding.IN_PLACE, ProofFinding.MOVED)


@dataclass(frozen=True, slots=True)
class QuoteCheck:
    """A citation of the proof and what has become of it; `start` and `end` are where the quote stands now."""

    n: int
    title: str
    quote: str
    finding: ProofFinding
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class ProofCheck:
    """Every quote of a proof, checked."""

    question: str
    short_answer: str
    made_by: str
    made_at: str
    corpus: str
    quotes: tuple[QuoteCheck, ...]

    @property
    def holds(self) -> bool:
        """Whether the corpus bears out every quote; without any quote nothing is proved."""
        return bool(self.quotes) and all(quote.finding.holds for quote in self.quotes)


@dataclass(frozen=True)
class _Document:
    id: str = ""
    sha256: str = ""


@dataclass(frozen=True)
class _Citation:
    n: int
    start: int
    end: int
    title: str = ""
    quote: str = ""


@dataclass(frozen=True)
class _Answer:
    citations: tuple[_Citation, ...]
    question: str = ""
    short_answer: str = ""


@dataclass(frozen=True)
class _Proof:
    """What is read of the data of a proof."""

    answer: _Answer
    documents: tuple[_Document, ...]
    cited_documents: dict[str, str]
    made_by: str = ""
    made_at: str = ""
    corpus: str = ""


# The documents of a corpus that have an id or else a title; none where there is no such document.
Lookup = Callable[[str, str], Sequence[Document]]


def check_proof(data: Mapping[str, Any], lookup: Lookup) -> ProofCheck:
    """Raises UsageError where the data is not that of a proof."""
    from pydantic import TypeAdapter, ValidationError

    try:
        proof = TypeAdapter(_Proof).validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        raise UsageError("The proof is damaged.", hint="Make the file again from the answer.") from error
    documents = {document.id: document for document in proof.documents}

    def checked(citation: _Citation) -> QuoteCheck:
        cited = documents.get(proof.cited_documents.get(str(citation.n), ""), _Document())
        checks = [_compared(citation, cited, document) for document in lookup(cited.id, citation.title)]
        order = list(ProofFinding)
        missing = _as(citation, ProofFinding.NO_DOCUMENT)
        return min(checks, key=lambda check: order.index(check.finding), default=missing)

    answer = proof.answer
    quotes = tuple(map(checked, answer.citations))
    return ProofCheck(answer.question, answer.short_answer, proof.made_by, proof.made_at, proof.corpus, quotes)


def _compared(citation: _Citation, cited: _Document, document: Document) -> QuoteCheck:
    text, start, end = document.text, max(citation.start, 0), citation.end
    same = content_hash(text) == cited.sha256
    if citation.quote and text[start:end] == citation.quote:
        # Where the proof tells no hash, its document may be the same or not.
        return _as(citation, ProofFinding.IN_PLACE if cited.sha256 and not same else ProofFinding.UNCHANGED, start, end)
    if same:
        return _as(citation, ProofFinding.FALSE)
    span = locate(citation.quote, text, [(0, len(text))])
    return _as(citation, ProofFinding.MOVED, *span) if span else _as(citation, ProofFinding.GONE)


def _as(citation: _Citation, finding: ProofFinding, start: int = 0, end: int = 0) -> QuoteCheck:
    return QuoteCheck(citation.n, citation.title, citation.quote, finding, start, end)


def documents_in(corpus: Corpus) -> Lookup:
    """Looks documents up in a corpus: by id, else by title. Raises UsageError for one that cannot be searched so."""
    find: Callable[[str], list[Document]] | None = getattr(corpus, "find", None)
    if find is None:
        raise UsageError("Proofs need an indexed corpus.", hint="Index the documents: iterative-rag index PATH")

    def lookup(document_id: str, title: str) -> Sequence[Document]:
        if document_id:
            try:
                return [corpus.document(document_id)]
            except CorpusError:  # indexed anew from another folder, it has another id
                pass
        try:
            return find(title)
        except CorpusError:
            return []

    return lookup


def proof_of(answer: Answer, corpus: Corpus) -> dict[str, Any]:
    """The answer and what its quotes can be checked by, in plain JSON types: for `verify_proof`, and as a file for
    `iterative-rag verify`. `corpus` is that of the run (`IterativeRAG.corpus`)."""
    from iterative_rag import __version__

    return proof_data(answer, document_in(answer, corpus), version=__version__, source=str)


def document_in(answer: Answer, corpus: Corpus) -> DocumentOf:
    """Finds the document of a citation of the answer in the corpus of its run."""
    lookup = documents_in(corpus)
    facts = (*(fact for hop in answer.hops for fact in hop.facts), *answer.facts)
    ids = {(fact.source, fact.title): fact.document_id for fact in facts}

    def document_of(citation: Citation) -> Document | None:
        matches = lookup(ids.get((citation.source, citation.title), ""), citation.title)
        same = (document for document in matches if citation.source in (document.source, *document.copies))
        return next(same, matches[0] if len(matches) == 1 else None)

    return document_of


def verify_proof(proof: Mapping[str, Any], corpus: Corpus) -> ProofCheck:
    """What has become of the quotes of a proof in a corpus as it is now. Raises UsageError for what is no proof, is one
    of another version, or was changed since it was made."""
    return check_proof(sealed(proof), documents_in(corpus))
