"""Corrects a shortlist that lacks what is needed (corrective RAG: Yan et al., 2024).

Grading judges the shortlist correct, ambiguous or incorrect. A correct one is read as it is. Otherwise the need is
searched for in other words; if the shortlist is still not correct, and the user allows it, the web is searched: its
pages replace an incorrect shortlist and are added to an ambiguous one.

Other words are several searches whose results are fused: multi-query retrieval with reciprocal rank fusion (Cormack et
al., 2009), step-back prompting (Zheng et al., 2024), and HyDE, hypothetical document embeddings (Gao et al., 2023).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from iterative_rag.errors import FetchError
from iterative_rag.protocols import Corpus, Grader, Rewriter
from iterative_rag.retrieval.shortlist import shortlist
from iterative_rag.retrieval.windows import PACKED, WindowLayout, window
from iterative_rag.settings import Settings
from iterative_rag.types.correcting import GRADE_LOWER, GRADE_UPPER, Grade, Rewording, Verdict
from iterative_rag.types.documents import Hit, ShortlistedDocument
from iterative_rag.types.loop import Need
from iterative_rag.types.steps import CorrectionStep, GradingStep, ReadingFault, Step, WebStep

if TYPE_CHECKING:
    from iterative_rag.engine.web_search import WebSearch

Shortlist = tuple[ShortlistedDocument, ...]
Graded: TypeAlias = tuple[ShortlistedDocument, Grade | None]
# Characters of a document that the built-in grader is shown: its best hits.
GRADED_CHARS = 1500
# Those that an LLM is shown: how the document begins, and three hits under their headings. Without its beginning, the
# right article looks like that of a namesake.
GRADED = WindowLayout(margins=(0,), lead=300, sections=True)
GRADED_CHARS_SPARING = 2000
# Documents of an incorrect shortlist that are read all the same, where nothing replaces them: graders err.
READ_IF_INCORRECT = 3
RRF_K = 60
# Documents of each list that are fused, for each that is wanted: one that all lists rank low can still win.
DEPTH = 3


def verdict(grades: Sequence[Grade]) -> Verdict:
    """Incorrect if no score reaches GRADE_LOWER; correct if the best one is above GRADE_UPPER; else ambiguous. So a
    good document is never replaced, whatever the others are."""
    best = max((grade.score for grade in grades), default=0.0)
    if best < GRADE_LOWER:
        return Verdict.INCORRECT
    return Verdict.CORRECT if best > GRADE_UPPER else Verdict.AMBIGUOUS


@dataclass(slots=True)
class Corrector:
    """Corrects the shortlists of one run. `grader`, `rewriter` and `web` are None where that part is switched off.

    `sparing`: every document read and every grade costs a call. Then a grader sees how a document begins, what it
    refused is not read beside what it accepted, other words may bring unread parts of a document that is listed
    already, and a need whose other words brought nothing good is not reworded again.
    """

    corpus: Corpus
    settings: Settings
    grader: Grader | None = None
    rewriter: Rewriter | None = None
    web: WebSearch | None = None
    sparing: bool = False
    _searched: dict[str, list[str]] = field(default_factory=dict)
    # The entries of each document that were offered for a need, and the needs that other words did not help.
    _offered: dict[str, dict[str, list[ShortlistedDocument]]] = field(default_factory=dict)
    _barren: set[str] = field(default_factory=set)

    def improve(
        self, hop: int, need: Need, documents: Shortlist, listed: set[str], *, found_nothing: bool
    ) -> Generator[Step, None, Shortlist]:
        """The documents to read for the need, best first; the new ones are added to `listed`, and those that are left
        for a wider search taken from it. A document may come twice, with different hits.

        `found_nothing`: an earlier search for the need brought no fact, so without a grader its shortlist counts as
        incorrect.
        """
        self._remember(need, documents)
        graded, judged = yield from self._graded(hop, need, documents, found_nothing=found_nothing)
        barren = self.sparing and need.question in self._barren
        if judged is not Verdict.CORRECT and self.rewriter and not barren:
            more = yield from self._reworded(hop, need, listed)
            graded_more, _ = yield from self._graded(hop, need, more, found_nothing=True)
            if not any(_accepted(grade) for _, grade in graded_more):
                self._barren.add(need.question)
            graded = _best_first([*graded, *graded_more])
            judged = self._verdict(graded, found_nothing=found_nothing)
        pages: Shortlist = ()
        if judged is not Verdict.CORRECT:
            pages = yield from self.search_web(hop, need, listed)
            if pages and judged is Verdict.INCORRECT:
                return pages
        chosen = self._chosen(graded, judged)
        left = {entry.document_id for entry, grade in graded if grade and grade.score >= GRADE_LOWER}
        if self.sparing:
            listed -= left - {entry.document_id for entry, _ in chosen}
        return (*pages, *(entry for entry, _ in chosen))

    def _remember(self, need: Need, documents: Shortlist) -> None:
        offered = self._offered.setdefault(need.question, {})
        for entry in documents:
            offered.setdefault(entry.document_id, []).append(entry)

    # --- grades ------------------------------------------------------------------------------

    def _graded(
        self, hop: int, need: Need, documents: Shortlist, *, found_nothing: bool
    ) -> Generator[Step, None, tuple[list[Graded], Verdict]]:
        """The documents with their grades, best first, and the verdict on them."""
        if self.grader is None or not documents:
            ungraded: list[Graded] = [(entry, None) for entry in documents]
            return ungraded, self._verdict(ungraded, found_nothing=found_nothing)
        grades = self.grader.grade(need, [(entry.title, self._shown(entry)) for entry in documents])
        graded = _best_first(list(zip(documents, grades, strict=True)))
        judged = self._verdict(graded, found_nothing=found_nothing)
        yield GradingStep(hop, need, tuple(entry.title for entry in documents), tuple(grades), judged)
        return graded, judged

    def _shown(self, entry: ShortlistedDocument) -> str:
        document = self.corpus.document(entry.document_id)
        shown = (GRADED_CHARS_SPARING, GRADED) if self.sparing else (GRADED_CHARS,)
        return window(document, entry, *shown).text

    def _verdict(self, graded: Sequence[Graded], *, found_nothing: bool) -> Verdict:
        if self.grader is None:
            return Verdict.INCORRECT if found_nothing or not graded else Verdict.CORRECT
        return verdict([grade for _, grade in graded if grade])

    def _chosen(self, graded: Sequence[Graded], judged: Verdict) -> Sequence[Graded]:
        """The documents worth reading, best first."""
        if self.grader is None:
            return list(graded)
        if judged is Verdict.INCORRECT:
            return list(graded[:READ_IF_INCORRECT])
        if self.sparing and (accepted := [(entry, grade) for entry, grade in graded if _accepted(grade)]):
            return accepted
        kept = [(entry, grade) for entry, grade in graded if grade and grade.score >= GRADE_LOWER]
        return kept[: self.settings.shortlist] if self.sparing else kept

    # --- other searches ----------------------------------------------------------------------

    def _reworded(self, hop: int, need: Need, listed: set[str]) -> Generator[Step, None, Shortlist]:
        assert self.rewriter is not None
        tried = self._searched.setdefault(need.question, [need.question])
        rewording = self.rewriter.reword(need, tried)
        tried += [phrasing for phrasing in (*rewording.phrasings, rewording.broader) if phrasing]
        new = search_reworded(
            self.corpus,
            need,
            rewording,
            documents=self.settings.shortlist,
            passages=self.settings.passages,
            unread=lambda entry: self._unread(need, entry) if entry.document_id in listed else entry,
            known=len(listed),
        )
        self._remember(need, new)
        listed.update(entry.document_id for entry in new)
        yield CorrectionStep(hop, need, rewording, new)
        return new

    def _unread(self, need: Need, entry: ShortlistedDocument) -> ShortlistedDocument | None:
        """A document that is listed for the need already, with the hits that its windows so far do not hold."""
        if not self.sparing:
            return None
        document = self.corpus.document(entry.document_id)
        size = self.settings.window_chars
        offered = self._offered[need.question].get(entry.document_id, ())
        spans = [span for earlier in offered for span in window(document, earlier, size, PACKED).spans]
        hits = tuple(
            hit for hit in entry.hits if not any(start <= hit.start and hit.end <= end for start, end in spans)
        )
        return replace(entry, hits=hits) if hits else None

    def search_web(self, hop: int, need: Need, listed: set[str]) -> Generator[Step, None, Shortlist]:
        """The pages that a web search finds; none where the web is not allowed. If it fails, its step says so: the
        corpus can still be read."""
        if self.web is None:
            return ()
        try:
            step = self.web.search_web(hop, need)
        except FetchError as error:
            step = WebStep(hop, need, self.settings.search_engine, "", (), (), (ReadingFault("search", str(error)),))
        yield step
        new = tuple(entry for entry in step.documents if entry.document_id not in listed)
        listed.update(entry.document_id for entry in new)
        return new


def _accepted(grade: Grade | None) -> bool:
    return grade is None or grade.score > GRADE_UPPER


def _best_first(graded: Sequence[Graded]) -> list[Graded]:
    """By grade; equal grades, and ungraded documents, keep their order."""
    return sorted(graded, key=lambda item: -(item[1].score if item[1] else 0.0))


# --- other words -----------------------------------------------------------------------------


def search_reworded(
    corpus: Corpus,
    need: Need,
    rewording: Rewording,
    documents: int,
    passages: int,
    unread: Callable[[ShortlistedDocument], ShortlistedDocument | None] = lambda entry: entry,
    known: int = 0,
) -> tuple[ShortlistedDocument, ...]:
    """The best `documents` of all searches of a rewording, each for `passages` hits, fused by reciprocal rank.

    `unread` leaves of each document what was not offered for reading before; `known` is how many documents were. The
    need's own words are not searched for again: beside them, a document in other words would have too little weight.
    The hypothetical passage counts by its dense ranks alone: its words are invented, and only its meaning resembles the
    text that is sought.
    """
    passage = rewording.passage.strip()
    others = dict.fromkeys(text for text in (*rewording.phrasings, rewording.broader) if text.strip())
    queries = [Need(text) for text in (*others, passage) if text and text != need.question]
    if not queries:
        return ()
    lists = shortlist(corpus, queries, documents=documents * DEPTH + known, passages=passages)
    if queries[-1].question == passage:
        lists[-1] = _by_meaning(lists[-1])
    left = [[entry for document in ranking if (entry := unread(document)) is not None] for ranking in lists]
    return _fused(left)[:documents]


def _by_meaning(ranking: Sequence[ShortlistedDocument]) -> tuple[ShortlistedDocument, ...]:
    """In the order of the best dense ranks, without those that only BM25 found; unchanged if the store has no ranks."""
    placed = [
        (min(ranks), entry)
        for entry in ranking
        if (ranks := [hit.dense_rank for hit in entry.hits if hit.dense_rank is not None])
    ]
    return tuple(entry for _, entry in sorted(placed, key=lambda item: item[0])) or tuple(ranking)


def _fused(lists: Sequence[Sequence[ShortlistedDocument]]) -> tuple[ShortlistedDocument, ...]:
    """Documents by the sum of 1 / (k + rank) over the lists, each with its hits in all lists."""
    scores: dict[str, float] = {}
    entries: dict[str, list[ShortlistedDocument]] = {}
    for ranking in lists:
        for rank, entry in enumerate(ranking, start=1):
            scores[entry.document_id] = scores.get(entry.document_id, 0.0) + 1 / (RRF_K + rank)
            entries.setdefault(entry.document_id, []).append(entry)
    order = sorted(scores, key=lambda document: (-scores[document], document))
    return tuple(
        replace(entries[document][0], score=scores[document], hits=_merged(entries[document])) for document in order
    )


def _merged(entries: Sequence[ShortlistedDocument]) -> tuple[Hit, ...]:
    """The hits of a document in several lists, each span once, best first."""
    best: dict[tuple[int, int], Hit] = {}
    for hit in (hit for entry in entries for hit in entry.hits):
        known = best.get((hit.start, hit.end))
        if known is None or known.score < hit.score:
            best[hit.start, hit.end] = hit
    return tuple(sorted(best.values(), key=lambda hit: (-hit.score, hit.start)))
