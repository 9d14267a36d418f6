"""Asks the whole questions of a qualification by every strategy, over a handful of documents in memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from iterative_rag.app.factory import IterativeRAG
from iterative_rag.app.qualification.cases import Cases, WholeQuestion
from iterative_rag.errors import IterativeRAGError, LLMError
from iterative_rag.protocols import Backend
from iterative_rag.settings import Settings
from iterative_rag.storage.cache import NoCache
from iterative_rag.types import Answer, Document, Hit, Status

# Documents listed for one need: few, so that one search does not happen to list them all.
SHORTLIST = 3


class CaseCorpus:
    """Implements protocols.Corpus: each document is one passage, ranked by the words that it shares with a query."""

    name = "cases"
    fingerprint = "cases"

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = {document.id: document for document in documents}

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        return [self._search(query, limit) for query in queries]

    def _search(self, query: str, limit: int) -> list[Hit]:
        words = _words(query)
        shared = {entry.id: len(words & _words(f"{entry.title} {entry.text}")) for entry in self._documents.values()}
        ranked = sorted((name for name in shared if shared[name]), key=lambda name: -shared[name])
        return [self._hit(name, rank) for rank, name in enumerate(ranked[:limit], start=1)]

    def _hit(self, name: str, rank: int) -> Hit:
        document = self._documents[name]
        return Hit(document.id, document.title, 0, len(document.text), 1 / (60 + rank), dense_rank=rank)

    def document(self, document_id: str) -> Document:
        return self._documents[document_id]

    def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class StrategyResult:
    """What a strategy made of the questions: how many it got right, and the calls and seconds that all of them took."""

    strategy: str
    right: int
    questions: int
    calls: int
    seconds: float
    told: tuple[str, ...]


def run_strategy(strategy: str, cases: Cases, backend: Backend, settings: Settings) -> StrategyResult:
    """Raises LLMError where every call would fail."""
    settings = settings.model_copy(update={"shortlist": SHORTLIST})
    rag = IterativeRAG(settings, corpus=CaseCorpus(cases.documents), backend=backend, cache=NoCache())
    right, calls, seconds, told = 0, 0, 0.0, []
    for question in cases.questions:
        try:
            answer = rag.ask(question.text, strategy=strategy)
        except IterativeRAGError as error:
            if isinstance(error, LLMError) and error.fatal:
                raise
            told.append(str(error))
            continue
        right += _is_right(answer, question)
        calls += answer.usage.llm_calls
        seconds += answer.usage.seconds
        told.append(answer.short_answer or answer.status.value)
    return StrategyResult(strategy, right, len(cases.questions), calls, round(seconds, 3), tuple(told))


def _is_right(answer: Answer, question: WholeQuestion) -> bool:
    if not question.expect:
        return answer.status is Status.ABSTAINED
    named = any(expected.casefold() in answer.short_answer.casefold() for expected in question.expect)
    return answer.status is Status.ANSWERED and named


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
