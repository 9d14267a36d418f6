"""Reads the shortlist: windows around the hits, many calls in flight, no call that is not needed any more.

Results are taken in the order of the shortlist, whatever order they arrive in, and a window that is in the cache
is taken at once. So the same question reads the same windows again, and a repeated one costs no call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import asdict, dataclass, field

from iterative_rag.cache_keys import cache_key
from iterative_rag.errors import CapReached, IterativeRAGError
from iterative_rag.protocols import Cache, Corpus, Extractor
from iterative_rag.retrieval.extract_cache import extracts_of
from iterative_rag.retrieval.quote_verification import locate
from iterative_rag.system.threads import LastingPool
from iterative_rag.types import (
    Cap,
    Extract,
    Fact,
    Need,
    ReadingFault,
    ReadingStep,
    UnreadWindow,
    Window,
)

# Facts below this trust do not count as "enough": they are kept, and reading goes on.
SURE = 0.5
# Windows that are read in all once one of them held the answer itself: a namesake's may stand before the right one.
PATIENCE = 3
# How many facts without a value are enough, for each that has one.
NEAR = 2
# The same, and the facts of a need, where sources are to agree or to contradict each other.
CORROBORATING = 5
# How far calls may run ahead of the windows taken in order, in flights: far enough that one slow call holds up
# little, near enough that little is read for nothing.
LOOKAHEAD = 1.25
# Of all readers of the process. A call that is not needed any more keeps its thread until it ends, so the bound is one
# that no machine reaches: each reader bounds its own calls in flight.
_calls = LastingPool("iterative-rag reading", threads=4096)


@dataclass(frozen=True, slots=True)
class NeedReading:
    """What came of one need. `unread` are the windows that it lost, to faults and to `cap`; `unanswered` of them were
    asked about without a reply. `error` is the first fault where not one window could be read."""

    need: Need
    facts: tuple[Fact, ...]
    read: int
    cached: int
    skipped: int
    dropped: int
    faults: tuple[ReadingFault, ...]
    documents: tuple[str, ...]
    error: IterativeRAGError | None = None
    cap: Cap | None = None
    unanswered: int = 0
    unread: tuple[UnreadWindow, ...] = ()

    def step(self, hop: int, *, again: bool = False) -> ReadingStep:
        return ReadingStep(
            hop,
            self.need,
            self.facts,
            self.read,
            self.cached,
            self.skipped,
            self.dropped,
            self.faults,
            self.documents,
            self.unanswered,
            again,
        )


@dataclass(slots=True)
class _Queue:
    """One need while it is being read: its windows, what has arrived, and how far it was taken in order."""

    need: Need
    windows: Sequence[Window]
    started: int = 0
    missed: int = -1
    taken: int = 0
    arrived: dict[int, tuple[Extract, ...]] = field(default_factory=dict)
    facts: dict[tuple[str, int, int], Fact] = field(default_factory=dict)
    faults: dict[int, IterativeRAGError] = field(default_factory=dict)
    refused: set[int] = field(default_factory=set)  # windows whose call a limit of the run did not allow
    cached: int = 0
    dropped: int = 0
    enough: bool = False

    @property
    def open(self) -> bool:
        return not self.enough and self.started < len(self.windows)


class DocumentReader:
    """Carries out the reading of one run. `on_hit` is told of every extraction that the cache held."""

    def __init__(
        self,
        corpus: Corpus,
        extractor: Extractor,
        *,
        cache: Cache,
        fact_limit: int,
        in_flight: int,
        on_hit: Callable[[str], None],
        thrifty: bool = True,
        patience: int = PATIENCE,
    ) -> None:
        """`thrifty` reading ends soon after a value was found, with `patience` windows in all; it is for extractors
        whose every call costs."""
        self._corpus, self._extractor, self._cache = corpus, extractor, cache
        self._fact_limit, self._in_flight, self._on_hit = fact_limit, in_flight, on_hit
        self._thrifty, self._patience = thrifty, patience

    def corroborating(self) -> DocumentReader:
        """The same reader, reading on after the first value for others that agree or contradict it."""
        return DocumentReader(
            self._corpus,
            self._extractor,
            cache=self._cache,
            fact_limit=max(CORROBORATING, self._fact_limit),
            in_flight=self._in_flight,
            on_hit=self._on_hit,
            thrifty=self._thrifty,
            patience=max(CORROBORATING, self._patience),
        )

    def read(
        self, tasks: Sequence[tuple[Need, Sequence[Window]]], *, seconds: float | None = None
    ) -> tuple[NeedReading, ...]:
        """Read all needs at once, at most `in_flight` windows at a time, for at most `seconds`."""
        deadline = None if seconds is None else time.monotonic() + seconds
        queues = [_Queue(need, windows) for need, windows in tasks]
        flight: dict[Future[tuple[Extract, ...]], tuple[_Queue, int]] = {}
        cap: Cap | None = None
        while True:
            if cap is None:
                self._fill(queues, flight)
            pending = [future for future, (queue, _) in flight.items() if not queue.enough]
            if not pending:
                break
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            done, _ = wait(pending, timeout=left, return_when=FIRST_COMPLETED)
            if not done:
                cap = Cap.SECONDS
                break
            # Whatever else has arrived meanwhile is taken before a new call is started.
            for future in [future for future in flight if future.done()]:
                cap = self._arrive(future, *flight.pop(future)) or cap
        return tuple(self._closed(queue, cap) for queue in queues)

    def _fill(self, queues: Sequence[_Queue], flight: dict[Future[tuple[Extract, ...]], tuple[_Queue, int]]) -> None:
        """Start calls, the needs taking turns, until the flight is full or nothing is left to start."""
        while waiting := [queue for queue in queues if self._may_start(queue)]:
            for queue in waiting:
                if (kept := self._kept(queue)) is not None:
                    queue.arrived[queue.started] = kept
                    queue.started += 1
                    queue.cached += 1
                    self._take(queue)
                    continue
                if sum(not future.done() for future in flight) >= self._in_flight:
                    return
                future = _calls.submit(self._extract, queue.need, queue.windows[queue.started])
                flight[future] = (queue, queue.started)
                queue.started += 1

    def _arrive(self, future: Future[tuple[Extract, ...]], queue: _Queue, place: int) -> Cap | None:
        try:
            queue.arrived[place] = future.result()
        except CapReached as reached:
            queue.arrived[place] = ()
            queue.refused.add(place)
            return reached.cap
        except IterativeRAGError as error:
            queue.faults[place] = error
            queue.arrived[place] = ()
        self._take(queue)
        return None

    def _take(self, queue: _Queue) -> None:
        """Take what has arrived in the order of the shortlist, up to the window that brings enough."""
        while not queue.enough and queue.taken in queue.arrived:
            seen = queue.windows[queue.taken]
            for extract in queue.arrived[queue.taken]:
                fact = self._verified(queue.need, seen, extract)
                if fact is None:
                    queue.dropped += 1
                    continue
                place = (fact.document_id, fact.start, fact.end)
                if place not in queue.facts or queue.facts[place].score < fact.score:
                    queue.facts[place] = fact
            queue.taken += 1
            queue.enough = self._enough(queue)

    def _may_start(self, queue: _Queue) -> bool:
        near = queue.started - queue.taken < int(LOOKAHEAD * self._in_flight)
        return queue.open and near and not (queue.started >= self._patience and self._answered(queue))

    def _enough(self, queue: _Queue) -> bool:
        sure = [fact for fact in queue.facts.values() if fact.score >= SURE]
        valued = sum(bool(fact.value) for fact in sure)
        # What only comes near the answer ends the reading later than what holds it.
        return (
            valued >= self._fact_limit
            or len(sure) >= NEAR * self._fact_limit
            or (queue.taken >= self._patience and self._answered(queue))
        )

    def _answered(self, queue: _Queue) -> bool:
        """Whether a thrifty reading has found the value that it was sent for."""
        return self._thrifty and any(fact.value and fact.score >= SURE for fact in queue.facts.values())

    def _verified(self, need: Need, seen: Window, extract: Extract) -> Fact | None:
        document = self._corpus.document(seen.document_id)
        text = document.text
        place = locate(extract.quote, text, seen.spans)
        if place is None:
            return None
        start, end = place
        return Fact(
            statement=extract.statement,
            quote=text[start:end],
            value=extract.value,
            document_id=seen.document_id,
            title=seen.title,
            source=seen.source,
            start=start,
            end=end,
            need=need,
            score=extract.score,
            page=document.page_at(start),
            retrieved=document.retrieved,
        )

    def _closed(self, queue: _Queue, cap: Cap | None) -> NeedReading:
        facts = sorted(queue.facts.values(), key=lambda fact: -fact.score)
        faults = [(queue.windows[place].title, error) for place, error in sorted(queue.faults.items())]
        read = len(queue.arrived) - len(faults) - len(queue.refused)
        # What is still in flight for a need that has enough is not waited for.
        unanswered = 0 if queue.enough else queue.started - len(queue.arrived)
        return NeedReading(
            need=queue.need,
            facts=tuple(facts),
            read=read,
            cached=queue.cached,
            skipped=len(queue.windows) - read - len(faults) - unanswered,
            dropped=queue.dropped,
            faults=tuple(ReadingFault(title, str(error)) for title, error in faults),
            documents=tuple(
                seen.document_id
                for place, seen in enumerate(queue.windows[: queue.taken])
                if place not in queue.faults and place not in queue.refused
            ),
            error=faults[0][1] if faults and not read else None,
            cap=cap,
            unanswered=unanswered,
            unread=_unread(queue, cap),
        )

    # --- the cache ---------------------------------------------------------------------------

    def _extract(self, need: Need, seen: Window) -> tuple[Extract, ...]:
        extracts = self._extractor.extract(need, seen)
        self._cache.put(self._key(need, seen), [asdict(extract) for extract in extracts])
        return extracts

    def _kept(self, queue: _Queue) -> tuple[Extract, ...] | None:
        if queue.missed == queue.started:
            return None
        extracts = self._cache.get(self._key(queue.need, queue.windows[queue.started]), extracts_of)
        if extracts is None:
            queue.missed = queue.started
            return None
        self._on_hit("extract")
        return extracts

    def _key(self, need: Need, seen: Window) -> str:
        """Content read + need + prompt, model and schema version: an edited document misses."""
        return cache_key("extract", self._extractor.fingerprint, seen.title, seen.text, need.key)


def _unread(queue: _Queue, cap: Cap | None) -> tuple[UnreadWindow, ...]:
    """The windows that a need lost, in the order of its shortlist; what it did not need any more is no loss."""
    reasons = {place: str(error) for place, error in queue.faults.items()}
    if cap is not None and not queue.enough:
        for place in range(len(queue.windows)):
            if place not in queue.arrived and place < queue.started:
                reasons[place] = f"no reply before the limit of {cap.value}"
            elif place in queue.refused or place >= queue.started:
                reasons[place] = f"not read before the limit of {cap.value}"
    return tuple(UnreadWindow(queue.need, queue.windows[place], reasons[place]) for place in sorted(reasons))
