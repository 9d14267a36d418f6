"""How a run goes on after a hop, and ends: the draft, its citations, what it cost, the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from iterative_rag.types.correcting import Claim
from iterative_rag.types.documents import web_link
from iterative_rag.types.loop import Analysis, AnswerForm, Computation, Fact


class Status(StrEnum):
    """How a run ended; `Answer.reason` says why it was not answered."""

    ANSWERED = "answered"
    EXTRACT = "extract"  # the passages nearest to the question are quoted, and nothing is concluded from them
    ABSTAINED = "abstained"  # the corpus does not hold the answer, or the question assumes something false
    INCOMPLETE = "incomplete"  # a limit or an error ended the run, or documents could not be read


class ReasonCode(StrEnum):
    """Why there is no answer, or only the best one so far: one code for each such ending."""

    NOT_IN_CORPUS = "not_in_corpus"  # everything that was to be read was read, and nothing near the question was found
    NOT_WORKED_OUT = "not_worked_out"  # something near was found, but no answer could be made of it
    ROWS_LOST = "rows_lost"  # a section that should hold it has no rows in the corpus: `Answer.reason` names it
    FALSE_PREMISE = "false_premise"  # the question assumes something that the corpus contradicts
    LIMIT = "limit"  # a limit of the run was reached: `Answer.cap`
    UNREAD = "unread"  # documents that were to be read could not be: `Answer.unread`
    ROLE_FAILED = "role_failed"  # a part of the run whose calls failed was left out, and there is no answer without it
    FAULT = "fault"  # an error ended the run: `Answer.fault`


# The reasons of an abstention, as a text for people begins; `Answer.reason` follows.
_LABELS: Mapping[ReasonCode | None, str] = {
    ReasonCode.NOT_IN_CORPUS: "Not found in the corpus",
    ReasonCode.NOT_WORKED_OUT: "Not worked out",
    ReasonCode.ROWS_LOST: "Rows not in the corpus",
    ReasonCode.FALSE_PREMISE: "False premise",
}


class ConfidenceWord(StrEnum):
    """How far to trust an answer, in words. Which share of answers was right under each: docs/models.md."""

    WELL_SUPPORTED = "well supported"
    LIKELY = "likely"
    WEAK_GUESS = "weak guess"


class Cap(StrEnum):
    """The hard limits of a run, one for each `max_` setting."""

    HOPS = "hops"
    CALLS = "calls"
    TOKENS = "tokens"
    SECONDS = "seconds"


@dataclass(frozen=True, slots=True)
class Side:
    """One of several values that sources give for the same need. `facts`: as in Computation."""

    value: str
    facts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Sources that contradict each other about a need: at least two sides, none of them preferred."""

    need: str
    sides: tuple[Side, ...]


