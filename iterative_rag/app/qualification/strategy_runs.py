"""Asks the whole questions of a qualification by every strategy, over a handful of documents in memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from iterative_rag.app.factory import IterativeRAG
from iterative_rag.app.qualification.cases import Cases, Text, WholeQuestion, names
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

    def __init__(self, texts: Sequence[Text]) -> None:
        self._documents = {
            text.title: Document(text.title, text.title, text.text, f"{text.title}.md") for text in texts
        }

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        return [self._search(query, limit) for query in queries]

    def _search(self, query: str, limit: int) -> list[Hit]:
        words = _words(query)
        shared = {entry.id: len(words & _words(f"{entry.title} {entry.text}")) for entry in self._documents.values()}
        ranked = sorted((name for name in shared if shared[name]), key=lambda name: -shared[name])
        return [
            Hit(name, name, 0, len(self._documents[name].text), 1 / (60 + rank), dense_rank=rank)
            for rank, name in enumerate(ranked[:limit], start=1)
        ]

    def document(self, document_id: str) -> Document:
        return self._documents[document_id]

    def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class StrategyResult:
    """How many questions a strategy got right, and the calls that all of them took."""

    strategy: str
    right: int
    questions: int
    calls: int


def run_strategy(strategy: str, cases: Cases, backend: Backend, settings: Settings) -> StrategyResult:
    """Raises LLMError where every call would fail."""
    settings = settings.model_copy(update={"shortlist": SHORTLIST})
    rag = IterativeRAG(settings, corpus=CaseCorpus(cases.documents), backend=backend, cache=NoCache())
    right = calls = 0
    for question in cases.questions:
        try:
            answer = rag.ask(question.text, strategy=strategy)
        except IterativeRAGError as error:
            if isinstance(error, LLMError) and error.fatal:
                raise
            continue
        right += _is_right(answer, question)
        calls += answer.usage.llm_calls
    return StrategyResult(strategy, right, len(cases.questions), calls)


def _is_right(answer: Answer, question: WholeQuestion) -> bool:
    if not question.expect:
        return answer.status is Status.ABSTAINED
    return answer.status is Status.ANSWERED and names(answer.short_answer, question.expect)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
