"""Asks one question in one of the modes and records what happened."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from iterative_rag.errors import CorpusDamaged, CorpusError, IterativeRAGError
from iterative_rag.evaluation.records import Cited, FoundFact, Hop, Outcome, Question, QuestionRecord, Spent
from iterative_rag.protocols import Corpus
from iterative_rag.registry import STRATEGIES
from iterative_rag.types import (
    AnalysisStep,
    Answer,
    Citation,
    CorrectionStep,
    Fact,
    FinalStep,
    ReadingStep,
    RephrasingStep,
    ShortlistStep,
    Status,
    Step,
    WebStep,
)

if TYPE_CHECKING:
    from iterative_rag.app.factory import IterativeRAG

# The loop over the gold articles alone: what it could reach if every search succeeded.
ORACLE = "oracle"
# Modes that say between which figures the others lie; they do not compete.
BOUNDS = {ORACLE: "upper bound", "closed-book": "lower bound"}
# What `ask` does: the strategy of the settings, and the profile of the model.
AUTO = "auto"


def modes() -> tuple[str, ...]:
    """Every strategy, the oracle, and what `ask` does."""
    return (*STRATEGIES.names, ORACLE, AUTO)


@dataclass(frozen=True, slots=True)
class Examination:
    """A question with its gold articles; `within` limits the search to some documents (None: all)."""

    question: Question
    gold: tuple[str, ...]
    missing_gold: tuple[str, ...]
    within: frozenset[str] | None = None


def examine(rag: IterativeRAG, exam: Examination, strategy: str, *, repeat: int = 1) -> QuestionRecord:
    """Ask `exam`. A fault of the package is a record, never an exception."""
    course = _Course()
    fault, begun = "", time.monotonic()
    try:
        for step in rag.steps(exam.question.text, strategy=strategy, evaluated=True):
            course.take(step)
    except IterativeRAGError as error:
        fault = f"{type(error).__name__}: {error}"
    except Exception as error:  # noqa: BLE001 - a defect in one question must not end a run of hundreds
        fault = f"Unexpected {type(error).__name__}: {error}"
    return _record(exam, repeat, course, fault, rag.corpus, time.monotonic() - begun)


@dataclass(slots=True)
class _Course:
    """Collects the steps of one run into hops."""

    hops: list[Hop] = field(default_factory=list)
    titles: dict[str, str] = field(default_factory=dict)
    answer: Answer | None = None
    _hop: int = 0
    _question: str = ""
    _steps: list[Step] = field(default_factory=list)  # since the last hop ended

    def take(self, step: Step) -> None:
        if isinstance(step, FinalStep):
            self.answer = step.answer
            return
        if isinstance(step, AnalysisStep) or (isinstance(step, ShortlistStep) and step.hop != self._hop):
            self.close()
        if isinstance(step, AnalysisStep):
            self._question = step.question
        if isinstance(step, ShortlistStep):
            self._hop = step.hop
        if isinstance(step, _LISTING):
            self.titles |= {entry.document_id: entry.title for entry in step.documents}
        self._steps.append(step)

    def close(self) -> None:
        """End the hop, where one has begun: it searched for something."""
        steps = self._steps
        needs = dict.fromkeys(step.need.question for step in steps if isinstance(step, ShortlistStep))
        if not needs:
            return
        listed = [entry.document_id for step in steps if isinstance(step, _LISTING) for entry in step.documents]
        readings = [step for step in steps if isinstance(step, ReadingStep)]
        hop = Hop(
            n=len(self.hops) + 1,
            question=self._question,
            needs=tuple(needs),
            shortlist=tuple(dict.fromkeys(listed)),
            read=tuple(dict.fromkeys(document for step in readings for document in step.documents)),
            facts=tuple(_found(fact) for step in readings for fact in step.facts),
            rephrased=next((step.after for step in reversed(steps) if isinstance(step, RephrasingStep)), ""),
        )
        self.hops.append(hop)
        self._steps = []


_LISTING = (ShortlistStep, CorrectionStep, WebStep)


def _found(fact: Fact) -> FoundFact:
    return FoundFact(fact.need.question, fact.value, fact.statement, fact.quote, fact.title, fact.document_id)


def _record(
    exam: Examination, repeat: int, course: _Course, fault: str, corpus: Corpus, seconds: float
) -> QuestionRecord:
    course.close()
    question, answer = exam.question, course.answer
    titles = course.titles | {gold: corpus.document(gold).title for gold in exam.gold if gold not in course.titles}
    record = QuestionRecord(
        id=question.id,
        repeat=repeat,
        question=question.text,
        answers=question.answers,
        kind=question.kind,
        types=question.types,
        gold=exam.gold,
        missing_gold=exam.missing_gold,
        outcome=Outcome.FAULT,
        fault=fault or "The run ended without an answer.",
        spent=Spent(seconds=round(seconds, 3)),
        hops=tuple(course.hops),
        documents=titles,
    )
    if answer is None:
        return record
    fault = _fault(answer)
    # An extract is scored by what it quotes.
    ended = Outcome.ANSWERED if answer.status is Status.EXTRACT else Outcome(answer.status.value)
    return dataclasses.replace(
        record,
        outcome=Outcome.FAULT if fault else ended,
        text=answer.text,
        short_answer="" if answer.status is Status.ABSTAINED else answer.short_answer,
        reason=answer.reason,
        confidence=answer.confidence,
        confidence_word=str(answer.confidence_word or ""),
        reason_code=str(answer.reason_code or ""),
        cap=answer.cap.value if answer.cap else "",
        fault=fault,
        unread=tuple(dict.fromkeys(document.title for document in answer.unread)),
        citations=verified(answer, corpus),
        spent=Spent.of(answer.usage),
        run_id=answer.run_id,
    )


def _fault(answer: Answer) -> str:
    """What kept the run from its own end: an error, or documents or judgements that could not be had. A cap is none."""
    if answer.fault:
        return answer.fault.message
    lost = answer.status is Status.INCOMPLETE and not answer.cap
    return answer.reason if lost else ""


# --- citations, checked again --------------------------------------------------------------------


def verified(answer: Answer, corpus: Corpus) -> tuple[Cited, ...]:
    """Each citation checked again: the fact that it quotes names the document, whose text must hold the quote.

    A citation that no fact stands behind, or whose document is gone, is not verified. A corpus that
    cannot be read at all raises CorpusDamaged: that says nothing about the answer.
    """
    hop_facts = (fact for hop in answer.hops for fact in hop.facts)
    facts = {_place(fact): fact.document_id for fact in (*hop_facts, *answer.facts)}
    return tuple(_cited(citation, facts.get(_place(citation), ""), corpus) for citation in answer.citations)


def _place(quoted: Citation | Fact) -> tuple[str, str, int, int, str]:
    return quoted.title, quoted.source, quoted.start, quoted.end, quoted.quote


def _cited(citation: Citation, document_id: str, corpus: Corpus) -> Cited:
    verified = bool(document_id) and _stands(citation, document_id, corpus)
    return Cited(citation.title, document_id, verified, citation.link)


def _stands(citation: Citation, document_id: str, corpus: Corpus) -> bool:
    try:
        text = corpus.document(document_id).text
    except CorpusDamaged:
        raise
    except CorpusError:  # the corpus has no such document (any more)
        return False
    return bool(citation.quote) and text[citation.start : citation.end] == citation.quote
