"""What a run has come to: collects the hops and turns a draft into the typed answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from iterative_rag.agent.drafting import Drafted
from iterative_rag.agent.metering import RunMeter
from iterative_rag.agent.reflective.confidence import confidence
from iterative_rag.agent.reflective.conflicts import with_conflicts
from iterative_rag.errors import CapReached, IterativeRAGError
from iterative_rag.types import (
    Answer,
    Citation,
    Draft,
    Fact,
    Fault,
    HopRecord,
    Inquiry,
    Need,
    Reflection,
    ShortlistedDocument,
    Status,
)

NOTHING_FOUND = "The corpus holds no fact that helps to answer this."


@dataclass(slots=True)
class Record:
    """The run so far. The engine owns it and is the only one who writes to it."""

    inquiry: Inquiry
    meter: RunMeter
    hops: list[HopRecord] = field(default_factory=list)
    draft: Draft | None = None
    reflection: Reflection | None = None
    cap: CapReached | None = None
    fault: IterativeRAGError | None = None
    _begun: float = field(default_factory=time.monotonic)
    _calls: int = 0
    _question: str = ""
    _needs: tuple[Need, ...] = ()
    _titles: tuple[str, ...] = ()
    _new: tuple[Fact, ...] = ()

    def begin_hop(self) -> None:
        self._begun, self._calls = time.monotonic(), self.meter.usage().llm_calls
        self._question = self.inquiry.question

    def found(
        self, needs: Sequence[Need], documents: Sequence[Sequence[ShortlistedDocument]], facts: Sequence[Fact]
    ) -> None:
        """What the open hop has looked for, listed and found."""
        titles = dict.fromkeys(entry.title for entries in documents for entry in entries)
        self._needs, self._titles, self._new = tuple(needs), tuple(titles), tuple(facts)

    def rephrase(self, question: str) -> None:
        self.inquiry = replace(self.inquiry, question=question)

    def end_hop(self, rephrased: str) -> None:
        self.hops.append(
            HopRecord(
                n=len(self.hops) + 1,
                question=self._question,
                needs=tuple(need.question for need in self._needs),
                shortlist=self._titles,
                facts=self._new,
                rephrased=rephrased,
                calls=self.meter.usage().llm_calls - self._calls,
                seconds=round(time.monotonic() - self._begun, 3),
            )
        )

    def take(self, drafted: Drafted) -> None:
        """A draft is the answer as long as no other comes."""
        self.draft, self.reflection = drafted.draft, drafted.reflection

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
            usage=self.meter.usage(),
            cap=self.cap.cap if self.cap else None,
            fault=Fault(str(self.fault), self.fault.hint, self.fault.exit_code) if self.fault else None,
            computations=tuple(replace(one, facts=_numbers(one.facts, draft)) for one in draft.computations),
            conflicts=tuple(
                replace(one, sides=tuple(replace(side, facts=_numbers(side.facts, draft)) for side in one.sides))
                for one in conflicts
            ),
            claims=tuple(replace(one, facts=_numbers(one.facts, draft)) for one in claims),
        )

    def _status(self, draft: Draft) -> tuple[Status, str]:
        if self.fault is not None:
            return Status.INCOMPLETE, str(self.fault)
        if self.cap is not None:
            missing = f" Missing: {draft.missing}" if draft.missing else ""
            return Status.INCOMPLETE, f"{self.cap}{missing}"
        if draft.answered:
            return Status.ANSWERED, ""
        return Status.ABSTAINED, draft.missing or NOTHING_FOUND


def best_so_far(inquiry: Inquiry) -> Draft:
    """A draft without any model: the fact that is trusted most, shown as what it is."""
    if not inquiry.facts:
        return Draft(answered=False, text="", missing=NOTHING_FOUND)
    # The latest hop is nearest to the question.
    place = max(range(len(inquiry.facts)), key=lambda n: (inquiry.facts[n].score, n))
    fact = inquiry.facts[place]
    return Draft(answered=False, text=f"Found so far: {fact.quote} [1]", cited=(place,), missing=inquiry.question)


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
