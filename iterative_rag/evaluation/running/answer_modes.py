"""Asks one question in one of the modes and records what happened."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from iterative_rag.errors import IterativeRAGError
from iterative_rag.evaluation.questions import Question
from iterative_rag.evaluation.records import FoundFact, Hop, Outcome, QuestionRecord, Spent
from iterative_rag.evaluation.scoring.citations import verified
from iterative_rag.registry import STRATEGIES
from iterative_rag.settings import Settings
from iterative_rag.storage.trace import event_name
from iterative_rag.types import (
    AnalysisStep,
    Answer,
    CorrectionStep,
    Fact,
    FinalStep,
    ReadingStep,
    RephrasingStep,
    RunProgress,
    ShortlistStep,
    Status,
    Step,
    WebStep,
)

if TYPE_CHECKING:
    from iterative_rag.app.factory import IterativeRAG
    from iterative_rag.protocols import Corpus


# The loop over the gold articles alone: what it could reach if every search succeeded.
ORACLE = "oracle"
# Modes that say between which figures the others lie; they do not compete.
BOUNDS = {ORACLE: "upper bound", "closed-book": "lower bound"}
# What `ask` does: the strategy of the settings, and the profile of the model.
AUTO = "auto"


def modes() -> tuple[str, ...]:
    """Every strategy, the oracle, and what `ask` does."""
    return (*STRATEGIES.names, ORACLE, AUTO)


def strategy_of(mode: str, settings: Settings) -> str:
    return "iterative" if mode == ORACLE else settings.strategy if mode == AUTO else mode


@dataclass(frozen=True, slots=True)
class Examination:
    """A question with its gold articles; `within` limits the search to some documents (None: all)."""

    question: Question
    gold: tuple[str, ...]
    missing_gold: tuple[str, ...]
    within: frozenset[str] | None = None


class Examiner:
    """Asks questions of one corpus; `rags` holds one engine per repeat. Safe to use from several threads."""

    def __init__(self, rags: tuple[IterativeRAG, ...], part: Callable[[frozenset[str]], Corpus], strategy: str) -> None:
        self._rags, self._part, self._strategy = rags, part, strategy

    def examine(
        self,
        exam: Examination,
        repeat: int,
        on_hop: Callable[[Hop], None] | None = None,
        progress: Callable[[RunProgress], None] | None = None,
    ) -> QuestionRecord:
        """Ask `exam` for the `repeat`-th time, from 1. A fault of the package is a record, never an exception."""
        rag = self._rags[repeat - 1]
        if exam.within is not None:
            rag = rag.over(self._part(exam.within))
        course = _Course()
        fault, begun = "", time.monotonic()
        try:
            for step in rag.steps(exam.question.text, strategy=self._strategy, progress=progress, evaluated=True):
                for hop in course.take(step):
                    if on_hop is not None:
                        on_hop(hop)
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
    taken: list[str] = field(default_factory=list)
    _hop: int = 0
    _question: str = ""
    _needs: dict[str, None] = field(default_factory=dict)
    _listed: dict[str, None] = field(default_factory=dict)
    _read: dict[str, None] = field(default_factory=dict)
    _facts: list[FoundFact] = field(default_factory=list)
    _rephrased: str = ""

    def take(self, step: Step) -> Iterator[Hop]:
        """Add a step; yields the hop that it ends."""
        if not isinstance(step, FinalStep):
            self.taken.append(event_name(type(step)))
        match step:
            case AnalysisStep():
                yield from self._close()
                self._question = step.question
            case ShortlistStep():
                if step.hop != self._hop:
                    yield from self._close()
                self._hop = step.hop
                self._needs[step.need.question] = None
                self.titles |= {entry.document_id: entry.title for entry in step.documents}
                self._listed |= dict.fromkeys(entry.document_id for entry in step.documents)
            case CorrectionStep() | WebStep():
                self.titles |= {entry.document_id: entry.title for entry in step.documents}
                self._listed |= dict.fromkeys(entry.document_id for entry in step.documents)
            case ReadingStep():
                self._read |= dict.fromkeys(step.documents)
                self._facts += [_found(fact) for fact in step.facts]
            case RephrasingStep():
                self._rephrased = step.after
            case FinalStep():
                yield from self._close()
                self.answer = step.answer

    def close(self) -> None:
        """Keep the hop that a fault interrupted."""
        for _ in self._close():
            pass

    def _close(self) -> Iterator[Hop]:
        if self._needs:
            hop = Hop(
                n=len(self.hops) + 1,
                question=self._question,
                needs=tuple(self._needs),
                shortlist=tuple(self._listed),
                read=tuple(self._read),
                facts=tuple(self._facts),
                rephrased=self._rephrased,
            )
            self.hops.append(hop)
            self._needs, self._listed, self._read, self._facts, self._rephrased = {}, {}, {}, [], ""
            yield hop


def _found(fact: Fact) -> FoundFact:
    return FoundFact(fact.need.question, fact.value, fact.statement, fact.quote, fact.title, fact.document_id)


def _record(
    exam: Examination, repeat: int, course: _Course, fault: str, corpus: Corpus, seconds: float
) -> QuestionRecord:
    course.close()
    question, answer = exam.question, course.answer
    titles = course.titles | {one: corpus.document(one).title for one in exam.gold if one not in course.titles}
    record = QuestionRecord(
        id=question.id,
        repeat=repeat,
        question=question.text,
        answers=question.answers,
        kind=question.kind,
        types=question.types,
        gold=exam.gold,
        missing_gold=exam.missing_gold,
        expected_steps=question.expected_steps,
        outcome=Outcome.FAULT,
        fault=fault or "The run ended without an answer.",
        spent=Spent(seconds=round(seconds, 3)),
        hops=tuple(course.hops),
        documents=titles,
        courses=question.courses,
        taken=tuple(course.taken),
    )
    if answer is None:
        return record
    fault = _fault(answer)
    return dataclasses.replace(
        record,
        outcome=Outcome.FAULT if fault else _outcome(answer),
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
        spent=_spent(answer),
        run_id=answer.run_id,
    )


def _outcome(answer: Answer) -> Outcome:
    """An extract is scored by what it quotes."""
    return Outcome.ANSWERED if answer.status is Status.EXTRACT else Outcome(answer.status.value)


def _fault(answer: Answer) -> str:
    """What kept the run from its own end: an error, or documents or judgements that could not be had. A cap is none."""
    if answer.fault:
        return answer.fault.message
    lost = answer.status is Status.INCOMPLETE and not answer.cap
    return answer.reason if lost else ""


def _spent(answer: Answer) -> Spent:
    usage = answer.usage
    return Spent(
        usage.llm_calls, usage.prompt_tokens, usage.completion_tokens, usage.cache_hits, round(usage.seconds, 3)
    )
