"""What is to be read for a need, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from iterative_rag.errors import IterativeRAGError
from iterative_rag.protocols import Corpus, FactCheck
from iterative_rag.retrieval.quote_verification import locate
from iterative_rag.types import (
    Cap,
    Document,
    Extract,
    Fact,
    Need,
    ReadingStep,
    ShortlistedDocument,
    UnreadWindow,
    Window,
)

# Facts with a lower score do not count as enough: they are kept, and reading goes on.
SURE = 0.5


@dataclass(frozen=True, slots=True)
class ReadingTask:
    """A need and what to read for it, best first. `windows` are those of `documents`, one each; a sparing reader cuts
    them itself. `graded`: the documents were chosen by grades, so all of them are to be read."""

    need: Need
    documents: Sequence[ShortlistedDocument]
    windows: Sequence[Window] = ()
    graded: bool = False


@dataclass(frozen=True, slots=True)
class NeedReading:
    """What reading found for one need: the record of it, whose hop is not known yet. `unread` are the windows lost to
    faults and to `cap`; `error` is the first fault where not one window could be read. `exhausted` are the titles
    in which nothing was left to read for a need that is still open; `named` those that the need names, and whether
    something of them was not read."""

    record: ReadingStep
    error: IterativeRAGError | None = None
    cap: Cap | None = None
    unread: tuple[UnreadWindow, ...] = ()
    exhausted: tuple[str, ...] = ()
    named: Mapping[str, bool] = field(default_factory=dict)

    @property
    def need(self) -> Need:
        return self.record.need

    @property
    def facts(self) -> tuple[Fact, ...]:
        return self.record.facts


def is_value(fact: Fact) -> bool:
    """Whether a fact answers its need, surely enough to end the reading for it."""
    return bool(fact.value) and fact.score >= SURE


def verified(corpus: Corpus, need: Need, window: Window, extract: Extract, check: FactCheck | None) -> Fact | None:
    """The extract as a fact about a need, with what the check says of it; None if its quote does not stand in the
    window."""
    document = corpus.document(window.document_id)
    span = locate(extract.quote, document.text, window.spans)
    return fact_at(document, *span, need, extract, check) if span else None


def fact_at(
    document: Document, start: int, end: int, need: Need, extract: Extract, check: FactCheck | None = None
) -> Fact:
    """What an extract says of a need, as a fact that quotes this place of the document."""
    fact = Fact(
        statement=extract.statement,
        quote=document.text[start:end],
        value=extract.value,
        document_id=document.id,
        title=document.title,
        source=document.source,
        start=start,
        end=end,
        need=need,
        score=extract.score,
        page=document.page_at(start),
        retrieved=document.retrieved,
        url=document.link,
        copies=document.copies,
        date=document.date,
    )
    return check(fact, document.text) if check else fact
