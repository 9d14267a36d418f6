"""A proof file compared with a corpus as it is now: what still stands where it was quoted, and what changed since."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from iterative_rag.app.proof.proof_file import content_hash
from iterative_rag.errors import CorpusError, UsageError
from iterative_rag.retrieval.quote_verification import locate
from iterative_rag.types import Document


class Finding(StrEnum):
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
        return self in (Finding.UNCHANGED, Finding.IN_PLACE, Finding.MOVED)


@dataclass(frozen=True, slots=True)
class QuoteCheck:
    """A citation of the proof and what has become of it; `start` and `end` are where the quote stands now."""

    n: int
    title: str
    quote: str
    finding: Finding
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


@dataclass(frozen=True, slots=True)
class _Cited:
    n: int
    title: str
    quote: str
    start: int
    end: int
    document_id: str
    sha256: str


# The documents of a corpus that have an id or else a title; none where there is no such document.
Lookup = Callable[[str, str], Sequence[Document]]


class TitledCorpus(Protocol):
    """A corpus whose documents can also be found by title. Both methods raise CorpusError where there is none."""

    def document(self, document_id: str) -> Document: ...

    def find(self, title: str) -> list[Document]: ...


def check_proof(data: Mapping[str, Any], lookup: Lookup) -> ProofCheck:
    """Raises UsageError where the data is not that of a proof."""
    answer = _mapping(data.get("answer"))
    return ProofCheck(
        question=_text(answer, "question"),
        short_answer=_text(answer, "short_answer"),
        made_by=_text(data, "made_by"),
        made_at=_text(data, "made_at"),
        corpus=_text(data, "corpus"),
        quotes=tuple(_checked(cited, lookup) for cited in _citations(data, answer)),
    )


def _checked(cited: _Cited, lookup: Lookup) -> QuoteCheck:
    found = [_compared(cited, document) for document in lookup(cited.document_id, cited.title)]
    order = list(Finding)
    return min(found, key=lambda check: order.index(check.finding), default=_as(cited, Finding.NO_DOCUMENT))


def _compared(cited: _Cited, document: Document) -> QuoteCheck:
    text = document.text
    same = content_hash(text) == cited.sha256
    if cited.quote and text[cited.start : cited.end] == cited.quote:
        return _as(cited, Finding.UNCHANGED if same else Finding.IN_PLACE, cited.start, cited.end)
    if same:
        return _as(cited, Finding.FALSE)
    place = locate(cited.quote, text, [(0, len(text))])
    return _as(cited, Finding.MOVED, *place) if place else _as(cited, Finding.GONE)


def _as(cited: _Cited, finding: Finding, start: int = 0, end: int = 0) -> QuoteCheck:
    return QuoteCheck(cited.n, cited.title, cited.quote, finding, start, end)


def _citations(data: Mapping[str, Any], answer: Mapping[str, Any]) -> list[_Cited]:
    places = _mapping(data.get("cited_documents"))
    documents = {_text(one, "id"): one for one in map(_mapping, _list(data.get("documents")))}
    cited = []
    for one in map(_mapping, _list(answer.get("citations"))):
        document = documents.get(_text(places, str(_number(one, "n"))), {})
        cited.append(
            _Cited(
                _number(one, "n"),
                _text(one, "title"),
                _text(one, "quote"),
                _number(one, "start"),
                _number(one, "end"),
                _text(document, "id"),
                _text(document, "sha256"),
            )
        )
    return cited


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _damaged()
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise _damaged()
    return value


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name, "")
    if not isinstance(value, str):
        raise _damaged()
    return value


def _number(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _damaged()
    return value


def _damaged() -> UsageError:
    return UsageError("The proof is damaged.", hint="Make the file again from the answer.")


def documents_in(corpus: TitledCorpus) -> Lookup:
    """Looks documents up in a corpus: by id, else by title."""

    def lookup(document_id: str, title: str) -> Sequence[Document]:
        if document_id:
            try:
                return [corpus.document(document_id)]
            except CorpusError:  # indexed anew from another folder, it has another id
                pass
        try:
            return corpus.find(title)
        except CorpusError:
            return []

    return lookup
