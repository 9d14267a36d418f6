"""What travels through the loop: needs, windows, extracts, facts, and what an analysis says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Need:
    """A fact that is missing, as a self-contained question ("Who was the 15th US president?")."""

    question: str

    @property
    def key(self) -> str:
        """The same for needs that differ in case, spaces and final marks alone."""
        return " ".join(self.question.casefold().split()).rstrip(" ?.")


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
class UnreadWindow:
    """A window that was to be read for a need and was not: reading it failed, or a limit of the run came first.

    `reason` is the error's sentence, `attempts` how often the run has tried to read it.
    """

    need: Need
    window: Window
    reason: str
    attempts: int = 1


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
    reader's own trust in it, 0 to 1; `page` the page of a document that has pages; `retrieved` as in Document.
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


@dataclass(frozen=True, slots=True)
class Inquiry:
    """Where the loop stands: what every role is told. A new one is made each hop; none is changed."""

    original: str
    question: str
    facts: tuple[Fact, ...] = ()
    tried: tuple[Need, ...] = ()

    def looks(self, need: Need) -> int:
        """How often a need was looked for."""
        return sum(one.key == need.key for one in self.tried)


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
