"""A question of a dataset, with everything its file says about it, and its record in a run: plain values that are
stored in a log as JSON."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from iterative_rag.types import Usage


class Answerability(StrEnum):
    """Whether the corpus holds an answer; for the other two an abstention is right."""

    ANSWERABLE = "answerable"
    FALSE_PREMISE = "false_premise"
    NOT_IN_CORPUS = "not_in_corpus"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph that comes with a question; `supporting` ones are needed for the answer."""

    title: str
    text: str
    supporting: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """`answers` are the accepted answers, the gold one first; empty where the dataset gives none.

    `gold_titles` are the titles of the articles that are needed, as the dataset spells them (a Wikipedia URL is
    already turned into its title). `types` are the dataset's own reasoning types.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    kind: Answerability = Answerability.ANSWERABLE
    types: tuple[str, ...] = ()
    gold_titles: tuple[str, ...] = ()
    paragraphs: tuple[Paragraph, ...] = ()


@dataclass(frozen=True, slots=True)
class Dataset:
    """A file of questions. `digest` is the SHA-256 of its bytes, `form` the recognised format's name."""

    name: str
    form: str
    digest: str
    questions: tuple[Question, ...] = dataclasses.field(repr=False)


# --- how it was answered ---------------------------------------------------------------------


class Outcome(StrEnum):
    """How a question ended. A FAULT is an error (with or without an answer so far) or an end that documents led to
    which could not be read: it is never an answer, nor an abstention."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"
    INCOMPLETE = "incomplete"
    FAULT = "fault"


class Cause(StrEnum):
    """Why a question was not answered rightly, in the order in which causes are checked."""

    FAULT = "fault"
    CAP = "cap"
    COMPOSED_WRONGLY = "extracted but composed wrongly"
    ABSTAINED = "abstained though the fact was there"
    NEVER_SHORTLISTED = "never shortlisted"
    NOT_READ = "shortlisted but not read"
    NOT_EXTRACTED = "read but not extracted"
    NO_GOLD = "the dataset names no articles"
    ANSWERED_UNANSWERABLE = "answered what cannot be answered"


class JudgeVerdict(StrEnum):
    """A judge's verdict; UNJUDGED (unreadable or failed) counts as neither right nor wrong."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    UNJUDGED = "unjudged"


@dataclass(frozen=True, slots=True)
class FoundFact:
    need: str
    value: str
    statement: str
    quote: str
    title: str
    document_id: str


@dataclass(frozen=True, slots=True)
class Hop:
    """One turn of the loop. `shortlist` and `read` are document ids, best first, over all needs of the hop."""

    n: int
    question: str
    needs: tuple[str, ...] = ()
    shortlist: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    facts: tuple[FoundFact, ...] = ()
    rephrased: str = ""


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation of the answer; `verified` says whether the document holds the quote at its place. `url` is the web
    address of the document, "" where none is known."""

    title: str
    document_id: str
    verified: bool
    url: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """What one question cost. Money is worked out from tokens in the summary."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cache_hits: int = 0
    seconds: float = 0.0

    @classmethod
    def of(cls, usage: Usage) -> Spent:
        seconds = round(usage.seconds, 3)
        return cls(usage.llm_calls, usage.prompt_tokens, usage.completion_tokens, usage.cache_hits, seconds)


@dataclass(frozen=True, slots=True)
class Scores:
    """Of a given answer against the accepted ones, best of them; all 0 where none was given.

    `em` and `f1` after SQuAD's normalisation, `contains` (an accepted answer's words stand in the short answer),
    `value` (the same number, date or yes/no). `judge` is None where no judge was asked.
    """

    em: float = 0.0
    f1: float = 0.0
    contains: float = 0.0
    value: float = 0.0
    judge: JudgeVerdict | None = None
    judge_reason: str = ""

    @property
    def right(self) -> bool | None:
        """The judge's word where there is one (None if it could not judge), else a match of any strict kind."""
        if self.judge is not None:
            return None if self.judge is JudgeVerdict.UNJUDGED else self.judge is JudgeVerdict.CORRECT
        return bool(self.em or self.contains or self.value)


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """One question of one repeat. `gold` and every hop's documents are ids of the corpus.

    `missing_gold` are the needed titles that the corpus does not hold. `documents` maps ids to titles. `unread` are
    the titles of documents that were to be read and could not be; `reason_code` and `confidence_word` are those of the
    answer, "" for none.
    """

    id: str
    repeat: int
    question: str
    answers: tuple[str, ...]
    kind: Answerability
    types: tuple[str, ...]
    gold: tuple[str, ...]
    missing_gold: tuple[str, ...]
    outcome: Outcome
    text: str = ""
    short_answer: str = ""
    reason: str = ""
    confidence: float = 0.0
    cap: str = ""
    fault: str = ""
    citations: tuple[Cited, ...] = ()
    hops: tuple[Hop, ...] = ()
    documents: Mapping[str, str] = dataclasses.field(default_factory=dict)
    spent: Spent = Spent()
    judging: Spent = Spent()
    scores: Scores = Scores()
    cause: Cause | None = None
    run_id: str = ""
    unread: tuple[str, ...] = ()
    reason_code: str = ""
    confidence_word: str = ""

    @property
    def right(self) -> bool | None:
        """Answered rightly, or rightly not answered; None where the judge could not tell."""
        if self.kind is not Answerability.ANSWERABLE:
            return self.outcome is Outcome.ABSTAINED
        return self.scores.right if self.outcome is not Outcome.FAULT else False


def to_json(record: QuestionRecord) -> dict[str, Any]:
    return dataclasses.asdict(record)


def from_json(row: Mapping[str, Any]) -> QuestionRecord:
    """The record that `to_json` wrote, also in an older version. Raises ValueError for anything else."""
    return _reader().validate_python(row)


@functools.cache
def _reader() -> TypeAdapter[QuestionRecord]:
    from pydantic import TypeAdapter

    return TypeAdapter(QuestionRecord)
