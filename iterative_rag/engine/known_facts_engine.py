"""Answers a follow-up from the facts that its conversation has cited; where that does not hold, by the usual engine."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.drafting import Drafting
from iterative_rag.engine.driver import Engine, RunDriver
from iterative_rag.engine.run_state import Progress, RunState
from iterative_rag.errors import CorpusError
from iterative_rag.protocols import Corpus
from iterative_rag.types import AnalysisStep, Draft, Fact, FinalStep, Inquiry, Known, Status, Step
from iterative_rag.verification.rule_reflector import ClaimGuard


class KnownFactsEngine:
    """One engine serves one run. The draft is checked as any other; one that is refused, or cites nothing, is not
    written again: the question is then looked up by the engine `otherwise`, so that no answer is lost."""

    def __init__(
        self, draft: Draft, facts: Sequence[Fact], budget: RunBudget, otherwise: Engine, *, metered: bool
    ) -> None:
        self._facts, self._budget, self._otherwise = tuple(facts), budget, otherwise
        self._drafting = Drafting(_WrittenOnce(draft), ClaimGuard(), guards=True, metered=metered)

    def steps(self, question: str) -> Iterator[Step]:
        for step in RunDriver(question, self._loop, self._drafting, self._budget, known=self._facts).steps():
            if isinstance(step, FinalStep) and (step.answer.status is not Status.ANSWERED or not step.answer.citations):
                yield from self._otherwise.steps(question)
                return
            yield step

    def _loop(self, state: RunState) -> Generator[Progress, None, RunState]:
        yield AnalysisStep(1, state.inquiry.question, Known(), self._facts)
        return state.with_draft((yield from self._drafting.draft(1, state.inquiry, may_search=False)))


class _WrittenOnce:
    """Implements protocols.Answerer: the draft, and nothing where it is asked for another one."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft

    def answer(self, inquiry: Inquiry, *, last_attempt: bool = False, advice: str = "") -> Draft:
        return replace(self._draft, answered=False) if advice or last_attempt else self._draft


def standing_facts(facts: Sequence[Fact], corpus: Corpus) -> tuple[Fact, ...]:
    """The facts whose quotes still stand in the corpus where they stood. Pages of the web are not read again."""
    documents: dict[str, str] = {}

    def text(document_id: str) -> str:
        if document_id not in documents:
            try:
                documents[document_id] = corpus.document(document_id).text
            except CorpusError:  # another corpus, or a document that was removed
                documents[document_id] = ""
        return documents[document_id]

    return tuple(
        fact for fact in facts if fact.retrieved or text(fact.document_id)[fact.start : fact.end] == fact.quote
    )
