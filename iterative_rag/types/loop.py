"""Values of the loop: the form of an answer, needs, windows, extracts, facts, and the results of an analysis."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class AnswerForm(StrEnum):
    """What kind of text an answer is."""

    VALUE = "value"  # a name, a number, a date, yes or no, or a sentence with one
    LIST = "list"  # several values of one kind
    TABLE = "table"  # a comparison: a Markdown table with a citation in every cell
    EXPLANATION = "explanation"  # paragraphs that say why, how, or what something was like
    SUMMARY = "summary"  # paragraphs that say what is known about something
    REPORT = "report"  # sections with headings, written one by one after an outline
    EXTRACT = "extract"  # the passages nearest to the question, quoted: nothing is concluded from them

    @property
    def is_text(self) -> bool:
        """Whether it is made of sentences or cells that are checked and cited one by one."""
        return self in _TEXTS


_TEXTS = frozenset({AnswerForm.TABLE, AnswerForm.EXPLANATION, AnswerForm.SUMMARY, AnswerForm.REPORT})


@dataclass(frozen=True, slots=True)
class Need:
    """A missing fact, as a question that stands on its own ("Who was the 15th US president?").

    `see` is the title of the article where a model expects it, "" for none: where to look, and no part of the question.
    An `aspect` is what one part of a text is about ("What caused the fire of Karsa?"): several facts answer it.
    """

    question: str
    see: str = field(default="", compare=False)
    aspect: bool = field(default=False, compare=False)

    @property
    def key(self) -> str:
        """Equal for needs that differ only in case, spaces or final punctuation."""
        return " ".join(self.question.casefold().split()).rstrip(" ?.")


@dataclass(frozen=True, slots=True)
class Window:
    """What is read in one call: the parts of one document around its hits, in document order.

    `spans` are their offsets in the document; `text` is the parts, joined by a line "[...]"; one more ends it where a
    table goes on behind the last part.
    """

    document_id: str
    title: str
    source: str
    spans: tuple[tuple[int, int], ...]
    text: str


@dataclass(frozen=True, slots=True)
class UnreadWindow:
    """A window that was not read for a need, because reading failed or a limit of the run was reached.

    `reason` is the error's sentence.
    """

    need: Need
    window: Window
    reason: str


@dataclass(frozen=True, slots=True)
class Extract:
    """What an extractor found in a window, before its quote is verified against the document.

    `value` is the short answer to the need, "" if the window only comes near it; `score` is from 0 to 1. `needs` are
    the positions of the needs that it serves among those asked, () if it serves only another part of the question.
    `window` is the position of the window that it was found in.
    """

    statement: str
    quote: str
    value: str = ""
    score: float = 1.0
    needs: tuple[int, ...] = (0,)
    window: int = 0


# Facts less likely than this are shown as doubtful, and the built-in backend builds no further step on them.
DOUBTFUL_BELOW = 0.25


class Support(StrEnum):
    """What a second pair of eyes says of a fact: does its quote answer its need with its value?"""

    AGREES = "agrees"
    SILENT = "silent"  # the quote does not say it by itself
    DISAGREES = "disagrees"  # the quote says something else, or nothing of it


# Where a quote stands: the id of its document, its first character and the one behind its last.
Place = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement with its verbatim quote, verified: `document.text[start:end] == quote`.

    `value` is the short answer to the need ("James Buchanan"), "" if there is none; `score` is the confidence of the
    extractor, from 0 to 1; `page` counts from 1 in documents that have pages; `retrieved`, `copies` and `date` as in
    Document; `url` is its `link`. `support` is None where nobody could be asked: a fact without a value, one that was
    counted.
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
    retrieved: str = ""
    url: str = ""
    copies: tuple[str, ...] = ()
    support: Support | None = None
    date: str = ""

    @property
    def is_doubtful(self) -> bool:
        return self.score < DOUBTFUL_BELOW

    @property
    def place(self) -> Place:
        return self.document_id, self.start, self.end

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it from other facts: one quote may serve two needs, and state two things."""
        return *self.place, self.need.key, self.statement


@dataclass(frozen=True, slots=True)
class Computation:
    """Something computed from facts: the expression `1912 - 1825`, the result `87`, or `≈ 267.2 miles` where rounded.

    `facts` are what it is computed from: positions in `Inquiry.facts` in a draft, numbers of citations in an answer.
    """

    expression: str
    result: str
    facts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class OutlineSection:
    """A section of a report: its heading, and what is looked up for it."""

    heading: str
    needs: tuple[Need, ...] = ()


@dataclass(frozen=True, slots=True)
class LostRows:
    """A section that should hold what a need asks for, and whose rows are not in the corpus. `need` is its key."""

    need: str
    title: str
    section: str

    def __str__(self) -> str:
        return f'the rows of "{self.section}" in the article "{self.title}"'


@dataclass(frozen=True, slots=True)
class Inquiry:
    """The state of the loop as every role sees it: the original question and the current one, the facts found so far,
    the needs that were tried, what was computed on the way, the titles that needs have named and no search has found,
    those of articles in which nothing is left to read, those not read to their end, with the key of a need that names
    them, the rows that turned out not to be in the corpus, the keys of needs of which something could not be read, and
    what a draft of the answer lacked. Immutable: each hop makes a new one.

    `form` is what kind of answer is wanted, `outline` the sections of a report once they are known.
    """

    original: str
    question: str
    facts: tuple[Fact, ...] = ()
    tried: tuple[Need, ...] = ()
    computed: tuple[Computation, ...] = ()
    absent: tuple[str, ...] = ()
    exhausted: tuple[str, ...] = ()
    left: tuple[tuple[str, str], ...] = ()
    lost_rows: tuple[LostRows, ...] = ()
    unread: frozenset[str] = frozenset()
    missing: str = ""
    form: AnswerForm = AnswerForm.VALUE
    outline: tuple[OutlineSection, ...] = ()

    def looks(self, need: Need) -> int:
        """How often a need has been looked up."""
        return sum(tried.key == need.key for tried in self.tried)

    def has_value(self, need: Need) -> bool:
        """Whether a fact answers a need."""
        return any(fact.value and fact.need.key == need.key and not fact.is_doubtful for fact in self.facts)


@dataclass(frozen=True, slots=True)
class Known:
    """Analysis: the facts found so far answer the question. `form` as in Needs."""

    form: AnswerForm | None = None


@dataclass(frozen=True, slots=True)
class Needs:
    """Analysis: these facts are missing. They do not depend on one another, so they are looked up in the same hop.

    `then` are the needs after these, with "#1" where the value of the first of them goes; after two needs, "#3" is that
    of the first that follows. `last`: once each of all these has a value, the question can be answered without another
    analysis. `form` is what kind of answer the question asks for, None where the analysis does not say.
    """

    needs: tuple[Need, ...]
    last: bool = False
    form: AnswerForm | None = None
    then: tuple[Need, ...] = ()


@dataclass(frozen=True, slots=True)
class Stuck:
    """Analysis: no further fact would help, because a premise is false or nothing is left to try."""

    reason: str


Analysis = Known | Needs | Stuck
