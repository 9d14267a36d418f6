"""What each tool returns. The output schemas that clients see are made of these models.

Offsets count characters of the document's text from 0: `text[start:end]` is the quote or passage.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field

from iterative_rag.index.joint_corpus import corpus_and_id
from iterative_rag.serve.runs.public_text import public_ending
from iterative_rag.storage.output import fetch_commands
from iterative_rag.types import Answer, Citation

URI_TEMPLATE = "iterative-rag://corpora/{corpus}/documents/{document_id}"


def document_uri(corpus: str, document_id: str) -> str:
    return URI_TEMPLATE.format(corpus=quote(corpus, safe=""), document_id=quote(document_id, safe=""))


class Result(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True)


class Source(Result):
    """A document. `uri` is that of its resource here; `url` its web address, "" where none is known."""

    document_id: str
    title: str
    uri: str
    url: str = ""


class Quoted(Source):
    """Verbatim text of a document. `page` counts from 1, null where there are no pages."""

    start: int
    end: int
    text: str
    page: int | None = None


class FoundPassage(Quoted):
    score: float = Field(description="Higher is better; comparable within one search only.")


class PassagesResult(Result):
    corpus: str
    query: str
    passages: list[FoundPassage]


class DocumentPart(Quoted):
    length: int = Field(description="Characters of the whole document.")
    next_start: int | None = Field(description="Where to read on, with the same arguments; null at the end.")


class SectionPlace(Result):
    heading: str
    start: int
    end: int


class RowsPlace(Result):
    """A table or a list: the heading above it, and how many rows it has."""

    heading: str
    rows: int
    start: int
    end: int


class OutlineResult(Source):
    length: int
    sections: list[SectionPlace]
    tables: list[RowsPlace]
    lists: list[RowsPlace]
    lost: list[str] = Field(description="Tables and lists whose rows are missing from this text.")


class FindResult(Source):
    told: str = Field(description="How the words stand in the places, and how many there are.")
    places: list[Quoted]


class CorpusEntry(Result):
    name: str
    documents: int
    passages: int
    state: str = Field(description="ready, incomplete, outdated, damaged, or not indexed yet")
    updated: str
    default: bool


class CorporaResult(Result):
    corpora: list[CorpusEntry]


class CalculateResult(Result):
    expression: str
    result: str


class CitationResult(Quoted):
    """A numbered quote; `[n]` in the answer refers to it. `document_id` and `uri` are "" for pages of the web."""

    n: int
    corpus: str = Field("", description="The corpus that it is from, where several were asked.")
    retrieved: str = Field("", description="The day (ISO) on which a web page was read.")


class ChainResult(Result):
    """One line of the way to the answer."""

    asked: str
    found: str
    citations: list[int]
    builds_on: list[int] = Field([], description="The citations of the values that were put into the question.")


class ComputationResult(Result):
    expression: str
    result: str
    citations: list[int] = Field(validation_alias="facts")


class ConflictSide(Result):
    value: str
    citations: list[int] = Field(validation_alias="facts")


class ConflictResult(Result):
    need: str
    sides: list[ConflictSide]


class MissingArticle(Result):
    title: str
    command: str = Field(description="What a person types to fetch the article into the corpus.")


class AskResult(Result):
    """`status` is answered, extract (passages, from which nothing is concluded), abstained (the corpus does not hold
    it) or incomplete (a limit or a fault: `reason`)."""

    corpus: str
    question: str
    status: str
    answer: str
    short_answer: str
    reason: str
    reason_code: str | None
    confidence: float
    confidence_word: str | None
    chain: list[ChainResult]
    citations: list[CitationResult]
    computations: list[ComputationResult]
    conflicts: list[ConflictResult]
    also: list[str]
    caveats: list[str]
    nearest: list[CitationResult]
    missing_articles: list[MissingArticle] = Field(
        description="Articles that would have been looked into and that the corpus does not hold."
    )
    llm_calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    run_id: str


def ask_result(answer: Answer, corpus: str) -> AskResult:
    answer = public_ending(answer)
    facts = (*(fact for hop in answer.hops for fact in hop.facts), *answer.facts)
    ids = {fact.source: fact.document_id for fact in facts if not fact.retrieved}
    same = {name: getattr(answer, name) for name in AskResult.model_fields if hasattr(answer, name)}
    spent = {name: getattr(answer.usage, name) for name in ("llm_calls", "prompt_tokens", "completion_tokens")}
    return AskResult.model_validate(
        same
        | spent
        | {
            "corpus": corpus,
            "status": str(answer.status),
            "answer": answer.text,
            "reason_code": answer.reason_code and str(answer.reason_code),
            "confidence_word": answer.confidence_word and str(answer.confidence_word),
            "citations": [_citation(citation, corpus, ids) for citation in answer.citations],
            "nearest": [_citation(citation, corpus, ids) for citation in answer.nearest],
            "missing_articles": [{"title": title, "command": told} for title, told in fetch_commands(answer)],
            "seconds": round(answer.usage.seconds, 3),
        }
    )


def _citation(citation: Citation, corpus: str, ids: Mapping[str, str]) -> CitationResult:
    corpus, document_id = corpus_and_id(corpus, ids.get(citation.source, ""))
    return CitationResult(
        n=citation.n,
        corpus=citation.corpus,
        document_id=document_id,
        title=citation.title,
        uri=document_uri(corpus, document_id) if document_id else "",
        url=citation.link,
        start=citation.start,
        end=citation.end,
        text=citation.quote,
        page=citation.page,
        retrieved=citation.retrieved,
    )
