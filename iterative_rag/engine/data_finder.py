"""Finds the facts for all needs of one hop: shortlist, correction where it falls short, windows, reading."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass

from iterative_rag.engine.correction.corrector import Corrector
from iterative_rag.engine.correction.refinement import Refiner
from iterative_rag.errors import IterativeRAGError
from iterative_rag.protocols import Corpus
from iterative_rag.retrieval.document_reader import DocumentReader
from iterative_rag.retrieval.lost_rows import lost_at, lost_for
from iterative_rag.retrieval.need_reading import NeedReading, ReadingTask
from iterative_rag.retrieval.shortlist import shortlist
from iterative_rag.retrieval.windows import PACKED, WIDE, window
from iterative_rag.settings import Settings
from iterative_rag.types import (
    LostRowsStep,
    Need,
    RefinementStep,
    ShortlistedDocument,
    ShortlistStep,
    Step,
    UnreadWindow,
    Window,
)

# How much longer the shortlist of the second, wider search for a need is.
WIDER = 3
# How many documents are listed for a need where several hops in a row brought nothing: what was found so late stood in
# the best document.
BRIEF = 3

Shortlist = tuple[ShortlistedDocument, ...]


@dataclass(frozen=True, slots=True)
class HopFindings:
    """The shortlists of one hop's needs, and what was read of them. A need whose search was corrected after reading has
    two of each. `lost` are lists without rows that were met for the first time."""

    shortlists: tuple[Shortlist, ...]
    readings: tuple[NeedReading, ...]
    lost: tuple[LostRowsStep, ...] = ()


class DataFinder:
    """The finder of one run: it remembers which documents it has listed for each need.

    `corrector` and `refiner` are the parts that a strategy may add; None leaves the shortlist as it is.
    """

    def __init__(
        self,
        corpus: Corpus,
        reader: DocumentReader,
        settings: Settings,
        *,
        corrector: Corrector | None = None,
        refiner: Refiner | None = None,
    ) -> None:
        self.corpus, self._reader, self._settings = corpus, reader, settings
        self._corrector, self._refiner = corrector, refiner
        self._listed: dict[str, set[str]] = {}
        self._lost: set[tuple[str, str]] = set()  # lists without rows, by document and section

    @property
    def searches_web(self) -> bool:
        """Whether the user allows the web."""
        return self._corrector is not None and self._corrector.web is not None

    def find_online(
        self, hop: int, needs: Sequence[Need], question: str, *, seconds: Callable[[], float | None]
    ) -> Generator[Step, None, HopFindings]:
        """As `find`, but on the web alone, which has to be allowed."""
        assert self._corrector is not None
        shortlists: list[Shortlist] = []
        for need in needs:
            listed = self._listed.setdefault(need.question, set())
            shortlists.append((yield from self._corrector.search_web(hop, need, listed)))
        readings = yield from self._read(hop, needs, shortlists, question, seconds)
        return HopFindings(tuple(shortlists), readings)

    def find(
        self,
        hop: int,
        needs: Sequence[Need],
        question: str,
        *,
        wider: bool,
        brief: bool = False,
        seconds: Callable[[], float | None],
    ) -> Generator[Step, None, HopFindings]:
        """Steps as they happen; returns what was found. `question` is the one that the needs were derived from; `wider`
        is the second search for needs that found nothing; `brief` looks at the best few documents only.

        Reading may take `seconds()`, evaluated when it begins. After an error the needs can be searched for again.
        """
        listed = {need.question: set(self._listed.get(need.question, ())) for need in needs}
        try:
            return (yield from self._find(hop, needs, question, wider=wider, brief=brief, seconds=seconds))
        except IterativeRAGError:
            self._listed |= listed  # what was listed was not read
            raise

    def _find(
        self,
        hop: int,
        needs: Sequence[Need],
        question: str,
        *,
        wider: bool,
        brief: bool,
        seconds: Callable[[], float | None],
    ) -> Generator[Step, None, HopFindings]:
        shortlists = [documents[: BRIEF if brief else None] for documents in self.shortlist(needs, wider=wider)]
        for need, documents in zip(needs, shortlists, strict=True):
            yield ShortlistStep(hop, need, documents, wider)
        if self._corrector:
            for n, need in enumerate(needs):
                listed = self._listed[need.question]
                shortlists[n] = yield from self._corrector.improve(
                    hop, need, shortlists[n], listed, found_nothing=wider
                )
        readings = yield from self._read(hop, needs, shortlists, question, seconds)
        lost: tuple[LostRowsStep, ...] = ()
        if self._corrector is None and self._reader.metered:
            lost = tuple(self._lost_lists(hop, zip(needs, shortlists, readings, strict=False)))
            yield from lost
        failed = [reading.need for reading in readings if not (reading.facts or reading.error or reading.cap)]
        if self._corrector and not self._corrector.grades and not wider and failed:
            # Without grades, only reading shows that a shortlist falls short.
            more = []
            for need in failed:
                listed = self._listed[need.question]
                more.append((yield from self._corrector.improve(hop, need, (), listed, found_nothing=True)))
            readings = (*readings, *(yield from self._read(hop, failed, more, question, seconds)))
            shortlists += more
        return HopFindings(tuple(shortlists), readings, lost)

    def _read(
        self,
        hop: int,
        needs: Sequence[Need],
        shortlists: Sequence[Shortlist],
        question: str,
        seconds: Callable[[], float | None],
    ) -> Generator[Step, None, tuple[NeedReading, ...]]:
        """Read the documents of each need."""
        tasks = []
        graded = self._corrector is not None and self._corrector.grades
        for need, documents in zip(needs, shortlists, strict=True):
            windows = yield from self._windows(hop, need, documents)
            tasks.append(ReadingTask(need, windows, documents, graded))
        readings = self._reader.read(tasks, question=question, seconds=seconds())
        for reading in readings:
            yield reading.step(hop)
        return readings

    def _lost_lists(self, hop: int, read: Iterable[tuple[Need, Shortlist, NeedReading]]) -> Iterator[LostRowsStep]:
        """Tell each list whose rows are not in the text, once, where a need that was read there got no value."""
        for need, documents, reading in read:
            if any(fact.value for fact in reading.facts):
                continue
            for entry in documents:
                if entry.document_id not in reading.documents:
                    continue
                lost = lost_for(self.corpus.document(entry.document_id), entry, need)
                if lost and (entry.document_id, lost.section) not in self._lost:
                    self._lost.add((entry.document_id, lost.section))
                    yield LostRowsStep(hop, need, entry.title, entry.source, lost.section)

    def read_again(
        self, hop: int, unread: Sequence[UnreadWindow], question: str, seconds: float | None
    ) -> Generator[Step, None, tuple[NeedReading, ...]]:
        """Read windows again that could not be read before; returns what was found for each need."""
        windows: dict[Need, list[Window]] = {}
        for one in unread:
            windows.setdefault(one.need, []).append(one.window)
        tasks = [ReadingTask(need, again) for need, again in windows.items()]
        readings = self._reader.read(tasks, question=question, seconds=seconds)
        for reading in readings:
            yield reading.step(hop, again=True)
        return readings

    def shortlist(self, needs: Sequence[Need], *, wider: bool) -> list[Shortlist]:
        """The documents to read for each need; none that an earlier search for it has listed, or, where the reader is
        metered and leaves documents unread, none that was read."""
        settings, factor = self._settings, WIDER if wider else 1
        found = shortlist(
            self.corpus,
            needs,
            documents=settings.shortlist * factor,
            passages=settings.passages * factor,
            sharpen=self._reader.metered,
            keep_tail=wider,
        )
        return [self._unlisted(need, documents) for need, documents in zip(needs, found, strict=True)]

    def _unlisted(self, need: Need, documents: Sequence[ShortlistedDocument]) -> Shortlist:
        listed = self._listed.setdefault(need.question, set())
        new = tuple(entry for entry in documents if self._is_new(need, entry, listed))
        listed.update(entry.document_id for entry in new)
        return new

    def _is_new(self, need: Need, entry: ShortlistedDocument, listed: set[str]) -> bool:
        if self._reader.metered:
            return not (self._reader.memory.has_asked(need, entry.document_id) or self._is_lost(entry))
        return entry.document_id not in listed

    def _is_lost(self, entry: ShortlistedDocument) -> bool:
        """Whether a document was listed for a list that is known to have lost its rows."""
        if not any(document == entry.document_id for document, _ in self._lost):
            return False
        lost = lost_at(self.corpus.document(entry.document_id), entry)
        return lost is not None and (entry.document_id, lost.section) in self._lost

    def _windows(self, hop: int, need: Need, documents: Shortlist) -> Generator[Step, None, list[Window]]:
        """What is read of each document; with a refiner, only the strips that serve the need. A metered reader cuts
        its windows itself where nothing refines them: it reads few of the documents."""
        if self._reader.metered and self._refiner is None:
            return []
        size = self._settings.window_chars
        layout = PACKED if self._reader.metered else WIDE
        windows = [window(self.corpus.document(entry.document_id), entry, size, layout) for entry in documents]
        if self._refiner is None or not windows:
            return windows
        refined = self._refiner.refine(need, windows)
        yield RefinementStep(hop, need, refined.kept, refined.dropped)
        return list(refined.windows)
