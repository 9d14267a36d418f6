"""Searches for the needs of one hop: shortlist, correction where it falls short, windows, reading, and its record."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from iterative_rag.engine.components import RunComponents
from iterative_rag.engine.corrector import Corrector
from iterative_rag.engine.run_state import Progress, RunState
from iterative_rag.errors import CapReached, IterativeRAGError, LLMError
from iterative_rag.protocols import Confirmer
from iterative_rag.retrieval.document_reader import DocumentReader
from iterative_rag.retrieval.likelihood import Likelihood
from iterative_rag.retrieval.lost_rows import lost_for
from iterative_rag.retrieval.need_reading import NeedReading, ReadingTask
from iterative_rag.retrieval.reading_policy import is_tabular
from iterative_rag.retrieval.shortlist import shortlist
from iterative_rag.retrieval.windows import window
from iterative_rag.types.documents import ShortlistedDocument
from iterative_rag.types.loop import Fact, LostRows, Need, Window
from iterative_rag.types.outcomes import Usage
from iterative_rag.types.steps import ReadingFault, ShortlistStep, Step

# How much longer the shortlist of the second, wider search for a need is.
WIDER = 3
# Of so many documents the passages of a long one are weighed, where the built-in models read: the article with the
# answer was one of the first three for 100 of 100 needs over long pages. Where rows are among the hits, the tables of
# the best ones are read as well: of 200 questions over whole pages 70 are right so instead of 69, and 27 wrong, not 32.
WEIGHED = 3

Shortlist = tuple[ShortlistedDocument, ...]
Readings = tuple[NeedReading, ...]


class DataFinder:
    """The finder of one run: it remembers which documents it has listed for each need.

    `corrector` is the part that a strategy may add; None leaves the shortlist as it is.
    """

    def __init__(
        self, run: RunComponents, *, reader: DocumentReader | None = None, corrector: Corrector | None = None
    ) -> None:
        self.corpus, self._reader, self._corrector = run.corpus, reader or run.reader, corrector
        self._budget, self._settings, self._sparing = run.budget, run.settings, run.traits.calls_cost
        self._confirmers = run.roles.confirmers
        self._listed: dict[str, set[str]] = {}

    @property
    def searches_web(self) -> bool:
        """Whether the user allows the web."""
        return self._corrector is not None and self._corrector.web is not None

    def search(
        self, state: RunState, needs: Sequence[Need], *, wider: bool, online: bool = False, since: Usage | None = None
    ) -> Generator[Progress, None, RunState]:
        """One hop: steps as they happen; returns the state after it, whose last hop holds the facts that are new.

        `wider` is the second search for needs that found nothing; `online` searches the web alone, which has to be
        allowed. `since` is what the run had used when the hop began, if that was before its search. The state is also
        passed on before an error ends the hop, so that what was found by then is kept; the needs can then be searched
        for again.
        Raises CapReached where a limit ended the reading, and the fault where a need could read nothing and no further
        call would succeed. Other windows that could not be read are noted in the state.
        """
        since, hop, question = since or self._budget.usage(), state.next_hop, state.inquiry.question
        listed = {need.question: set(self._listed.get(need.question, ())) for need in needs}
        try:
            listing = self._pages(hop, needs) if online else self._shortlists(hop, needs, wider=wider)
            shortlists = yield from listing
            readings = yield from self._read(hop, needs, shortlists, question)
            if not online:
                readings += yield from self._corrected(hop, readings, shortlists, question, wider=wider)
        except IterativeRAGError:
            self._listed |= listed  # what was listed was not read
            raise
        titles = [entry.title for entries in shortlists for entry in entries]
        state = state.with_hop(needs, titles, _new_facts(readings, state), self._budget.used_since(since))
        state = state.with_readings(readings).with_lost_rows(self._lost_rows(readings))
        yield state
        for reading in readings:
            if reading.cap:
                raise self._budget.reached(reading.cap)
            if reading.error and (not isinstance(reading.error, LLMError) or reading.error.fatal):
                raise reading.error
        return state

    # --- what to read ------------------------------------------------------------------------

    def shortlist(self, needs: Sequence[Need], *, wider: bool) -> list[Shortlist]:
        """The documents to read for each need; none that an earlier search for it has listed, or, where the reader is
        sparing and leaves documents unread, none that was read."""
        settings, factor = self._settings, WIDER if wider else 1
        most, passages = settings.shortlist * factor, settings.passages * factor
        shortlists = shortlist(self.corpus, needs, documents=most, passages=passages)
        return [self._unlisted(need, documents) for need, documents in zip(needs, shortlists, strict=True)]

    def _shortlists(self, hop: int, needs: Sequence[Need], *, wider: bool) -> Generator[Step, None, list[Shortlist]]:
        shortlists = self.shortlist(needs, wider=wider)
        for need, documents in zip(needs, shortlists, strict=True):
            yield ShortlistStep(hop, need, documents, wider)
        if self._corrector:
            for n, need in enumerate(needs):
                listed = self._listed[need.question]
                improving = self._corrector.improve(hop, need, shortlists[n], listed, found_nothing=wider)
                shortlists[n] = yield from improving
        return shortlists

    def _pages(self, hop: int, needs: Sequence[Need]) -> Generator[Step, None, list[Shortlist]]:
        assert self._corrector is not None
        shortlists = []
        for need in needs:
            listed = self._listed.setdefault(need.question, set())
            shortlists.append((yield from self._corrector.search_web(hop, need, listed)))
        return shortlists

    def _unlisted(self, need: Need, documents: Sequence[ShortlistedDocument]) -> Shortlist:
        listed, memory = self._listed.setdefault(need.question, set()), self._reader.memory
        if self._sparing:
            new = tuple(entry for entry in documents if not memory.has_asked(need, entry.document_id))
        else:
            new = tuple(entry for entry in documents if entry.document_id not in listed)
        listed.update(entry.document_id for entry in new)
        return new

    # --- reading -----------------------------------------------------------------------------

    def _read(
        self, hop: int, needs: Sequence[Need], shortlists: Sequence[Shortlist], question: str
    ) -> Generator[Step, None, Readings]:
        """Read the documents of each need. `question` is the one that the needs were derived from."""
        graded = self._corrector is not None and self._corrector.grader is not None
        tasks = [
            ReadingTask(need, documents, self._windows(need, documents), graded)
            for need, documents in zip(needs, shortlists, strict=True)
        ]
        readings = self._reader.read(tasks, question=question, seconds=self._budget.seconds_left())
        for confirmer in self._confirmers:
            readings = tuple(self._confirmed(reading, confirmer) for reading in readings)
        for reading in readings:
            yield replace(reading.record, hop=hop)
        return readings

    def _confirmed(self, reading: NeedReading, confirmer: Confirmer) -> NeedReading:
        """The reading with what a second reader makes of its facts; as it was, with the fault, where that fails."""
        try:
            facts = confirmer.confirm(reading.need, reading.facts, self.corpus)
            return replace(reading, record=replace(reading.record, facts=facts))
        except CapReached as reached:
            return replace(reading, cap=reached.cap)
        except LLMError as error:
            if error.fatal:
                raise
            titles = ", ".join(dict.fromkeys(fact.title for fact in reading.facts))
            faults = (*reading.record.faults, ReadingFault(titles, str(error)))
            return replace(reading, record=replace(reading.record, faults=faults))

    def _corrected(
        self, hop: int, readings: Readings, shortlists: list[Shortlist], question: str, *, wider: bool
    ) -> Generator[Step, None, Readings]:
        """What a correction after reading brings: without grades, only reading shows that a shortlist falls short. The
        `shortlists` grow by those that were read for it."""
        failed = [reading.need for reading in readings if not (reading.facts or reading.error or reading.cap)]
        if self._corrector is None or self._corrector.grader or wider or not failed:
            return ()
        more = []
        for need in failed:
            listed = self._listed[need.question]
            more.append((yield from self._corrector.improve(hop, need, (), listed, found_nothing=True)))
        shortlists += more
        return (yield from self._read(hop, failed, more, question))

    def _lost_rows(self, readings: Readings) -> list[LostRows]:
        """The rows that the needs without a value should stand in, and that are not in the documents read for them."""
        return [
            LostRows(reading.need.key, document.title, section)
            for reading in readings
            if not any(fact.value and not fact.is_doubtful for fact in reading.facts)
            for document in map(self.corpus.document, reading.record.documents)
            if (section := lost_for(document, reading.need))
        ]

    def _windows(self, need: Need, documents: Shortlist) -> list[Window]:
        """What is read of each document. A sparing reader cuts its windows itself: it reads few of the documents."""
        if self._sparing:
            return []
        size, likelihood, cut = self._settings.window_chars, Likelihood(self.corpus, self._reader.ranker), []
        for rank, entry in enumerate(documents):
            document = self.corpus.document(entry.document_id)
            tabular = any(is_tabular(document.text[hit.start : hit.end]) for hit in entry.hits)
            if rank < WEIGHED and len(document.text) > size and not tabular:
                entry, _ = likelihood.weighed(need, entry)
            cut.append(window(document, entry, size))
        return cut


def _new_facts(readings: Sequence[NeedReading], state: RunState) -> tuple[Fact, ...]:
    """What was found and is not known yet. What was noted beside the needs has no value: it may be an interim one."""
    known, asked = {fact.key for fact in state.inquiry.facts}, {reading.need.key for reading in readings}
    facts: dict[tuple[object, ...], Fact] = {}
    for reading in readings:
        for fact in reading.facts:
            struck = ((start, end) for document_id, start, end in state.struck if document_id == fact.document_id)
            if not any(fact.start < end and start < fact.end for start, end in struck):
                facts.setdefault(fact.key, fact if fact.need.key in asked else replace(fact, value=""))
    return tuple(fact for key, fact in facts.items() if key not in known)
