"""The tools. The signature of a method is what a client may give, its docstring what the client is told of it.

Each returns its result or raises an IterativeRAGError with a hint. All only read; only `ask` uses a language model.
Offsets count characters of a document's text from 0: `text` is its characters from `start` to `end`, word for word.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote

from mcp.server.mcpserver import Context
from pydantic import BaseModel, Field
from starlette.requests import Request

from iterative_rag.errors import ServerBusy, UsageError
from iterative_rag.index.indexed_corpus import IndexedCorpus
from iterative_rag.index.zim.zim_corpus import ZimCorpus
from iterative_rag.retrieval.article_parts import Table, section_named, sections, tables
from iterative_rag.retrieval.spans import Span
from iterative_rag.serve.api.documents import described, search_hits
from iterative_rag.serve.guard import client_of
from iterative_rag.serve.runs.events import public_answer
from iterative_rag.serve.runs.run_manager import RunManager
from iterative_rag.serve.runs.run_request import Part, checked_request
from iterative_rag.settings.model import LENGTHS
from iterative_rag.types import Document

URI_TEMPLATE = "iterative-rag://corpora/{corpus}/documents/{document_id}"
_NAME = 500  # characters of a name
_WORDS = 1000  # characters of what is looked for
# Of the answer as `answer.schema.json` describes it, what an agent has a use for.
_TOLD = (
    *("question", "status", "answer", "short_answer", "reason", "reason_code", "confidence", "confidence_word"),
    *("chain", "computations", "conflicts", "also", "caveats", "missing_articles", "citations", "nearest", "usage"),
    "run_id",
)

CorpusName = Annotated[
    str, Field(max_length=_NAME, description="Name of the corpus (list_corpora); empty: the default one.")
]
AskedCorpora = Annotated[
    str,
    Field(
        max_length=_NAME,
        description="Name of the corpus (list_corpora), or of several to ask at once (a,b); empty: the default one.",
    ),
]
DocumentName = Annotated[str, Field(min_length=1, max_length=_NAME, description="Title or document_id of a document.")]
PartOfCorpus = Annotated[Part, Field(description="The part of the corpus; empty: all of it.")]
Query = Annotated[str, Field(min_length=1, max_length=_WORDS, description="What to look for, in plain words.")]
Question = Annotated[
    str,
    Field(
        min_length=1,
        max_length=8000,
        description="One self-contained question in plain words; it may need several look-ups.",
    ),
]
Length = Annotated[
    str,
    Field(
        description="How long the answer is: a value or a few sentences, paragraphs, or a report; empty: as the server "
        "is set.",
        json_schema_extra={"enum": ["", *LENGTHS]},
    ),
]


class Source(BaseModel):
    """A document. `uri` is that of its resource here; `url` its web address, "" where none is known. `lost_rows`: the
    headings of the sections whose rows are not in its text."""

    document_id: str
    title: str
    uri: str
    url: str = ""
    lost_rows: list[str] = []


class Quoted(Source):
    """Verbatim text of a document. `page` counts from 1, null where there are no pages."""

    start: int
    end: int
    text: str
    page: int | None = None


class Passage(Quoted):
    score: float = Field(description="Higher is better; comparable within one search only.")


class PassagesResult(BaseModel):
    corpus: str
    query: str
    passages: list[Passage]


class DocumentPart(Quoted):
    length: int = Field(description="Characters of the whole document.")
    next_start: int | None = Field(description="Where to read on, with the same arguments; null at the end.")


class Section(BaseModel):
    heading: str
    start: int
    end: int


class Rows(Section):
    """A table: the heading above it, and how many rows it has."""

    rows: int


class OutlineResult(Source):
    length: int
    sections: list[Section]
    tables: list[Rows]


@dataclass(frozen=True, slots=True)
class Tools:
    """Called from several threads at once."""

    runs: RunManager

    def search(
        self,
        query: Query,
        corpus: CorpusName = "",
        within: PartOfCorpus = Part(),  # noqa: B008 - frozen
        limit: Annotated[int, Field(ge=1, le=50, description="Passages to return.")] = 10,
    ) -> PassagesResult:
        """Search a corpus: the best passages, verbatim, with their place in the document. Needs no language model."""
        if not query.strip():
            raise UsageError("The query is empty.", hint="Give the words to look for.")
        searched = self.runs.pool.corpus(corpus)
        passages = [
            Passage(**_quoted(searched, searched.document(hit.document_id), (hit.start, hit.end)), score=hit.score)
            for hit, _ in search_hits(self.runs.pool, searched, query, limit, within.within())
        ]
        return PassagesResult(corpus=searched.name, query=query, passages=passages)

    def read_document(
        self,
        document: DocumentName,
        corpus: CorpusName = "",
        section: Annotated[
            str, Field(max_length=_NAME, description="Heading of a section (outline); empty: from `start` on.")
        ] = "",
        start: Annotated[int, Field(ge=0, description="Offset of the first character to read.")] = 0,
        max_chars: Annotated[int, Field(ge=1, le=50_000, description="Characters to return at most.")] = 8000,
    ) -> DocumentPart:
        """Read a document, or one section of it. Long ones come in parts: read on from next_start."""
        held = self.runs.pool.corpus(corpus)
        read = _document_named(held, document)
        start, stop = min(start, len(read.text)), len(read.text)
        if section:
            span = section_named(read.text, section)
            if span is None:
                raise UsageError(f"{read.title!r} has no section like {section!r}.", hint="outline lists its sections.")
            start, stop = max(start, span.start), max(start, span.end)
        end = min(stop, start + max_chars)
        following = end if end < stop else None
        return DocumentPart(**_quoted(held, read, (start, end)), length=len(read.text), next_start=following)

    def outline(self, document: DocumentName, corpus: CorpusName = "") -> OutlineResult:
        """The sections, tables and lists of a document with their offsets."""
        held = self.runs.pool.corpus(corpus)
        read = _document_named(held, document)
        return OutlineResult(
            **_source(held, read),
            length=len(read.text),
            sections=[Section(heading=part.heading, start=part.start, end=part.end) for part in sections(read.text)],
            tables=_rows(tables(read.text)),
        )

    def list_corpora(self) -> dict[str, list[dict[str, Any]]]:
        """The corpora that can be searched and asked, how many documents each has, and its state: ready, incomplete,
        outdated, damaged, or not indexed yet."""
        pool = self.runs.pool
        default = pool.parts(pool.default_corpus)
        return {"corpora": [{**described(pool, name), "default": name in default} for name in pool.corpora()]}

    async def ask(
        self,
        question: Question,
        context: Context[Any, Any],
        corpus: AskedCorpora = "",
        within: PartOfCorpus = Part(),  # noqa: B008 - frozen
        strategy: Annotated[str, Field(description="How to work on it; empty: as the server is set.")] = "",
        length: Length = "",
    ) -> dict[str, Any]:
        """Answer a question that may need several look-ups (for example 'Who was the mother of the 15th first lady?'),
        explain, summarise or compare, with numbered verbatim quotes. `status` is answered, extract (passages, from
        which nothing is concluded), abstained (the corpus does not hold it) or incomplete (a limit or a fault:
        `reason`). It may take minutes with a language model; progress is reported, and a request that is cancelled
        ends the run."""
        given = {"question": question, "corpus": corpus, "strategy": strategy, "length": length}
        request = await asyncio.to_thread(checked_request, given | {"within": within.model_dump()}, self.runs.pool)
        asking = context.request_context.request
        run = self.runs.submit(request, client=client_of(asking.scope) if isinstance(asking, Request) else "")
        events = 0
        try:
            async for event in run.subscribe():
                if event.words:
                    events += 1
                    await context.report_progress(events, None, event.words)
        finally:
            if not run.over:
                self.runs.stop(run)
        if run.answer is None:
            raise run.error or ServerBusy("The run was stopped.", hint="Ask again.")
        told = public_answer(run.answer)
        return {"corpus": request.corpus} | {name: told[name] for name in _TOLD}


def document_uri(corpus: str, document_id: str) -> str:
    return URI_TEMPLATE.format(corpus=quote(corpus, safe=""), document_id=quote(document_id, safe=""))


def _document_named(corpus: IndexedCorpus | ZimCorpus, wanted: str) -> Document:
    """The document of an id or a title. Raises CorpusError, which names near titles, and UsageError for namesakes."""
    if corpus.has(wanted):
        return corpus.document(wanted)
    namesakes = corpus.find(wanted)
    if len(namesakes) > 1:
        ids = ", ".join(document.id for document in namesakes)
        raise UsageError(f"{len(namesakes)} documents have the title {wanted!r}.", hint=f"Name one by its id: {ids}")
    return namesakes[0]


def _source(corpus: IndexedCorpus | ZimCorpus, document: Document) -> dict[str, Any]:
    uri, lost = document_uri(corpus.name, document.id), list(document.lost_rows)
    return {"document_id": document.id, "title": document.title, "uri": uri, "url": document.link, "lost_rows": lost}


def _quoted(corpus: IndexedCorpus | ZimCorpus, document: Document, span: Span) -> dict[str, Any]:
    start, end = span
    told = {"start": start, "end": end, "text": document.text[start:end], "page": document.page_at(start)}
    return _source(corpus, document) | told


def _rows(parts: Sequence[Table]) -> list[Rows]:
    ends = [((part.header or part.rows)[0][0], (part.rows or part.header)[-1][1]) for part in parts]
    return [
        Rows(heading=part.heading, rows=len(part.rows), start=start, end=end)
        for part, (start, end) in zip(parts, ends, strict=True)
    ]
