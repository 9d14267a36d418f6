"""Corrects a shortlist that lacks what is needed (corrective RAG: Yan et al., 2024).

Grading judges the shortlist correct, ambiguous or incorrect. A correct one is read as it is. Otherwise the need is
searched for in other words; if the shortlist is still not correct, and the user allows it, the web is searched: its
pages replace an incorrect shortlist and are added to an ambiguous one.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from iterative_rag.correction.query_correction import search_reworded
from iterative_rag.errors import FetchError
from iterative_rag.protocols import Corpus, Grader, Rewriter
from iterative_rag.retrieval.windows import window
from iterative_rag.settings import Settings
from iterative_rag.types import (
    CorrectionStep,
    Grade,
    GradingStep,
    Need,
    ReadingFault,
    ShortlistedDocument,
    Step,
    Verdict,
    WebStep,
)

if TYPE_CHECKING:
    from iterative_rag.correction.web_search import WebSearch

Shortlist = tuple[ShortlistedDocument, ...]
# Characters of a document that are graded: its best hits.
GRADED_CHARS = 1500
# Documents of an incorrect shortlist that are read all the same, where nothing replaces them: graders err.
READ_IF_INCORRECT = 3


def verdict(grades: Sequence[Grade], lower: float, upper: float) -> Verdict:
    """Correct if the best score is above `upper`, incorrect if it is below `lower` or there is none, else ambiguous."""
    best = max((grade.score for grade in grades), default=None)
    if best is None or best < lower:
        return Verdict.INCORRECT
    return Verdict.CORRECT if best > upper else Verdict.AMBIGUOUS


@dataclass(slots=True)
class Corrector:
    """Corrects the shortlists of one run. `grader`, `rewriter` and `web` are None where that part is switched off."""

    corpus: Corpus
    settings: Settings
    grader: Grader | None = None
    rewriter: Rewriter | None = None
    web: WebSearch | None = None
    _searched: dict[str, list[str]] = field(default_factory=dict)

    @property
    def grades(self) -> bool:
        """Whether a shortlist is graded before it is read."""
        return self.grader is not None

    def improve(
        self, hop: int, need: Need, documents: Shortlist, listed: set[str], *, found_nothing: bool
    ) -> Generator[Step, None, Shortlist]:
        """The documents to read for the need; the new ones are added to `listed`. `found_nothing`: an earlier search
        for the need brought no fact, so without a grader its shortlist counts as incorrect."""
        graded, judged = yield from self._graded(hop, need, documents, found_nothing=found_nothing)
        if judged is Verdict.CORRECT:
            return self._kept(graded)
        if self.rewriter:
            more = yield from self._reworded(hop, need, listed)
            graded_more, _ = yield from self._graded(hop, need, more, found_nothing=True)
            graded = _best_first([*graded, *graded_more])
            judged = self._verdict(graded, found_nothing=found_nothing)
        if self.web is not None and judged is not Verdict.CORRECT:
            pages = yield from self._from_web(hop, need, listed, self.web)
            if pages:
                return pages if judged is Verdict.INCORRECT else (*pages, *self._kept(graded))
        if self.grader and judged is Verdict.INCORRECT:
            return tuple(entry for entry, _ in graded[:READ_IF_INCORRECT])
        return self._kept(graded)

    def _graded(
        self, hop: int, need: Need, documents: Shortlist, *, found_nothing: bool
    ) -> Generator[Step, None, tuple[list[tuple[ShortlistedDocument, Grade | None]], Verdict]]:
        """The documents with their grades, best first, and the verdict on them."""
        if self.grader is None or not documents:
            ungraded: list[tuple[ShortlistedDocument, Grade | None]] = [(entry, None) for entry in documents]
            return ungraded, self._verdict(ungraded, found_nothing=found_nothing)
        texts = [
            (entry.title, window(self.corpus.document(entry.document_id), entry, GRADED_CHARS).text)
            for entry in documents
        ]
        grades = self.grader.grade(need, texts)
        graded = _best_first(list(zip(documents, grades, strict=True)))
        judged = self._verdict(graded, found_nothing=found_nothing)
        yield GradingStep(hop, need, tuple(entry.title for entry in documents), tuple(grades), judged)
        return graded, judged

    def _verdict(self, graded: Sequence[tuple[ShortlistedDocument, Grade | None]], *, found_nothing: bool) -> Verdict:
        if self.grader is None:
            return Verdict.INCORRECT if found_nothing or not graded else Verdict.CORRECT
        grades = [grade for _, grade in graded if grade]
        return verdict(grades, self.settings.grade_lower, self.settings.grade_upper)

    def _kept(self, graded: Sequence[tuple[ShortlistedDocument, Grade | None]]) -> Shortlist:
        """The documents worth reading, best first."""
        return tuple(entry for entry, grade in graded if grade is None or grade.score >= self.settings.grade_lower)

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
            besides=listed,
        )
        listed.update(entry.document_id for entry in new)
        yield CorrectionStep(hop, need, rewording, new)
        return new

    def _from_web(self, hop: int, need: Need, listed: set[str], web: WebSearch) -> Generator[Step, None, Shortlist]:
        """The pages that the web search found. If it fails, its step says so: the corpus can still be read."""
        try:
            found = web.search_web(need)
        except FetchError as error:
            yield WebStep(hop, need, self.settings.search_engine, "", (), (), (ReadingFault("search", str(error)),))
            return ()
        yield WebStep(hop, need, found.engine, found.query, found.results, found.documents, found.skipped)
        new = tuple(entry for entry in found.documents if entry.document_id not in listed)
        listed.update(entry.document_id for entry in new)
        return new


def _best_first(
    graded: list[tuple[ShortlistedDocument, Grade | None]],
) -> list[tuple[ShortlistedDocument, Grade | None]]:
    """By grade; equal grades, and ungraded documents, keep their order."""
    return sorted(graded, key=lambda item: -(item[1].score if item[1] else 0.0))
