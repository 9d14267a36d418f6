"""The vocabulary: every value that travels through the loop, as frozen dataclasses of the standard library.

Read top to bottom in the order in which data meets it:
Document -> Passage -> Hit -> ShortlistedDocument -> Window -> Extract -> Fact -> Answer.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

# --- the corpus ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Document:
    """One article or file of a corpus. `source` is the path or URL that it was read from.

    `pages` are the offsets at which pages 1, 2, ... begin; empty where there are no pages.
    """

    id: str
    title: str
    text: str
    source: str
    url: str | None = None
    pages: tuple[int, ...] = ()

    def page_at(self, offset: int) -> int | None:
        """The number of the page that holds an offset, from 1; None where there are no pages."""
        return max(1, bisect_right(self.pages, offset)) if self.pages else None


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk of a document: `text == document.text[start:end]` up to a repeated table header.

    `header` carries what the chunk alone does not say: the title, the section path and, for the
    later rows of a table, the table's header rows. It is embedded with the text, never quoted.
    """

    document_id: str
    ordinal: int
    start: int
    end: int
    text: str
    header: str

    @property
    def embedded_text(self) -> str:
        """What the embedder and BM25 see."""
        return f"{self.header}\n{self.text}" if self.header else self.text


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that a search found. Ranks start at 1; None where that half did not find it, or no reader read it."""

    document_id: str
    title: str
    start: int
    end: int
    score: float
    dense_rank: int | None = None
    sparse_rank: int | None = None
    reader_rank: int | None = None


@dataclass(frozen=True, slots=True)
class ShortlistedDocument:
    """A document worth reading for a need, with the hits that brought it here, best first."""

    document_id: str
    title: str
    source: str
    score: float
    hits: tuple[Hit, ...]


# --- the loop --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Need:
    """A fact that is missing, as a self-contained question ("Who was the 15th US president?")."""

    question: str


@dataclass(frozen=True, slots=True)
class Window:
    """What is read in one go: the parts of one document around its hits, in document order.

    `spans` are offsets into the document; `text` is those parts, joined by a line "[...]".
    """

    document_id: str
    title: str
    source: str
    spans: tuple[tuple[int, int], ...]
    text: str


@dataclass(frozen=True, slots=True)
class Extract:
    """What a reader says it found in a window, before its quote was looked for in the document."""

    statement: str
    quote: str
    value: str = ""
    score: float = 1.0


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement whose verbatim quote was found at `document.text[start:end]`.

    `value` is the short answer to the need where there is one ("James Buchanan"); `score` is the
    reader's own trust in it, 0 to 1; `page` the page of a document that has pages.
    """

    statement: str
    quote: str
    value: str
    document_id: str
    title: str
    source: str
    start: int
    end: int
    need: Need
    score: float
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Inquiry:
    """Where the loop stands: what every role is told. A new one is made each hop; none is changed."""

    original: str
    question: str
    facts: tuple[Fact, ...] = ()
    tried: tuple[Need, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """Analysis: the facts so far answer the question."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Analysis: these facts are missing; they do not depend on one another."""

    needs: tuple[Need, ...]


@dataclass(frozen=True, slots=True)
class Stuck:
    """Analysis: no further fact would help (a false premise, or nothing left to try)."""

    reason: str


Analysis = Known | Needs | Stuck

# --- outcomes --------------------------------------------------------------------------------


class Status(StrEnum):
    ANSWERED = "answered"
    ABSTAINED = "abstained"
    INCOMPLETE = "incomplete"


class Strategy(StrEnum):
    """How a question is worked on: the loop, or one of the two baselines that it must beat."""

    ITERATIVE = "iterative"
    NAIVE = "naive"
    CLOSED_BOOK = "closed-book"


class Cap(StrEnum):
    """The hard limits of a run."""

    HOPS = "hops"
    CALLS = "calls"
    TOKENS = "tokens"
    SECONDS = "seconds"


@dataclass(frozen=True, slots=True)
class Draft:
    """What the answering role says. `cited` are positions in `Inquiry.facts`, in order of first use.

    `text` carries markers `[n]` where n is the 1-based position in `cited`. An abstention has
    `answered=False` and says in `missing` what the corpus does not hold or which premise is false.
    """

    answered: bool
    text: str
    short_answer: str = ""
    cited: tuple[int, ...] = ()
    missing: str = ""
    confidence: float = 0.0


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered quote under an answer: `document.text[start:end] == quote`; its page where there are pages."""

    n: int
    title: str
    source: str
    quote: str
    start: int
    end: int
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run cost. Replies that came from the cache are `cache_hits`, not `llm_calls`."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cache_hits: int = 0


@dataclass(frozen=True, slots=True)
class HopRecord:
    """One turn of the loop, as it is shown and stored with the answer."""

    n: int
    question: str
    needs: tuple[str, ...]
    shortlist: tuple[str, ...]
    facts: tuple[Fact, ...]
    rephrased: str
    calls: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Fault:
    """An error that ended a run which had found facts already: its message, hint and exit code."""

    message: str
    hint: str
    exit_code: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a run. `reason` says why it abstained or is incomplete, "" when answered.

    `text` is the sentence with `[n]` markers, `short_answer` the bare value. `cap` is set when a
    limit ended the run, `fault` when an error did.
    """

    question: str
    text: str
    short_answer: str
    status: Status
    reason: str
    confidence: float
    citations: tuple[Citation, ...]
    hops: tuple[HopRecord, ...]
    usage: Usage
    cap: Cap | None = None
    fault: Fault | None = None
    run_id: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


# --- steps: what the engine yields while it works --------------------------------------------


@dataclass(frozen=True, slots=True)
class AnalysisStep:
    hop: int
    question: str
    analysis: Analysis


@dataclass(frozen=True, slots=True)
class ShortlistStep:
    """`wider` says that this is the second, wider look after a hop that brought nothing."""

    hop: int
    need: Need
    documents: tuple[ShortlistedDocument, ...]
    wider: bool = False


@dataclass(frozen=True, slots=True)
class ReadingFault:
    """A window that could not be read, and why."""

    title: str
    message: str


@dataclass(frozen=True, slots=True)
class ReadingStep:
    """`read` windows were read (`cached` of them from the cache), `skipped` were not needed any more,
    `dropped` extracts had a quote that the document does not hold. `documents` are the ids of those that were read."""

    hop: int
    need: Need
    facts: tuple[Fact, ...]
    read: int
    cached: int
    skipped: int
    dropped: int
    faults: tuple[ReadingFault, ...] = ()
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RephrasingStep:
    hop: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class AnsweringStep:
    """A draft, accepted or not. `last_attempt` marks the try at a cap."""

    hop: int
    draft: Draft
    last_attempt: bool = False


@dataclass(frozen=True, slots=True)
class FinalStep:
    answer: Answer


Step = AnalysisStep | ShortlistStep | ReadingStep | RephrasingStep | AnsweringStep | FinalStep
