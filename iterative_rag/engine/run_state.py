"""What a run has come to: collects the hops and turns a draft into the typed answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.drafting import Drafted
from iterative_rag.errors import CapReached, IterativeRAGError
from iterative_rag.retrieval.document_reader import NeedReading
from iterative_rag.text.plurals import counted
from iterative_rag.types import (
    Answer,
    Citation,
    DegradedStep,
    Draft,
    Fact,
    Fault,
    HopRecord,
    Inquiry,
    Need,
    Reflection,
    Status,
    UnreadDocument,
    UnreadWindow,
)
from iterative_rag.verification.confidence import confidence
from iterative_rag.verification.conflicts import with_conflicts

NOTHING_FOUND = "The corpus holds no fact that helps to answer this."
# An answer that is trusted less, while a need without a value lost a window, is only the best one so far.
WEAK = 0.5
# How often a run tries to read a window.
ATTEMPTS = 2
TITLES_NAMED = 5


@dataclass(slots=True)
class Record:
    """The run so far. The engine owns it and is the only one who writes to it.

    `unread` are the windows that were to be read and could not be; `unreadable` is the first error where a need could
    read none of its windows; `degraded` the parts that the run had to do without.
    """

    inquiry: Inquiry
    budget: RunBudget
    hops: list[HopRecord] = field(default_factory=list)
    draft: Draft | None = None
    reflection: Reflection | None = None
    cap: CapReached | None = None
    fault: IterativeRAGError | None = None
    unread: tuple[UnreadWindow, ...] = ()
    unreadable: IterativeRAGError | None = None
    degraded: tuple[DegradedStep, ...] = ()
    _begun: float = field(default_factory=time.monotonic)
    _calls: int = 0
    _open: bool = False
    _question: str = ""
    _needs: tuple[Need, ...] = ()
    _titles: tuple[str, ...] = ()
    _new: tuple[Fact, ...] = ()

    def begin_hop(self) -> None:
        self._begun, self._calls = time.monotonic(), self.budget.usage().llm_calls
        self._question, self._open = self.inquiry.question, True
        self._needs, self._titles, self._new = (), (), ()

    def found(self, needs: Sequence[Need], titles: Sequence[str], facts: Sequence[Fact]) -> None:
        """What the open hop has looked for, listed and found."""
        self._needs, self._titles, self._new = tuple(needs), tuple(dict.fromkeys(titles)), tuple(facts)

    def lost(self, readings: Sequence[NeedReading], again: Sequence[UnreadWindow] = ()) -> None:
        """Note what could not be read; `again` are windows of before that these readings tried once more."""
        attempts = ATTEMPTS if again else 1
        kept = [one for one in self.unread if one not in again]
        new = [replace(one, attempts=attempts) for reading in readings for one in reading.unread]
        self.unread = (*kept, *new)
        errors = (reading.error for reading in readings if reading.error)
        self.unreadable = self.unreadable or next(errors, None)

    def rephrase(self, question: str) -> None:
        self.inquiry = replace(self.inquiry, question=question)

    def close_hop(self) -> None:
        """End the hop that an error left open, with what it had found."""
        if self._open and self._needs:
            self.end_hop(self.inquiry.question)

    def end_hop(self, rephrased: str) -> None:
        self._open = False
        self.hops.append(
            HopRecord(
                n=len(self.hops) + 1,
                question=self._question,
                needs=tuple(need.question for need in self._needs),
                shortlist=self._titles,
                facts=self._new,
                rephrased=rephrased,
                calls=self.budget.usage().llm_calls - self._calls,
                seconds=round(time.monotonic() - self._begun, 3),
            )
        )

    def take(self, drafted: Drafted) -> None:
        """A draft is the answer as long as no other comes."""
        self.draft, self.reflection = drafted.draft, drafted.reflection

    @property
    def falls_short(self) -> bool:
        """Whether the draft may be what it is because windows could not be read."""
        return bool(self.unread) and (self.draft is None or not self.draft.answered or self._is_weak(self.draft))

    def _is_weak(self, draft: Draft) -> bool:
        """Whether an answer is hardly trusted while a need that lost a window has no value."""
        settled = {fact.need.key for fact in self.inquiry.facts if fact.value}
        return draft.confidence < WEAK and any(one.need.key not in settled for one in self.unread)

    def answer(self) -> Answer:
        draft, conflicts = with_conflicts(self.draft or best_so_far(self.inquiry), self.inquiry)
        claims = self.reflection.claims if self.reflection and draft.answered else ()
        status, reason = self._status(draft)
        return Answer(
            question=self.inquiry.original,
            text=draft.text,
            short_answer=draft.short_answer,
            status=status,
            reason=reason,
            confidence=confidence(draft, self.reflection, conflicts),
            citations=_citations(draft, self.inquiry.facts),
            hops=tuple(self.hops),
            usage=self.budget.usage(),
            cap=self.cap.cap if self.cap else None,
            fault=Fault(str(self.fault), self.fault.hint, self.fault.exit_code) if self.fault else None,
            computations=tuple(replace(one, facts=_numbers(one.facts, draft)) for one in draft.computations),
            conflicts=tuple(
                replace(one, sides=tuple(replace(side, facts=_numbers(side.facts, draft)) for side in one.sides))
                for one in conflicts
            ),
            claims=tuple(replace(one, facts=_numbers(one.facts, draft)) for one in claims),
            unread=_documents(self.unread),
        )

    def _status(self, draft: Draft) -> tuple[Status, str]:
        if self.fault is not None:
            return Status.INCOMPLETE, str(self.fault)
        missing = f"Missing: {draft.missing}" if draft.missing else ""
        if self.cap is not None:
            return Status.INCOMPLETE, _joined(str(self.cap), _not_read(self.unread), missing)
        if self.falls_short:
            return Status.INCOMPLETE, _joined(_not_read(self.unread), missing)
        if draft.answered:
            return Status.ANSWERED, ""
        if self.degraded:  # with that part the answer might have been found
            return Status.INCOMPLETE, _joined(_done_without(self.degraded), missing)
        return Status.ABSTAINED, draft.missing or NOTHING_FOUND


def best_so_far(inquiry: Inquiry) -> Draft:
    """A draft without any model: the fact that is trusted most, shown as what it is."""
    if not inquiry.facts:
        return Draft(answered=False, text="", missing=NOTHING_FOUND)
    # The latest hop is nearest to the question.
    place = max(range(len(inquiry.facts)), key=lambda n: (inquiry.facts[n].score, n))
    fact = inquiry.facts[place]
    return Draft(answered=False, text=f"Found so far: {fact.quote} [1]", cited=(place,), missing=inquiry.question)


def _not_read(unread: Sequence[UnreadWindow]) -> str:
    """Which documents could not be read and why, in one sentence; "" where all were read."""
    titles = list(dict.fromkeys(one.window.title for one in unread))
    reasons = list(dict.fromkeys(one.reason.rstrip(".") for one in unread))
    if not titles:
        return ""
    more = [f"and {len(titles) - TITLES_NAMED} more"] if len(titles) > TITLES_NAMED else []
    named = ", ".join([*titles[:TITLES_NAMED], *more])
    return f"{counted(len(titles), 'document')} could not be read: {named} ({'; '.join(reasons[:2])})."


def _done_without(degraded: Sequence[DegradedStep]) -> str:
    """`The run went on without the role reflect (Ollama answered 500).`"""
    roles = list(dict.fromkeys(step.role for step in degraded))
    named = "role" if len(roles) == 1 else "roles"
    return f"The run went on without the {named} {', '.join(roles)} ({degraded[-1].message.rstrip('.')})."


def _joined(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def _documents(unread: Sequence[UnreadWindow]) -> tuple[UnreadDocument, ...]:
    """One entry for each need and document."""
    entries = {(one.need.key, one.window.document_id): one for one in unread}
    return tuple(
        UnreadDocument(one.window.title, one.window.source, one.need.question, one.reason) for one in entries.values()
    )


def _numbers(places: Sequence[int], draft: Draft) -> tuple[int, ...]:
    """The numbers of the citations of facts, for those that are cited."""
    return tuple(draft.cited.index(place) + 1 for place in places if place in draft.cited)


def _citations(draft: Draft, facts: Sequence[Fact]) -> tuple[Citation, ...]:
    return tuple(
        Citation(n, fact.title, fact.source, fact.quote, fact.start, fact.end, fact.page, fact.retrieved)
        for n, fact in enumerate((facts[place] for place in draft.cited), start=1)
    )


def grown(inquiry: Inquiry, needs: Sequence[Need], facts: Sequence[Fact], question: str) -> Inquiry:
    """The inquiry of the next hop."""
    return replace(inquiry, question=question, facts=(*inquiry.facts, *facts), tried=(*inquiry.tried, *needs))
