"""The tools. The signature of a method is what a client may give, its docstring what the client is told of it.

Each returns its result or raises an IterativeRAGError with a hint. All only read; only `ask` uses a language model.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from iterative_rag.computing import compute
from iterative_rag.computing.functions import FUNCTIONS
from iterative_rag.engine.agent_tools import look_into
from iterative_rag.errors import UsageError
from iterative_rag.index.filters import search_filtered
from iterative_rag.index.indexed_corpus import IndexedCorpus
from iterative_rag.retrieval.article_parts import Table, lists, section_named, sections, tables
from iterative_rag.retrieval.lost_rows import lost_rows
from iterative_rag.retrieval.spans import Span
from iterative_rag.serve.api.documents import described, opened_corpus
from iterative_rag.serve.mcp_door.tool_results import (
    AskResult,
    CalculateResult,
    CorporaResult,
    CorpusEntry,
    DocumentPart,
    FindResult,
    FoundPassage,
    OutlineResult,
    PassagesResult,
    Quoted,
    RowsPlace,
    SectionPlace,
    document_uri,
)
from iterative_rag.serve.rag_pool import RagPool
from iterative_rag.serve.runs.run_request import Part
from iterative_rag.settings.choices import LENGTHS
from iterative_rag.types import Document, FindCall

_NAME = 500  # characters of a name
_WORDS = 1000  # characters of what is looked for
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
# Unknown arguments are refused, so that a misspelt one is not ignored.
_STRICT = ConfigDict(extra="forbid", frozen=True)


PartOfCorpus = Annotated[Part, Field(description="The part of the corpus; empty: all of it.")]
Asking = Callable[[dict[str, Any]], Awaitable[AskResult]]


@dataclass(frozen=True, slots=True)
class Tools:
    """Called from several threads at once. `asking` carries out a question for one client."""

    pool: RagPool
    asking: Asking

    def search(
        self,
        query: Annotated[str, Field(min_length=1, max_length=_WORDS, description="What to look for, in plain words.")],
        corpus: CorpusName = "",
        within: PartOfCorpus = Part(),  # noqa: B008 - frozen
        limit: Annotated[int, Field(ge=1, le=50, description="Passages to return.")] = 10,
    ) -> PassagesResult:
        """Search a corpus: the best passages, verbatim, with their place in the document. Needs no language model."""
        if not query.strip():
            raise UsageError("The query is empty.", hint="Give the words to look for.")
        searched = opened_corpus(self.pool, corpus)
        passages = []
        for hit in search_filtered(searched, query, limit, self.pool.settings.within, within.within()):
            quoted = _quoted(searched, searched.document(hit.document_id), (hit.start, hit.end))
            passages.append(FoundPassage(**quoted.model_dump(), score=hit.score))
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
        held = opened_corpus(self.pool, corpus)
        read = document_named(held, document)
        start, stop = min(start, len(read.text)), len(read.text)
        if section:
            span = section_named(read.text, section)
            if span is None:
                raise UsageError(f"{read.title!r} has no section like {section!r}.", hint="outline lists its sections.")
            start, stop = max(start, span.start), max(start, span.end)
        end = min(stop, start + max_chars)
        return DocumentPart(
            **_quoted(held, read, (start, end)).model_dump(),
            length=len(read.text),
            next_start=end if end < stop else None,
        )

    def outline(self, document: DocumentName, corpus: CorpusName = "") -> OutlineResult:
        """The sections, tables and lists of a document with their offsets, and which of them lost their rows."""
        held = opened_corpus(self.pool, corpus)
        read = document_named(held, document)
        return OutlineResult(
            **_source(held, read),
            length=len(read.text),
            sections=[
                SectionPlace(heading=section.heading, start=section.start, end=section.end)
                for section in sections(read.text)
            ],
            tables=_rows(tables(read.text)),
            lists=_rows(lists(read.text)),
            lost=[rows.section or read.title for rows in lost_rows(read)],
        )

    def find_in_document(
        self,
        document: DocumentName,
        words: Annotated[str, Field(min_length=1, max_length=_WORDS, description="Words or a phrase to find.")],
        corpus: CorpusName = "",
    ) -> FindResult:
        """The sentences and table rows of a document that hold a phrase, or its words near one another in any form."""
        held = opened_corpus(self.pool, corpus)
        read = document_named(held, document)
        finding = look_into(read, FindCall(read.title, words), len(read.text))
        places = [_quoted(held, read, span) for passage in finding.passages for span in passage.spans]
        return FindResult(**_source(held, read), told=finding.told, places=places)

    def list_corpora(self) -> CorporaResult:
        """The corpora that can be searched and asked, and how many documents each has."""
        default = self.pool.parts(self.pool.default_corpus)
        entries = [described(self.pool, name) for name in self.pool.corpora()]
        return CorporaResult(corpora=[CorpusEntry(**told, default=told["name"] in default) for told in entries])

    def calculate(
        self,
        expression: Annotated[
            str,
            Field(
                min_length=1,
                max_length=4000,
                description="Arithmetic with numbers, units, dates and lists: `1912 - 1825`, `5 km in miles`, "
                f"`days(1 March 1912, 4 May 1912)`. Functions: {', '.join(FUNCTIONS)}.",
            ),
        ],
    ) -> CalculateResult:
        """Compute an expression exactly: arithmetic, units, dates, lists. Nothing is executed."""
        return CalculateResult(expression=expression, result=compute(expression))

    async def ask(
        self,
        question: Annotated[
            str,
            Field(
                min_length=1,
                max_length=8000,
                description="One self-contained question in plain words; it may need several look-ups.",
            ),
        ],
        corpus: AskedCorpora = "",
        within: PartOfCorpus = Part(),  # noqa: B008 - frozen
        strategy: Annotated[str, Field(description="How to work on it; empty: as the server is set.")] = "",
        length: Annotated[
            str,
            Field(
                description="How long the answer is: a value or a few sentences, paragraphs, or a report; empty: as "
                "the server is set.",
                json_schema_extra={"enum": ["", *LENGTHS]},
            ),
        ] = "",
    ) -> AskResult:
        """Answer a question that may need several look-ups (for example 'Who was the mother of the 15th first lady?'),
        explain, summarise or compare, with numbered verbatim quotes. It may take minutes with a language model;
        progress is reported, and a request that is cancelled ends the run."""
        given = {"question": question, "corpus": corpus, "strategy": strategy, "length": length}
        return await self.asking({**given, "within": within.model_dump()})


@dataclass(frozen=True, slots=True)
class ToolForm:
    """A tool as clients see it: what it takes and what it returns, read off its method."""

    name: str
    description: str
    arguments: type[BaseModel]
    result: type[BaseModel]


def _form(method: Callable[..., Any]) -> ToolForm:
    hints = get_type_hints(method, include_extras=True)
    result = hints.pop("return")
    parameters = inspect.signature(method).parameters
    fields: dict[str, Any] = {
        name: (hint, ... if parameters[name].default is inspect.Parameter.empty else parameters[name].default)
        for name, hint in hints.items()
    }
    arguments = create_model(method.__name__, __config__=_STRICT, **fields)
    return ToolForm(method.__name__, " ".join((method.__doc__ or "").split()), arguments, result)


_METHODS: Sequence[Callable[..., Any]] = (
    Tools.search,
    Tools.read_document,
    Tools.outline,
    Tools.find_in_document,
    Tools.list_corpora,
    Tools.calculate,
    Tools.ask,
)
TOOLS = {method.__name__: _form(method) for method in _METHODS}


def document_named(corpus: IndexedCorpus, wanted: str) -> Document:
    """The document of an id or a title. Raises CorpusError, which names near titles, and UsageError for namesakes."""
    if corpus.points([wanted]):
        return corpus.document(wanted)
    namesakes = corpus.find(wanted)
    if len(namesakes) > 1:
        ids = ", ".join(document.id for document in namesakes)
        raise UsageError(f"{len(namesakes)} documents have the title {wanted!r}.", hint=f"Name one by its id: {ids}")
    return namesakes[0]


def _source(corpus: IndexedCorpus, document: Document) -> dict[str, str]:
    uri = document_uri(corpus.name, document.id)
    return {"document_id": document.id, "title": document.title, "uri": uri, "url": document.link}


def _quoted(corpus: IndexedCorpus, document: Document, span: Span) -> Quoted:
    start, end = span
    text = document.text[start:end]
    return Quoted(**_source(corpus, document), start=start, end=end, text=text, page=document.page_at(start))


def _rows(parts: Sequence[Table]) -> list[RowsPlace]:
    return [
        RowsPlace(
            heading=part.heading,
            rows=len(part.rows),
            start=(part.header or part.rows)[0][0],
            end=(part.rows or part.header)[-1][1],
        )
        for part in parts
    ]
