"""Reads the shortlists of a hop: step by step where calls cost (`adaptive_reading`), else all of them, several windows
at a time.

Results are accepted in the order of the shortlist, whatever order they arrive in, and a cached window costs no call.
So the same question always reads the same windows.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from iterative_rag.errors import CapReached, IterativeRAGError
from iterative_rag.retrieval.adaptive_reading import AdaptiveReading
from iterative_rag.retrieval.need_reading import SURE, NeedReading, ReadingTask, verified
from iterative_rag.retrieval.reader_setup import ReaderSetup
from iterative_rag.retrieval.reading_policy import reads_on
from iterative_rag.system.cancellation import first_done
from iterative_rag.system.threads import LastingPool
from iterative_rag.types import (
    Cap,
    DocumentAtHand,
    Extract,
    Fact,
    Need,
    ReadingFault,
    UnreadWindow,
    Window,
)

# Facts without a value that count as much as one with a value.
FACTS_PER_VALUE = 2
# How far calls may run ahead of the windows accepted so far, as a multiple of the calls in flight: far enough that one
# slow call holds up little, near enough that little is read in vain.
LOOKAHEAD = 1.25
# Shared by all readers of the process. A call that is not needed any more keeps its thread until it ends, so this bound
# is far above what any machine runs at once: each reader bounds its own calls in flight.
_calls = LastingPool("iterative-rag reading", threads=4096)


@dataclass(slots=True)
class _Queue:
    """One need while it is being read: its windows, what has arrived, and how many results were accepted in order."""

    need: Need
    windows: Sequence[Window]
    started: int = 0
    uncached: int = -1  # the window that the cache did not have
    accepted: int = 0
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


_InFlight: TypeAlias = dict[Future[tuple[Extract, ...]], tuple[_Queue, int]]


class DocumentReader(ReaderSetup):
    """Reads the windows of one run."""

    __slots__ = ()

    def read(
        self, tasks: Sequence[ReadingTask], *, question: str = "", seconds: float | None = None
    ) -> tuple[NeedReading, ...]:
        """Read all needs, at most `in_flight` windows at a time, for at most `seconds`. `question` is the one that the
        needs were derived from. Facts that an earlier reading did not wait for come as further readings."""
        if self.metered:
            readings = AdaptiveReading(self, tasks, question).run(seconds)
        else:
            readings = self._read_all(tasks, seconds)
        return within_limit(readings, self.fact_limit)

    def _read_all(self, tasks: Sequence[ReadingTask], seconds: float | None) -> tuple[NeedReading, ...]:
        deadline = None if seconds is None else time.monotonic() + seconds
        queues = [_Queue(task.need, task.windows) for task in tasks]
        flight: _InFlight = {}
        cap: Cap | None = None
        while True:
            if cap is None:
                self._start(queues, flight)
            pending = [future for future, (queue, _) in flight.items() if not queue.enough]
            if not pending:
                break
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            done = first_done(pending, left)
            if not done:
                cap = Cap.SECONDS
                break
            # Everything that has arrived meanwhile is accepted before a new call starts.
            for future in [future for future in flight if future.done()]:
                cap = self._receive(future, *flight.pop(future)) or cap
        return tuple(self._result(queue, cap) for queue in queues)

    def _start(self, queues: Sequence[_Queue], flight: _InFlight) -> None:
        """Start calls, the needs taking turns, until the flight is full or nothing is left to start."""
        while waiting := [queue for queue in queues if self._may_start(queue)]:
            for queue in waiting:
                if (cached := self._cached(queue)) is not None:
                    queue.arrived[queue.started] = cached
                    queue.started += 1
                    queue.cached += 1
                    self._accept(queue)
                    continue
                if sum(not future.done() for future in flight) >= self.in_flight:
                    return
                future = _calls.submit(self._extract, queue, queue.started)
                flight[future] = (queue, queue.started)
                queue.started += 1

    def _receive(self, future: Future[tuple[Extract, ...]], queue: _Queue, place: int) -> Cap | None:
        try:
            queue.arrived[place] = future.result()
        except CapReached as reached:
            queue.arrived[place] = ()
            queue.refused.add(place)
            return reached.cap
        except IterativeRAGError as error:
            queue.faults[place] = error
            queue.arrived[place] = ()
        self._accept(queue)
        return None

    def _accept(self, queue: _Queue) -> None:
        """Accept what has arrived, in the order of the shortlist, up to the window that brings enough."""
        while not queue.enough and queue.accepted in queue.arrived:
            window = queue.windows[queue.accepted]
            for extract in queue.arrived[queue.accepted]:
                fact = verified(self.corpus, queue.need, window, extract, self.check)
                if fact is None:
                    queue.dropped += 1
                    continue
                place = (fact.document_id, fact.start, fact.end)
                if place not in queue.facts or queue.facts[place].score < fact.score:
                    queue.facts[place] = fact
            queue.accepted += 1
            queue.enough = self._enough(queue)

    def _may_start(self, queue: _Queue) -> bool:
        close = queue.started - queue.accepted < int(LOOKAHEAD * self.in_flight)
        return queue.open and close

    def _enough(self, queue: _Queue) -> bool:
        sure = [fact for fact in queue.facts.values() if fact.score >= SURE]
        valued = sum(bool(fact.value) for fact in sure)
        # Facts without a value end the reading later than those with one.
        return valued >= self.fact_limit or len(sure) >= FACTS_PER_VALUE * self.fact_limit

    def _result(self, queue: _Queue, cap: Cap | None) -> NeedReading:
        facts = sorted(queue.facts.values(), key=lambda fact: -fact.score)
        faults = [(queue.windows[place].title, error) for place, error in sorted(queue.faults.items())]
        read = len(queue.arrived) - len(faults) - len(queue.refused)
        # Calls in flight for a need that has enough are not waited for.
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
                window.document_id
                for place, window in enumerate(queue.windows[: queue.accepted])
                if place not in queue.faults and place not in queue.refused
            ),
            error=faults[0][1] if faults and not read else None,
            cap=cap,
            unanswered=unanswered,
            unread=_unread(queue, cap),
        )

    def _extract(self, queue: _Queue, place: int) -> tuple[Extract, ...]:
        window = queue.windows[place]
        with self.reading(DocumentAtHand(window.title, place + 1, len(queue.windows))):
            extracts = self.extractor.extract([queue.need], [window], "")
        self.extract_cache.put([queue.need], window, "", extracts)
        return extracts

    def _cached(self, queue: _Queue) -> tuple[Extract, ...] | None:
        if queue.uncached == queue.started:
            return None
        window = queue.windows[queue.started]
        extracts = self.extract_cache.get([queue.need], window, "")
        if extracts is None:
            queue.uncached = queue.started
            return None
        self.on_hit("extract")
        return extracts


def within_limit(readings: Sequence[NeedReading], most: int) -> tuple[NeedReading, ...]:
    """The readings of one hop with at most so many facts for each need, those with a value first: one text may bring
    more. Facts that are not sure do not count; a list, and an aspect of a text, may be many facts of one document."""
    left: dict[str, int] = {}
    limited = []
    for reading in readings:
        key, facts = reading.need.key, []
        for fact in sorted(reading.facts, key=lambda fact: not fact.value):
            if fact.score >= SURE and not (reads_on(reading.need) or reading.need.aspect):
                room = left.get(key, FACTS_PER_VALUE * most)
                if room <= 0:
                    continue
                left[key] = room - (FACTS_PER_VALUE if fact.value else 1)
            facts.append(fact)
        limited.append(replace(reading, facts=tuple(fact for fact in reading.facts if fact in facts)))
    return tuple(limited)


def _unread(queue: _Queue, cap: Cap | None) -> tuple[UnreadWindow, ...]:
    """The windows that a need has lost, in shortlist order; a window that it did not need any more is no loss."""
    reasons = {place: str(error) for place, error in queue.faults.items()}
    if cap is not None and not queue.enough:
        for place in range(len(queue.windows)):
            if place not in queue.arrived and place < queue.started:
                reasons[place] = f"no reply before the limit of {cap.value}"
            elif place in queue.refused or place >= queue.started:
                reasons[place] = f"not read before the limit of {cap.value}"
    return tuple(UnreadWindow(queue.need, queue.windows[place], reasons[place]) for place in sorted(reasons))
