"""What is read and found: documents, passages, hits, the shortlist."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Document:
    """One article or file of a corpus. `source` is the path or URL that it was read from.

    `pages` are the offsets at which pages 1, 2, ... begin; empty where there are no pages. `retrieved` is the day (ISO)
    on which a page was taken from the web during a run; "" for what lies in the corpus.
    """

    id: str
    title: str
    text: str
    source: str
    url: str | None = None
    pages: tuple[int, ...] = ()
    retrieved: str = ""

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
