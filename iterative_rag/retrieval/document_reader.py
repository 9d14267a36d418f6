"""Reads the documents of a hop's needs, as far as `reading_policy` says.

Where calls cost, the documents that a need names are read first, then those that likeliest answer it by the built-in
reader, and on only as far as that leaves something open: a document is asked once for all needs of the hop that list
it, and what a need reads next is decided when everything that was asked for it has come; what the needs read next
shares a call, as far as a setting and the room of a call allow. Else the
documents after the first are read several at a time, until there are facts enough or a value is certain. Results are
accepted in the order in which they were asked for, and a cached window costs no call: the same question always reads
the same windows.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Self

from iterative_rag.errors import CapReached, IterativeRAGError
from iterative_rag.protocols import Cache, Corpus, Extractor, FactCheck, Reranker
from iterative_rag.retrieval.likelihood import FURTHER, PROMISING, Likelihood, is_english
from iterative_rag.retrieval.need_plan import NeedPlan, PlannedDocument, WindowCall
from iterative_rag.retrieval.need_reading import NeedReading, ReadingTask, verified
from iterative_rag.retrieval.reading_memory import ExtractCache, ReadingMemory
from iterative_rag.retrieval.reading_policy import ReadingPolicy, answers, asked_rows, mentions, within_limit
from iterative_rag.retrieval.spans import Span, merged
from iterative_rag.retrieval.windows import PACKED, sifted, together, window, window_of_rest, with_again
from iterative_rag.system.threads import LastingPool, first_done, observing
from iterative_rag.types import Cap, DocumentAtHand, Extract, Need, ShortlistedDocument, Window

# Documents and facts of a need, where sources are to corroborate or contradict each other.
CORROBORATING = 5
# Shared by all readers of the process. A call that is not needed any more keeps its thread until it ends, so this bound
# is far above what any machine runs at once: each reader bounds its own calls in flight.
_calls = LastingPool("iterative-rag reading", threads=4096)


@dataclass(frozen=True, slots=True)
class DocumentReader:
    """Reads for one run. `on_hit` is called for every extraction that the cache had; each document is read within the
    context that `reading` gives for it.

    `sparing`: the extractor's calls cost, so a need is read only as far as it is open, and a document is asked for all
    needs of a hop at once, in windows of `window_chars` characters. `least` is then how many documents are read for a
    need even if the first has its value; `documents_per_call` and `call_chars` bound the windows that share a call.
    `in_flight` is how many calls run at once. `memory` is what the run has read so far. `check` is asked
    about every fact. `ranker` tells how likely a text answers an English need; without it names alone decide.
    """

    corpus: Corpus
    extractor: Extractor
    cache: Cache
    fact_limit: int
    in_flight: int
    on_hit: Callable[[str], None]
    sparing: bool = True
    least: int = 1
    window_chars: int = 4000
    documents_per_call: int = 1
    call_chars: int = 4000
    memory: ReadingMemory = field(default_factory=ReadingMemory)
    check: FactCheck | None = None
    ranker: Reranker | None = None
    reading: Callable[[DocumentAtHand], AbstractContextManager[None]] = lambda document: nullcontext()

    def read(
        self, tasks: Sequence[ReadingTask], *, question: str = "", seconds: float | None = None
    ) -> tuple[NeedReading, ...]:
        """Read all needs, at most `in_flight` windows at a time, for at most `seconds`. `question` is the one that the
        needs were derived from."""
        readings = _HopReading(self, tasks, question if self.sparing else "").run(seconds)
        # What a model noted of a text that is not shown again is kept.
        return readings if self.sparing else tuple(within_limit(reading, self.fact_limit) for reading in readings)

    def corroborating(self, *, limited: bool) -> Self:
        """The same reader, but it reads on after the first value for others that agree or contradict it; no further
        than its fact limit if the user has `limited` the facts."""
        limit = self.fact_limit if limited else max(CORROBORATING, self.fact_limit)
        return replace(self, fact_limit=limit, least=CORROBORATING)


class _HopReading:
    """The reading of one hop."""

    def __init__(self, reader: DocumentReader, tasks: Sequence[ReadingTask], question: str) -> None:
        self._reader, self._question, self._memory = reader, question, reader.memory
        self._cache = ExtractCache(reader.cache, reader.extractor)
        self._likelihood = Likelihood(reader.corpus, reader.ranker)
        self._plans = [self._plan(task) for task in tasks]
        self._queued: list[WindowCall] = []
        self._flight: list[WindowCall] = []

    def run(self, seconds: float | None) -> tuple[NeedReading, ...]:
        """Read for at most `seconds`. Afterwards, also where the run is stopped, nothing that is under way goes on."""
        try:
            cap = self._read_until(None if seconds is None else time.monotonic() + seconds)
            if self._reader.sparing:
                self._keep_what_has_come()
        finally:
            for call in self._flight:
                call.superseded.set()
        return tuple(replace(plan.result(cap, self._window), named=self._named(plan)) for plan in self._plans)

    def _read_until(self, deadline: float | None) -> Cap | None:
        """Read until every need has enough; the limit that ended it before, if one did."""
        cap: Cap | None = None
        while True:
            if cap is None:
                self._ask()
                self._start()
            pending = [call.future for call in self._flight if call.future and call.needed]
            if not pending:
                return cap
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not first_done(pending, left):
                return Cap.SECONDS
            cap = self._receive() or cap

    # --- what to read -------------------------------------------------------------------------

    def _plan(self, task: ReadingTask) -> NeedPlan:
        reader, entries = self._reader, task.documents
        cut = {} if reader.sparing else dict(zip(map(id, entries), task.windows, strict=True))
        policy = ReadingPolicy.of(
            task.need, entries, least=reader.least, fact_limit=reader.fact_limit, thorough=not reader.sparing
        )
        items = [PlannedDocument(entry, cut.get(id(entry))) for entry in policy.ordered(entries)]
        return NeedPlan(task.need, items, policy, task.graded)

    def _ask(self) -> None:
        """Queue the next windows of every need that waits for nothing."""
        while ready := [plan for plan in self._plans if not (plan.enough or plan.waits)]:
            for plan in ready if self._reader.sparing else ():
                self._rank(plan)
            before = len(self._queued)
            at_once, per_call = self._reader.in_flight, self._reader.documents_per_call
            turns = [(plan, item) for plan in ready for item in plan.next(at_once, per_call)]
            if not turns:
                return
            for plan, item in turns:
                self._queue(plan, item)
            if len(self._queued) > before and self._reader.sparing:
                return

    def _rank(self, plan: NeedPlan) -> None:
        """Bring the documents that a need does not name into the order of their chances, before the first of them is
        read."""
        if plan.ranked or plan.graded or (plan.policy.named and not plan.asked):
            return
        plan.ranked = True
        for item in plan.unread:
            if plan.may_pass(item) and not self._shown(item.entry.document_id):
                self._weigh(plan, item)
        plan.items.sort(key=lambda item: (not item.asked, plan.may_pass(item), -item.chance))
        best = plan.unread[0] if plan.unread else None
        if best and best.chance < PROMISING and not (plan.policy.named or plan.need.see):  # no other was expected
            held = mentions(plan.need, best.entry.title, self._window(best.entry).text)
            best.chance = max(best.chance, PROMISING * held)  # it may be worded in a way that the ranker does not see

    def _weigh(self, plan: NeedPlan, item: PlannedDocument) -> None:
        if not item.weighed:
            item.weighed = True
            item.entry, item.chance = self._likelihood.weighed(plan.need, item.entry)

    def _queue(self, plan: NeedPlan, item: PlannedDocument) -> None:
        """Ask for a window of a document, of what the run was not shown yet, for all needs that list it."""
        if item.asked and plan.waits:
            return  # another need's turn has asked for it
        stage, id_ = item.asked, item.entry.document_id
        item.asked += 1
        if item.cut is not None:
            self._enqueue(item.cut, [plan])
            return
        shown = self._shown(id_)
        if not (stage or shown) and plan.may_pass(item) and item.chance < PROMISING:
            item.rest, item.passed = False, True
            return
        sharing = [(plan, item)]
        for other in self._plans:
            twin = next((peer for peer in other.items if peer.entry.document_id == id_), None)
            if other is plan or other.enough or twin is None:
                continue
            if twin.asked == stage and twin.rest:
                twin.asked += 1
                sharing.append((other, twin))
        sharing.sort(key=lambda pair: self._plans.index(pair[0]))
        plans = [sharer for sharer, _ in sharing]
        document = self._reader.corpus.document(id_)
        for sharer, listed in sharing if len(document.text) > self._reader.window_chars else ():
            self._weigh(sharer, listed)
        entry = together([listed.entry for _, listed in sharing])
        part = self._window_of_rest(entry, shown) if shown else self._window(entry)
        for sharer, listed in sharing if shown else ():
            self._remember(sharer, listed)
            listed.rest, listed.asked = part is not None, 2  # one further window a hop
        open_ = [sharer for sharer in plans if not sharer.enough]
        if part and shown:
            more = [sharer for sharer, listed in sharing if sharer.finds_more(listed, shown)]
            understood = [plan for plan in open_ if is_english(plan.need, part.text) or id_ in plan.policy.named]
            chances = {plan: self._likelihood.chances(plan.need, part.title, [part.text])[0] for plan in understood}
            open_ = [plan for plan in open_ if plan in more or chances.get(plan, 0.0) >= FURTHER]
            part = part if open_ else None
        about = [sharer for sharer in plans if not sharer.enough and sharer.is_about(id_, entry.title)]
        if about and (unquoted := self._memory.unquoted(id_)):
            fresh, named = part, [sharer.need for sharer in about]
            part = with_again(
                document, fresh, unquoted, lambda said: any(answers(need, document.title, said) for need in named)
            )
            open_ = open_ if part is fresh else [sharer for sharer in plans if sharer in open_ or sharer in about]
        if part and open_:
            needs = [sharer.need for sharer in open_]
            part = sifted(document, part, lambda rows: asked_rows(needs, document.title, rows))
            self._enqueue(part, open_)

    def _shown(self, id_: str) -> list[Span]:
        """What of a document the run has been shown, or is being shown."""
        asked = (call.window for call in (*self._queued, *self._flight))
        under_way = [span for part in asked if part.document_id == id_ for span in part.spans]
        return list(merged([*self._memory.spans(id_), *under_way]))

    def _remember(self, plan: NeedPlan, item: PlannedDocument) -> None:
        """Take up what the text that was read of a document is known to say."""
        item.rest = False
        for fact in self._memory.facts(plan.need, item.entry.document_id):
            plan.take(replace(fact, need=plan.need))
        plan.remembered.add(item.entry.document_id)
        plan.judge()

    def _window(self, entry: ShortlistedDocument) -> Window:
        return window(self._reader.corpus.document(entry.document_id), entry, self._reader.window_chars, PACKED)

    def _window_of_rest(self, entry: ShortlistedDocument, shown: Sequence[Span]) -> Window | None:
        document = self._reader.corpus.document(entry.document_id)
        return window_of_rest(document, entry, self._reader.window_chars, shown)

    def _named(self, plan: NeedPlan) -> dict[str, bool]:
        """The titles that a need names, and whether something of their articles was not read."""
        named = [item.entry for item in plan.items if item.entry.document_id in plan.policy.named]
        shown = [(entry, self._shown(entry.document_id)) for entry in named if self._reader.sparing]
        return {entry.title: self._window_of_rest(entry, spans) is not None for entry, spans in shown}

    # --- calls --------------------------------------------------------------------------------

    def _enqueue(self, cut: Window, plans: Sequence[NeedPlan]) -> None:
        call = WindowCall(cut, tuple(plans))
        for plan in plans:
            plan.calls.append(call)
        self._queued.append(call)

    def _start(self) -> None:
        """Start what is queued, as far as the flight has room; a cached window needs none."""
        while self._queued:
            call = self._queued[0]
            if not call.needed:
                self._queued.pop(0)
                continue
            cached = self._cached(call)
            if cached is not None:
                self._queued.pop(0)
                self._reader.on_hit("extract")
                call.extracts, call.cached = cached, True
                self._accept(call)
                self._ask()
                continue
            running = {flying.future for flying in self._flight if flying.future and not flying.future.done()}
            if len(running) >= self._reader.in_flight:
                return
            shared = [call, *self._companions(call)]
            self._queued = [queued for queued in self._queued if queued not in shared]
            plans = tuple(plan for plan in self._plans if any(plan in sharer.plans for sharer in shared))
            needs, windows = [plan.need for plan in plans], [sharer.window for sharer in shared]
            future = _calls.submit(self._extract, needs, windows, call.superseded, call.document)
            for position, sharer in enumerate(shared):
                sharer.position, sharer.future, sharer.superseded = position, future, call.superseded
                for plan in plans:
                    if plan not in sharer.plans:  # a window that another need brought may serve this one, too
                        plan.calls.append(sharer)
                sharer.plans = plans
            self._flight += shared

    def _cached(self, call: WindowCall) -> tuple[Extract, ...] | None:
        return self._cache.get([plan.need for plan in call.plans], call.window, self._question)

    def _companions(self, call: WindowCall) -> list[WindowCall]:
        """The queued windows that go into the same call, whatever needs they are for, as many as fit."""
        chars = len(call.window.text)
        companions: list[WindowCall] = []
        for other in self._queued if self._reader.sparing else []:
            if other is call or not other.needed or self._cached(other) is not None:
                continue
            chars += len(other.window.text)
            if len(companions) + 1 >= self._reader.documents_per_call or chars > self._reader.call_chars:
                break
            companions.append(other)
        return companions

    def _extract(
        self, needs: Sequence[Need], windows: Sequence[Window], superseded: threading.Event, document: DocumentAtHand
    ) -> tuple[Extract, ...]:
        with observing(superseded), self._reader.reading(document):
            extracts = self._reader.extractor.extract(needs, windows, self._question)
        for position, cut in enumerate(windows):
            self._cache.put(needs, cut, self._question, _of(extracts, position))
        return extracts

    def _receive(self) -> Cap | None:
        """Accept everything that has arrived; the limit of the run that a call met, if any."""
        cap: Cap | None = None
        for call in [call for call in self._flight if call.future and call.future.done()]:
            self._flight.remove(call)
            assert call.future is not None
            try:
                call.extracts = _of(call.future.result(), call.position)
            except IterativeRAGError as error:
                cap = error.cap if isinstance(error, CapReached) else cap
                call.fault, call.extracts = error, ()
            self._accept(call)
        return cap

    def _accept(self, call: WindowCall) -> None:
        read = replace(call.window, spans=()) if call.fault else call.window
        named = any(plan.is_about(read.document_id, read.title) for plan in call.plans)
        self._memory.note([plan.need for plan in call.plans], read, named=named)
        for plan in call.plans:
            while plan.accepts:
                self._take(plan, plan.calls[plan.accepted])
                plan.accepted += 1
                plan.judge()

    def _take(self, plan: NeedPlan, call: WindowCall) -> None:
        """The facts of a call that serve a need; those that serve only the question go to its first need."""
        index = call.plans.index(plan)
        for extract in call.extracts or ():
            if index not in extract.needs and (extract.needs or index):
                continue
            need = plan.need if extract.needs else Need(self._question)
            # What serves only the question as a whole need not answer it.
            check = self._reader.check if extract.needs else None
            fact = verified(self._reader.corpus, need, call.window, extract, check)
            if fact is None:
                plan.dropped += 1
                continue
            plan.take(fact)
            self._memory.keep(fact if extract.needs else replace(fact, value=""))

    def _keep_what_has_come(self) -> None:
        """Take the facts of calls that have ended although no need waited for them."""
        self._receive()
        for plan in self._plans:
            for call in plan.calls[plan.accepted :]:
                if call.extracts is not None:
                    self._take(plan, call)


def _of(extracts: Sequence[Extract], position: int) -> tuple[Extract, ...]:
    """The extracts of one window of a call."""
    return tuple(extract for extract in extracts if extract.window == position)
