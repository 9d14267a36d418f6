"""How a question ends: drafts, citations, what it cost, the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from iterative_rag.types.correcting import Claim
from iterative_rag.types.loop import Fact


class Status(StrEnum):
    ANSWERED = "answered"
    ABSTAINED = "abstained"
    INCOMPLETE = "incomplete"


class Cap(StrEnum):
    """The hard limits of a run."""

    HOPS = "hops"
    CALLS = "calls"
    TOKENS = "tokens"
    SECONDS = "seconds"


@dataclass(frozen=True, slots=True)
class Computation:
    """Something computed from facts: `1912 - 1825` = `87`.

    `facts` are positions in `Inquiry.facts` in a draft, and numbers of citations in an answer.
    """

    expression: str
    result: str
    facts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Side:
    """One of several values that sources give for the same need; `facts` as in Computation."""

    value: str
    facts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Sources that contradict each other about a need: two sides at least, none preferred."""

    need: str
    sides: tuple[Side, ...]


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
    computations: tuple[Computation, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered quote under an answer: `document.text[start:end] == quote`; its page where there are pages.

    `retrieved` is the day (ISO) on which a page of the web was read, "" for what lies in the corpus.
    """

    n: int
    title: str
    source: str
    quote: str
    start: int
    end: int
    page: int | None = None
    retrieved: str = ""


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """What one of the models of a run cost."""

    model: str
    llm_calls: int
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run cost. Replies that came from the cache are `cache_hits`, not `llm_calls`.

    `models` takes it apart where several models were called, in the order of their first call.
    """

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cache_hits: int = 0
    models: tuple[ModelUsage, ...] = ()


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
class UnreadDocument:
    """A document that was to be read for a need and could not be, and why (one sentence)."""

    title: str
    source: str
    need: str
    reason: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a run. `reason` says why it abstained or is incomplete, "" when answered.

    `text` is the sentence with `[n]` markers, `short_answer` the bare value. `cap` is set when a
    limit ended the run, `fault` when an error did. `unread` are documents that were to be read and could not be: what
    would have been an abstention is `incomplete` then; an answer that is proved without them stays `answered`.
    `conflicts` are shown with the answer; `claims` are those of the text with what proves each, empty where nobody
    reflected.
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
    run_id: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
