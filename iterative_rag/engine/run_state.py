"""What a run knows so far, as a value: every hop and every draft makes the next state, and none is changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from iterative_rag.engine.drafting import Drafted
from iterative_rag.errors import IterativeRAGError
from iterative_rag.retrieval.need_reading import NeedReading
from iterative_rag.retrieval.need_words import is_titled
from iterative_rag.types.correcting import Reflection
from iterative_rag.types.loop import AnswerForm, Fact, Inquiry, LostRows, Need, OutlineSection, Place, UnreadWindow
from iterative_rag.types.outcomes import Draft, HopRecord, Usage
from iterative_rag.types.steps import Step
from iterative_rag.verification.answer_type import is_of_kind

# An answer that is trusted less, while a need without a value has unread windows, is only the best one so far.
WEAK = 0.5
# The highest confidence of an answer that was refused as long as more could be looked up.
LAST_CONFIDENCE = 0.45


@dataclass(frozen=True, slots=True)
class RunState:
    """`hops` are complete: a hop is recorded when its search has ended, and there is no such thing as an open one.

    `unread` are the windows that were to be read and could not be; `unreadable` is the first error where a need could
    read none of its windows. `last_attempt`: the draft was asked for as one, since nothing more would be looked up.
    A run that goes on from an edit begins with `ahead`, the needs to look up first, and with `fresh`, the facts of its
    last hop that were not put into the question yet; what stands at the places that are `struck` is never a fact.
    `ended_by` is the limit or fault that the draft breaks off at, if it is a text. `answer_noted`: in the last hop the
    reader has noted a value for the question itself.
    """

    inquiry: Inquiry
    hops: tuple[HopRecord, ...] = ()
    draft: Draft | None = None
    reflection: Reflection | None = None
    last_attempt: bool = False
    unread: tuple[UnreadWindow, ...] = ()
    unreadable: IterativeRAGError | None = None
    ahead: tuple[Need, ...] = ()
    fresh: tuple[Fact, ...] = ()
    struck: tuple[Place, ...] = ()
    ended_by: IterativeRAGError | None = None
    answer_noted: bool = False

    @property
    def next_hop(self) -> int:
        return len(self.hops) + 1

    def with_hop(self, needs: Sequence[Need], titles: Sequence[str], facts: Sequence[Fact], cost: Usage) -> RunState:
        """The state after a hop."""
        inquiry = self.inquiry
        record = HopRecord(
            n=self.next_hop,
            question=inquiry.question,
            needs=tuple(need.question for need in needs),
            shortlist=tuple(dict.fromkeys(titles)),
            facts=tuple(facts),
            rephrased=inquiry.question,
            calls=cost.llm_calls,
            seconds=cost.seconds,
        )
        tried = (*inquiry.tried, *needs)
        listed = {*titles, *(past for hop in self.hops for past in hop.shortlist)}
        missed = (need.see for need in needs if need.see and not any(is_titled(title, need.see) for title in listed))
        absent = tuple(dict.fromkeys((*inquiry.absent, *missed)))
        inquiry = replace(inquiry, facts=(*inquiry.facts, *facts), tried=tried, absent=absent)
        return replace(self, inquiry=inquiry, hops=(*self.hops, record))

    def with_rephrasing(self, question: str, cost: Usage) -> RunState:
        """The state after the last hop's findings were put into the question; `cost` is that of the hop as a whole."""
        last = replace(self.hops[-1], rephrased=question, calls=cost.llm_calls, seconds=cost.seconds)
        return replace(self, inquiry=replace(self.inquiry, question=question), hops=(*self.hops[:-1], last))

    def with_readings(self, readings: Sequence[NeedReading]) -> RunState:
        """The state after readings, with what could not be read and the articles in which nothing is left to read."""
        unread = (*self.unread, *(unread for reading in readings for unread in reading.unread))
        errors = (reading.error for reading in readings if reading.error)
        titles = (title for reading in readings for title in reading.exhausted)
        exhausted = tuple(dict.fromkeys((*self.inquiry.exhausted, *titles)))
        rests = {title: is_left for reading in readings for title, is_left in reading.named.items()}
        new = ((reading.need.key, title) for reading in readings for title in reading.named)
        left = [pair for pair in dict.fromkeys((*self.inquiry.left, *new)) if rests.get(pair[1], True)]
        keys = frozenset(lost.need.key for lost in unread)
        inquiry = replace(self.inquiry, exhausted=exhausted, unread=keys, left=tuple(left))
        failed, question = self.unreadable or next(errors, None), self.inquiry.question
        noted = [fact for reading in readings for fact in reading.facts if fact.need.key == Need(question).key]
        answers = any(fact.value and is_of_kind(question, fact.value) for fact in noted)
        answers = answers and self.inquiry.form is AnswerForm.VALUE
        return replace(self, inquiry=inquiry, unread=unread, unreadable=failed, answer_noted=answers)

    def with_lost_rows(self, lost: Iterable[LostRows]) -> RunState:
        """The state once it is known which rows the corpus lacks."""
        known = tuple(dict.fromkeys((*self.inquiry.lost_rows, *lost)))
        return replace(self, inquiry=replace(self.inquiry, lost_rows=known))

    def with_draft(self, drafted: Drafted, *, last_attempt: bool = False) -> RunState:
        """A draft is the answer until another one is written."""
        draft, reflection, ended_by = drafted.draft, drafted.reflection, drafted.ended_by
        return replace(self, draft=draft, reflection=reflection, last_attempt=last_attempt, ended_by=ended_by)

    def as_form(self, form: AnswerForm, outline: tuple[OutlineSection, ...] = ()) -> RunState:
        """The state once it is known what kind of answer is wanted."""
        return replace(self, inquiry=replace(self.inquiry, form=form, outline=outline or self.inquiry.outline))

    def as_last_attempt(self) -> RunState:
        """The state with its answer, if it has one, marked as what the facts make likely while something is missing,
        and trusted no more than that."""
        draft = self.draft
        if draft is None or not draft.answered:
            return self
        trust = min(draft.confidence, LAST_CONFIDENCE)
        return replace(self, draft=replace(draft, last_attempt=True, confidence=trust))

    @property
    def is_doubtful(self) -> bool:
        """Whether the answer was asked for as a last attempt, and the facts do not settle it."""
        draft = self.draft
        return self.last_attempt and draft is not None and (draft.confidence < WEAK or bool(draft.caveats))

    @property
    def lacks_a_window(self) -> bool:
        """Whether a need without a value has windows that could not be read."""
        settled = {fact.need.key for fact in self.inquiry.facts if fact.value}
        return any(unread.need.key not in settled for unread in self.unread)

    @property
    def falls_short(self) -> bool:
        """Whether the answer may be missing or weak because windows could not be read."""
        draft = self.draft
        weak = draft is None or not draft.answered or (draft.confidence < WEAK and self.lacks_a_window)
        return bool(self.unread) and weak


# What a loop passes on while it works: steps for whoever watches, states for the driver.
Progress: TypeAlias = Step | RunState