@dataclass(frozen=True, slots=True)
class ChainLink:
    """One line of the way to an answer: what was asked, what was found, and the numbers of the citations for it.
    `builds_on` are the numbers of those whose values the question names: they were found before and put into it."""

    asked: str
    found: str
    citations: tuple[int, ...] = ()
    builds_on: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NameReading:
    """A name of the question that is written otherwise in the corpus, and what it was taken as."""

    written: str
    taken_as: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What the answering role returns. `cited` are positions in `Inquiry.facts`, in order of first use.

    `text` contains markers `[n]`, where n is the position in `cited`, counted from 1. An abstention has
    `answered=False` and says in `missing` what the corpus does not hold or which premise is false (`false_premise`).
    `confidence` is from 0 to 1. `also`, `caveats`, `last_attempt` and `taken_as` as in Answer; the first two have
    markers, too. In an EXTRACT, `text` is the quotes and `short_answer` the best of them; of a text it is the name,
    number or date that the question asks for beside it.
    `weighed`: the backend has seen all facts and chosen between those that contradict each other. Of a text (see
    AnswerForm.is_text), `left_out` counts the sentences and cells that were taken out because no fact proves them, and
    `uncovered` are the aspects or headings on which nothing was found or written.
    """

    answered: bool
    text: str
    short_answer: str = ""
    cited: tuple[int, ...] = ()
    missing: str = ""
    confidence: float = 0.0
    computations: tuple[Computation, ...] = ()
    also: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    false_premise: bool = False
    last_attempt: bool = False
    weighed: bool = False
    form: AnswerForm = AnswerForm.VALUE
    taken_as: tuple[NameReading, ...] = ()
    left_out: int = 0
    uncovered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Continuation:
    """How the loop goes on after a hop: the question with the findings put in, the analysis for the next hop, and a
    draft of the answer if the question is known.

    What the model left out is None; its own role is asked for it.
    """

    question: str | None = None
    analysis: Analysis | None = None
    draft: Draft | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered quote below an answer: `document.text[start:end] == quote`; `page` from 1 where there are pages.

    `retrieved` is the day (ISO) on which a web page was read, "" for a document of the corpus. `url` is the web address
    of the document (http or https), "" where none is known. `copies` are the sources of documents with the same text.
    `display` is the quote for reading, without Markdown. `corpus` is the name of the corpus where several were asked.
    `date` is the date that the document, or the ZIM file that it is in, tells of itself (ISO), "" for none.
    """

    n: int
    title: str
    source: str
    quote: str
    start: int
    end: int
    page: int | None = None
    retrieved: str = ""
    url: str = ""
    copies: tuple[str, ...] = ()
    display: str = ""
    corpus: str = ""
    date: str = ""

    @property
    def link(self) -> str:
        """The `url` if it may be shown as a link, else "": a citation may have been read from a file."""
        return web_link(self.url)


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """What one of the models of a run cost: calls and tokens."""

    model: str
    llm_calls: int
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run cost: calls, tokens, and seconds of wall-clock time. A reply from the cache does not count as a call.

    `models` lists each model that was called, in the order of first use.
    """

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cache_hits: int = 0
    models: tuple[ModelUsage, ...] = ()


@dataclass(frozen=True, slots=True)
class HopRecord:
    """One turn of the loop, as it is shown and stored with the answer. `n` counts from 1. The needs that are `pinned`
    keep their wording and their facts when an earlier hop is edited."""

    n: int
    question: str
    needs: tuple[str, ...]
    shortlist: tuple[str, ...]
    facts: tuple[Fact, ...]
    rephrased: str
    calls: int
    seconds: float
    pinned: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """An error that ended a run which had found facts already: its message, hint and exit code."""

    message: str
    hint: str
    exit_code: int


@dataclass(frozen=True, slots=True)
class UnreadDocument:
    """A document that should have been read for a need but could not be; `reason` is one sentence."""

    title: str
    source: str
    need: str
    reason: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a run. `reason` says why it abstained or is incomplete, `reason_code` which ending that is; "" and
    None when answered.

    `text` is the sentence with `[n]` markers, `short_answer` the value alone, `chain` what was asked and found on the
    way to it, as far as it is cited; `confidence` is from 0 to 1, `confidence_word` the same in words (None without an
    answer, and for an extract). `form` tells an answer from an extract. `nearest` are the passages that come nearest to
    a question that could not be worked out, numbered after the citations. `cap` is set when a limit ended the run,
    `fault` when an error did. `unread` are documents that could not
    be read: a run that would have abstained is then `incomplete`, an answer that is proved without them stays
    `answered`. `conflicts` are shown with the answer. `claims` are the claims of the text with the facts that prove
    each; empty where the strategy does not reflect. `also` are other values that the facts support ("1905, by the
    inscription [3]"), `caveats` what to know before relying on the answer. `last_attempt`: nothing more was to be
    found, and this is the likeliest answer that the facts allow. `corpus_notice` says so where the corpus was not fully
    indexed. `missing` are the titles of articles that a run without an answer would have looked into and the corpus
    does not hold. `taken_as` are misspelt names of the question with what they were taken as. `facts` are those that
    it cites, also those that were known before the run. `settings` are those of the run; they contain no key.
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
    computations: tuple[Computation, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    claims: tuple[Claim, ...] = ()
    unread: tuple[UnreadDocument, ...] = ()
    also: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    last_attempt: bool = False
    reason_code: ReasonCode | None = None
    confidence_word: ConfidenceWord | None = None
    nearest: tuple[Citation, ...] = ()
    run_id: str = ""
    corpus_notice: str = ""
    chain: tuple[ChainLink, ...] = ()
    form: AnswerForm = AnswerForm.VALUE
    taken_as: tuple[NameReading, ...] = ()
    missing: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """What a person wants to read: the answer or why there is none, its trust, and the numbered sources."""
        head = f"{self.label}: {self.reason}" if self.label else self.text or self.short_answer
        trust = f" ({self.confidence_word})" if self.confidence_word else ""
        passages = self.citations or self.nearest
        return "\n".join([head + trust, *(f"[{passage.n}] {passage.title}: “{passage.quote}”" for passage in passages)])

    @property
    def label(self) -> str:
        """What a text for people begins with where there is no answer; "" where there is one. `reason` follows it."""
        if self.status in (Status.ANSWERED, Status.EXTRACT):
            return ""
        return "Incomplete" if self.status is Status.INCOMPLETE else _LABELS.get(self.reason_code, "No answer")
