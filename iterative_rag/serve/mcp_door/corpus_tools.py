"""What the tools do: each takes its arguments and returns its result, or raises an IterativeRAGError with a hint."""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.computing import compute
from iterative_rag.engine.agent_tools import look_into
from iterative_rag.errors import UsageError
from iterative_rag.factory import STARTER_CORPUS, corpora
from iterative_rag.index.filters import search_filtered
from iterative_rag.index.indexed_corpus import IndexedCorpus
from iterative_rag.retrieval.article_parts import Span, Table, lists, section_named, sections, tables
from iterative_rag.retrieval.lost_rows import lost_rows
from iterative_rag.serve.mcp_door.document_uris import document_uri
from iterative_rag.serve.mcp_door.tool_arguments import (
    CalculateArguments,
    FindArguments,
    ListCorporaArguments,
    OutlineArguments,
    ReadArguments,
    SearchArguments,
)
from iterative_rag.serve.mcp_door.tool_results import (
    CalculateResult,
    CorporaResult,
    CorpusEntry,
    DocumentPart,
    FindResult,
    FoundPassage,
    OutlineResult,
    Quoted,
    RowsPlace,
    SearchResult,
    SectionPlace,
)
from iterative_rag.serve.rag_pool import RagPool
from iterative_rag.types import Document, FindCall, Within


class CorpusTools:
    """The tools that need no language model. Called from several threads at once."""

    def __init__(self, pool: RagPool) -> None:
        self._pool = pool

    def search(self, wanted: SearchArguments) -> SearchResult:
        corpus = self._corpus(wanted.corpus)
        if not wanted.query.strip():
            raise UsageError("The query is empty.", hint="Give the words to look for.")
        passages = []
        within = Within(**wanted.within.model_dump())
        for hit in search_filtered(corpus, wanted.query, wanted.limit, self._pool.settings.within, within):
            document = corpus.document(hit.document_id)
            quoted = _quoted(corpus, document, (hit.start, hit.end))
            passages.append(FoundPassage(**quoted.model_dump(), score=hit.score))
        return SearchResult(corpus=corpus.name, query=wanted.query, passages=passages)

    def read_document(self, wanted: ReadArguments) -> DocumentPart:
        corpus = self._corpus(wanted.corpus)
        document = document_named(corpus, wanted.document)
        start, stop = min(wanted.start, len(document.text)), len(document.text)
        if wanted.section:
            section = section_named(document.text, wanted.section)
            if section is None:
                raise UsageError(
                    f"{document.title!r} has no section like {wanted.section!r}.", hint="outline lists its sections."
                )
            start, stop = max(start, section.start), max(start, section.end)
        end = min(stop, start + wanted.max_chars)
        return DocumentPart(
            **_quoted(corpus, document, (start, end)).model_dump(),
            length=len(document.text),
            next_start=end if end < stop else None,
        )

    def outline(self, wanted: OutlineArguments) -> OutlineResult:
        corpus = self._corpus(wanted.corpus)
        document = document_named(corpus, wanted.document)
        text = document.text
        return OutlineResult(
            **_source(corpus, document),
            length=len(text),
            sections=[SectionPlace(heading=one.heading, start=one.start, end=one.end) for one in sections(text)],
            tables=_rows(tables(text)),
            lists=_rows(lists(text)),
            lost=[one.section or document.title for one in lost_rows(document)],
        )

    def find_in_document(self, wanted: FindArguments) -> FindResult:
        corpus = self._corpus(wanted.corpus)
        document = document_named(corpus, wanted.document)
        found = look_into(document, FindCall(document.title, wanted.words), len(document.text))
        places = [_quoted(corpus, document, span) for one in found.passages for span in one.spans]
        return FindResult(**_source(corpus, document), told=found.told, places=places)

    def list_corpora(self, wanted: ListCorporaArguments) -> CorporaResult:
        known, default = corpora(self._pool.settings.index), self._pool.parts(self._pool.default_corpus)
        there = set(known.names())
        entries = []
        for name in self._pool.corpora():
            if name in there:
                info = known.info(name)
                told = {"documents": info.documents, "passages": info.passages, "state": info.state}
                entries.append(CorpusEntry(name=name, **told, updated=info.updated, default=name in default))
            elif name == STARTER_CORPUS:
                told = {"documents": 0, "passages": 0, "state": "not indexed yet"}
                entries.append(CorpusEntry(name=name, **told, updated="", default=name in default))
        return CorporaResult(corpora=entries)

    def calculate(self, wanted: CalculateArguments) -> CalculateResult:
        return CalculateResult(expression=wanted.expression, result=compute(wanted.expression))

    def _corpus(self, name: str) -> IndexedCorpus:
        corpus = self._pool.corpus(name)
        assert isinstance(corpus, IndexedCorpus)
        return corpus


def document_named(corpus: IndexedCorpus, wanted: str) -> Document:
    """The document of an id or a title. Raises CorpusError, which names near titles, and UsageError for namesakes."""
    if corpus.points([wanted]):
        return corpus.document(wanted)
    found = corpus.find(wanted)
    if len(found) > 1:
        ids = ", ".join(document.id for document in found)
        raise UsageError(f"{len(found)} documents have the title {wanted!r}.", hint=f"Name one by its id: {ids}")
    return found[0]


def _source(corpus: IndexedCorpus, document: Document) -> dict[str, str]:
    uri = document_uri(corpus.name, document.id)
    return {"document_id": document.id, "title": document.title, "uri": uri, "url": document.link}


def _quoted(corpus: IndexedCorpus, document: Document, span: Span) -> Quoted:
    start, end = span
    text = document.text[start:end]
    return Quoted(**_source(corpus, document), start=start, end=end, text=text, page=document.page_at(start))


def _rows(found: Sequence[Table]) -> list[RowsPlace]:
    return [
        RowsPlace(
            heading=one.heading,
            rows=len(one.rows),
            start=(one.header or one.rows)[0][0],
            end=(one.rows or one.header)[-1][1],
        )
        for one in found
    ]
