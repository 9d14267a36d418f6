"""Searches the web for a need: queries a search engine, reads the pages it lists, keeps the relevant passages.

The pages become documents of the run's corpus and are read, quoted and checked like any others. Their text is untrusted
data: no link in it is followed, and nothing in it is taken as an instruction.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from textwrap import shorten

from iterative_rag.errors import FetchError, ReplyTruncated, ReplyUnreadable
from iterative_rag.protocols import Corpus, Grader, Pages, Rewriter, SearchEngine, Skipped
from iterative_rag.retrieval.chunking import chunk
from iterative_rag.settings import Settings
from iterative_rag.text.folding import folded_words
from iterative_rag.types.correcting import GRADE_LOWER, Grade, Label, SearchResult
from iterative_rag.types.documents import Document, Hit, Passage, ShortlistedDocument
from iterative_rag.types.loop import Need
from iterative_rag.types.steps import ReadingFault, WebStep

# Passages of one page that are graded in one call: by a local grader, and by one whose calls cost.
GRADED = 40
GRADED_SPARING = 12
# Passages of a page that become hits.
HITS = 8
WEB_RESULTS = 3  # pages that one search brings
MOST_QUERY = 300  # characters; a model that is asked for a few words sometimes writes a letter


class OverlayCorpus:
    """The corpus of one run, with the pages that were fetched for it: they can be read like any other document, and
    `search` does not find them. Documents are read from several threads, pages added from one."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._fetched: dict[str, Document] = {}
        self.name, self.fingerprint, self.search = corpus.name, corpus.fingerprint, corpus.search

    def add(self, documents: Iterable[Document]) -> None:
        """A document replaces one of the same id. None of the corpus is hidden: ids of pages are content hashes."""
        self._fetched |= {document.id: document for document in documents}

    def document(self, document_id: str) -> Document:
        return self._fetched.get(document_id) or self._corpus.document(document_id)

    def close(self) -> None:
        """Forget the fetched documents. The corpus stays open: its owner closes it."""
        self._fetched.clear()


@dataclass(slots=True)
class WebSearch:
    """The web search of one run: no query is sent twice, and no page read twice.

    `sparing`: every call of the grader costs, so it is shown fewer passages.
    """

    engine: SearchEngine
    pages: Pages
    corpus: OverlayCorpus
    rewriter: Rewriter
    grader: Grader
    settings: Settings
    sparing: bool
    _listed: dict[str, tuple[SearchResult, ...] | FetchError] = field(default_factory=dict)
    _read: dict[str, Document | Skipped] = field(default_factory=dict)

    def search_web(self, hop: int, need: Need) -> WebStep:
        """What was found, best first, by the best grade of each page. `skipped` gives the reason for every other
        result, and for each reply that could not be read.

        Raises FetchError where the engine failed (also where it failed with the same query before), CapReached, and any
        other LLMError of the rewriter or the grader.
        """
        query, faults = self._query(need)
        results = self._results_of(query)
        documents: dict[str, Document] = {}
        for result, page in zip(results, self._pages_of(results), strict=True):
            if isinstance(page, Skipped):
                faults.append(ReadingFault(result.title, f"{result.url}: {page.reason}"))
            else:
                documents.setdefault(page.id, page)  # two addresses may lead to the same page
        self.corpus.add(documents.values())
        kept = [entry for page in documents.values() if (entry := self._shortlisted(need, page, faults)) is not None]
        kept.sort(key=lambda entry: -entry.score)
        return WebStep(hop, need, self.engine.name, query, results, tuple(kept), tuple(faults))

    # --- the engine and its pages ------------------------------------------------------------

    def _query(self, need: Need) -> tuple[str, list[ReadingFault]]:
        """The query, in one line."""
        written, faults = "", []
        try:
            written = self.rewriter.web_query(need)
        except (ReplyUnreadable, ReplyTruncated) as error:
            faults = [ReadingFault("query", f"{error} The need's own words were searched for.")]
        return shorten(written.strip() or need.question, MOST_QUERY, placeholder=""), faults

    def _results_of(self, query: str) -> tuple[SearchResult, ...]:
        """Of a query that was sent before, what came of it then."""
        key = query.casefold()
        if key not in self._listed:
            try:
                self._listed[key] = tuple(self.engine.search(query, WEB_RESULTS)[:WEB_RESULTS])
            except FetchError as error:
                self._listed[key] = error
        listed = self._listed[key]
        if isinstance(listed, FetchError):
            raise listed
        return listed

    def _pages_of(self, results: Sequence[SearchResult]) -> list[Document | Skipped]:
        """The page of each result, in order; those that were not read before are read together."""
        new = list({result.url: result for result in results if result.url not in self._read}.values())
        if new:
            self._read |= zip((result.url for result in new), self.pages.read(new), strict=True)
        return [self._read[result.url] for result in results]

    # --- the passages ------------------------------------------------------------------------

    def _shortlisted(self, need: Need, document: Document, faults: list[ReadingFault]) -> ShortlistedDocument | None:
        """The document with its best passages; None where it does not serve the need: `faults` says why."""
        settings = self.settings
        passages = chunk(document, size=settings.chunk_chars, overlap=settings.chunk_overlap)
        if not passages:
            faults.append(ReadingFault(document.title, f"{document.source}: it holds no text."))
            return None
        shown = _nearest(need, passages, GRADED_SPARING if self.sparing else GRADED)
        try:
            grades = self.grader.grade(need, [(document.title, _shown(passage)) for passage in shown])
        except (ReplyUnreadable, ReplyTruncated) as error:
            faults.append(ReadingFault(document.title, f"It was not graded and is read by its words alone: {error}"))
            grades = tuple(Grade(GRADE_LOWER, Label.POOR, "not graded") for _ in shown)
        ranked = sorted(zip(grades, shown, strict=True), key=lambda pair: -pair[0].score)
        best = ranked[0][0]
        if best.score < GRADE_LOWER:
            reason = f" ({best.reason})" if best.reason else ""
            faults.append(ReadingFault(document.title, f"{document.source}: nothing on it serves the need{reason}."))
            return None
        serving = [(passage, grade.score) for grade, passage in ranked[:HITS] if grade.score >= GRADE_LOWER]
        hits = tuple(Hit(document.id, document.title, part.start, part.end, score) for part, score in serving)
        return ShortlistedDocument(document.id, document.title, document.source, best.score, hits)


def _shown(passage: Passage) -> str:
    """A passage as the grader reads it: table rows with their header."""
    header = passage.header.partition("\n")[2]
    return f"{header}\n{passage.text}" if header else passage.text


def _nearest(need: Need, passages: Sequence[Passage], most: int) -> list[Passage]:
    """The `most` passages that share the rarest words with the need, best first; the earlier one of equals.

    Without a word in common, this is the beginning of the page, which says what it is about.
    """
    wanted = set(folded_words(need.question))
    shared = [wanted.intersection(folded_words(passage.embedded_text)) for passage in passages]
    counts = Counter(word for words in shared for word in words)
    weights = {word: math.log1p(len(passages) / count) for word, count in counts.items()}
    ranked = sorted(
        zip(passages, shared, strict=True), key=lambda pair: (-sum(weights[word] for word in pair[1]), pair[0].ordinal)
    )
    return [passage for passage, _ in ranked[:most]]
