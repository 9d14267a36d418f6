"""One need while it is being read: what is asked for next, what has arrived, and when it is enough."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from iterative_rag.errors import CapReached, IterativeRAGError
from iterative_rag.retrieval.need_reading import NeedReading, is_value
from iterative_rag.retrieval.reading_policy import ReadingPolicy, has_names
from iterative_rag.retrieval.spans import Span, without
from iterative_rag.types import (
    Cap,
    DocumentAtHand,
    Extract,
    Fact,
    Need,
    ReadingFault,
    ReadingStep,
    ShortlistedDocument,
    UnreadWindow,
    Window,
)


@dataclass(slots=True, eq=False)
class PlannedDocument:
    """A document on the list of one need, and how many windows of it were asked for. `cut` is its window where that was
    cut before; `rest` is False once nothing of it is left to read. `weighed`: its hits stand in the order of how likely
    they answer. `chance` is how likely it does as a whole, 1 for what nobody has looked at; `passed`: it was left out,
    because that is too little."""

    entry: ShortlistedDocument
    cut: Window | None = None
    chance: float = 1.0
    weighed: bool = False
    asked: int = 0
    rest: bool = True
    passed: bool = False


@dataclass(slots=True, eq=False)
class WindowCall:
    """One window that was asked for, for the needs of `plans`. `future` may be shared with other windows: `position` is
    the number of this one among them."""

    window: Window
    plans: tuple[NeedPlan, ...]
    position: int = 0
    future: Future[tuple[Extract, ...]] | None = None
    extracts: tuple[Extract, ...] | None = None
    fault: IterativeRAGError | None = None  # CapReached where a limit of the run did not allow it
    cached: bool = False
    superseded: threading.Event = field(default_factory=threading.Event)

    @property
    def needed(self) -> bool:
        return any(not plan.enough for plan in self.plans)

    @property
    def document(self) -> DocumentAtHand:
        """The document of the window, and its place in the order in which its first need is read."""
        listed = ([item.entry.document_id for item in plan.items] for plan in self.plans)
        ids = next(ids for ids in listed if self.window.document_id in ids)
        return DocumentAtHand(self.window.title, ids.index(self.window.document_id) + 1, len(ids))


@dataclass(slots=True, eq=False)
class NeedPlan:
    """One need while it is being read."""

    need: Need
    items: list[PlannedDocument]
    policy: ReadingPolicy
    graded: bool = False
    calls: list[WindowCall] = field(default_factory=list)
    accepted: int = 0
    remembered: set[str] = field(default_factory=set)  # documents whose text was read before
    facts: dict[tuple[object, ...], Fact] = field(default_factory=dict)
    dropped: int = 0
    ranked: bool = False
    enough: bool = False

    @property
    def waits(self) -> bool:
        return not self.policy.thorough and self.accepted < len(self.calls)

    @property
    def accepts(self) -> bool:
        """Whether the next call has arrived; thorough reading takes nothing beyond the window that brings enough."""
        arrived = self.accepted < len(self.calls) and self.calls[self.accepted].extracts is not None
        return arrived and not (self.enough and self.policy.thorough)

    @property
    def documents(self) -> dict[str, None]:
        """The ids of the documents read, in order."""
        return {call.window.document_id: None for call in self.calls[: self.accepted] if not call.fault}

    @property
    def own(self) -> list[Fact]:
        """The facts about the need itself."""
        return [fact for fact in self.facts.values() if fact.need == self.need]

    @property
    def unread(self) -> list[PlannedDocument]:
        """The documents that were not asked yet."""
        return [item for item in self.items if not item.asked]

    def is_about(self, document_id: str, title: str) -> bool:
        """Whether the need is about the subject of a document, by its title."""
        return document_id in self.policy.subjects or has_names(self.need, title)

    def next(self, at_once: int, per_call: int) -> list[PlannedDocument]:
        """What to ask for next, `per_call` at once after a first document in vain; second windows of documents that the
        need names come before other documents."""
        unread = self.unread
        if self.policy.thorough:
            ahead = len(self.calls) - self.accepted
            return unread[:1] if ahead < (at_once if self.accepted else 1) else []  # the first one settles most needs
        settled = {fact.document_id for fact in self.own if is_value(fact)}
        settled |= {call.window.document_id for call in self.calls if call.fault}
        open_ = self.policy.named - settled
        rest = [item for item in self.items if item.asked == 1 and item.rest and item.entry.document_id in open_]
        wanted = self.policy.least - self.asked
        if wanted <= 0:
            wanted = per_call - len(rest) if self.asked else 1
        return [*rest, *unread[: max(0, min(wanted, self.policy.most - self.asked))]]

    @property
    def asked(self) -> int:
        """How many documents were asked, with those that were left out: weaker ones further down the list do not take
        their places."""
        return sum(item.asked > 0 for item in self.items)

    def may_pass(self, item: PlannedDocument) -> bool:
        """Whether a document may be left out: none that was graded, and none that the need names."""
        return not self.graded and item.entry.document_id not in self.policy.named

    def finds_more(self, item: PlannedDocument, shown: Sequence[Span]) -> bool:
        """Whether the best passage of the need's own search stands in an article that it names, and was not `shown`."""
        best = item.entry.hits[:1] if item is self.items[0] and item.entry.document_id in self.policy.named else ()
        return any(without([(hit.start, hit.end)], shown) for hit in best)

    def take(self, fact: Fact) -> None:
        if fact.key not in self.facts or self.facts[fact.key].score < fact.score:
            self.facts[fact.key] = fact

    def judge(self) -> None:
        self.enough = self.policy.is_enough(self.own, {*self.documents, *self.remembered})

    def result(self, cap: Cap | None, cut: Callable[[ShortlistedDocument], Window]) -> NeedReading:
        """What came of the plan. `cap` is the limit that ended the reading, `cut` makes the window of a document that
        was not asked for any more."""
        arrived = [call for call in self.calls if call.extracts is not None]
        faults = [call for call in arrived if call.fault and not isinstance(call.fault, CapReached)]
        read = sum(not call.fault for call in arrived)
        unasked = sum(not item.asked or item.passed for item in self.items)
        unanswered = sum(call.future is not None for call in self.calls if call.extracts is None)
        queued = len(self.calls) - len(arrived) - unanswered
        record = ReadingStep(
            hop=0,
            need=self.need,
            facts=tuple(sorted(self.facts.values(), key=lambda fact: -fact.score)),
            read=read,
            cached=sum(call.cached for call in arrived),
            skipped=unasked + queued + (unanswered if self.enough else 0),
            dropped=self.dropped,
            faults=tuple(ReadingFault(call.window.title, str(call.fault)) for call in faults),
            documents=tuple(self.documents),
            unanswered=0 if self.enough else unanswered,
        )
        error = faults[0].fault if faults and not read and not self.remembered else None
        whole = () if self.enough else tuple(item.entry.title for item in self.items if not (item.rest or item.passed))
        return NeedReading(record, error, cap, tuple(self._unread(faults, cap, cut)), whole)

    def _unread(
        self, faults: Sequence[WindowCall], cap: Cap | None, cut: Callable[[ShortlistedDocument], Window]
    ) -> list[UnreadWindow]:
        """The windows that a need has lost; one that it did not need any more is no loss."""
        lost = [UnreadWindow(self.need, call.window, str(call.fault)) for call in faults]
        if cap is None or self.enough:
            return lost
        unasked = self.unread[: max(0, self.policy.most - self.asked)]
        windows = [call.window for call in self.calls if call.extracts is None or isinstance(call.fault, CapReached)]
        windows += [item.cut or cut(item.entry) for item in unasked]
        return lost + [UnreadWindow(self.need, part, f"not read before the limit of {cap.value}") for part in windows]
