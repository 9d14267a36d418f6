"""An `IterativeRAG` for LlamaIndex: what answers through it, and what retrieves from its corpus.

`as_query_engine(rag)` is a query engine that answers hop by hop; `FunctionAgent(tools=[as_tool(rag)], llm=...)` is an
agent that can ask the corpus. `as_retriever(rag)` and `as_index(rag)` give the passages of its corpus to pipelines of
LlamaIndex, whose own synthesizer then answers.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing
from dataclasses import asdict
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE, AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.callbacks import CallbackManager
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import FunctionTool

from iterative_rag.app.factory.rag import IterativeRAG, answer_of
from iterative_rag.integrations.llama_index_retrieval import CorpusRetriever, CorpusVectorStore, as_index, as_retriever
from iterative_rag.storage.output import chain_lines, quote_of
from iterative_rag.types import Answer, Citation, Fact, Status, Step

__all__ = [
    "CorpusRetriever",
    "CorpusVectorStore",
    "IterativeRAGQueryEngine",
    "as_index",
    "as_query_engine",
    "as_retriever",
    "as_tool",
]

TOOL_DESCRIPTION = (
    "Answers a factual question that may need several look-ups in a corpus of articles "
    "(for example 'Who was the mother of the 15th first lady?'). Ask one self-contained question in plain words. "
    "Returns the answer with numbered, verbatim quotes, or says that the corpus does not hold it."
)


class IterativeRAGQueryEngine(BaseQueryEngine):
    """Answers a query with one source node for each citation.

    The text of a node is the verbatim quote; its metadata are the quote without Markdown (`display`), title, source,
    offsets and, where they exist, the page, the web address, the day on which a web page was read, and the sources of
    documents with the same text. With `streaming` the run starts when the stream is first read; the text comes word by
    word, and `source_nodes` and `metadata` are filled before the first word. `on_step` is called with every step of the
    run. Queries raise IterativeRAGError.
    """

    def __init__(
        self,
        rag: IterativeRAG,
        *,
        streaming: bool = False,
        on_step: Callable[[Step], None] | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(callback_manager)
        self._rag = rag
        self._streaming = streaming
        self._on_step = on_step

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        if self._streaming:
            nodes, metadata = list[NodeWithScore](), dict[str, Any]()
            return StreamingResponse(self._stream(query_bundle.query_str, nodes, metadata), nodes, metadata)
        return _response(self._ask(query_bundle.query_str))

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        if self._streaming:
            nodes, metadata = list[NodeWithScore](), dict[str, Any]()
            return AsyncStreamingResponse(self._astream(query_bundle.query_str, nodes, metadata), nodes, metadata)
        return _response(await self._aask(query_bundle.query_str))

    def _told(self, step: Step) -> Step:
        if self._on_step:
            self._on_step(step)
        return step

    def _ask(self, question: str) -> Answer:
        return answer_of(map(self._told, self._rag.steps(question)))

    async def _aask(self, question: str) -> Answer:
        """To cancel it ends the run."""
        async with aclosing(self._rag.asteps(question)) as steps:
            return answer_of([self._told(step) async for step in steps])

    def _stream(
        self, question: str, nodes: list[NodeWithScore], metadata: dict[str, Any]
    ) -> Generator[str, None, None]:
        yield from _words(self._ask(question), nodes, metadata)

    async def _astream(
        self, question: str, nodes: list[NodeWithScore], metadata: dict[str, Any]
    ) -> AsyncGenerator[str, None]:
        for word in _words(await self._aask(question), nodes, metadata):
            yield word


def _response(answer: Answer) -> Response:
    return Response(said(answer), source_nodes(answer), response_metadata(answer))


def as_tool(rag: IterativeRAG, *, name: str = "ask_corpus", description: str = TOOL_DESCRIPTION) -> FunctionTool:
    """A tool for an agent: it takes a `question` and returns the answer with its quotes, as text. Where the agent's run
    is cancelled, so is that of the question."""

    def ask_corpus(question: str) -> str:
        return with_quotes(rag.ask(question))

    async def ask_corpus_async(question: str) -> str:
        return with_quotes(await rag.aask(question))

    return FunctionTool.from_defaults(fn=ask_corpus, async_fn=ask_corpus_async, name=name, description=description)


def as_query_engine(
    rag: IterativeRAG, *, streaming: bool = False, on_step: Callable[[Step], None] | None = None
) -> IterativeRAGQueryEngine:
    """A query engine that answers hop by hop, for a `QueryEngineTool`, a router or alone."""
    return IterativeRAGQueryEngine(rag, streaming=streaming, on_step=on_step)


def said(answer: Answer) -> str:
    """The answer as one text that also says when the run abstained or was incomplete."""
    if answer.status in (Status.ANSWERED, Status.EXTRACT):
        return answer.text or answer.short_answer
    best = f" Best answer so far: {answer.text}" if answer.text and answer.status is Status.INCOMPLETE else ""
    return f"{answer.label}: {answer.reason}{best}"


def with_quotes(answer: Answer) -> str:
    """`said`, and below it the chain, the numbered quotes, what could not be read, and how far to trust it."""
    quotes = [f"[{citation.n}] {citation.title}: “{quote_of(citation)}”" for citation in answer.citations]
    if answer.nearest:
        quotes.append("What comes nearest:")
        quotes += [f"[{passage.n}] {passage.title}: “{quote_of(passage)}”" for passage in answer.nearest]
    if answer.confidence_word:
        quotes.append(f"Confidence: {answer.confidence_word}")
    lost = [f"Not read: {document.title} ({document.reason})" for document in answer.unread]
    return "\n".join([said(answer), *chain_lines(answer), *quotes, *lost])


def source_nodes(answer: Answer) -> list[NodeWithScore]:
    """One node a citation, in its order; the score is that of the fact that it quotes."""
    facts = {(fact.source, fact.start, fact.end): fact for hop in answer.hops for fact in hop.facts}
    return [
        _node(citation, facts.get((citation.source, citation.start, citation.end))) for citation in answer.citations
    ]


def _node(citation: Citation, fact: Fact | None) -> NodeWithScore:
    names = ("n", "title", "source", "start", "end", "page", "retrieved", "date", "url")
    told: dict[str, Any] = {name: getattr(citation, name) for name in names}
    told |= {"copies": list(citation.copies), "display": quote_of(citation), "need": fact.need.question if fact else ""}
    place = {"start_char_idx": citation.start, "end_char_idx": citation.end}
    return NodeWithScore(node=TextNode(text=citation.quote, metadata=told, **place), score=fact.score if fact else None)


def response_metadata(answer: Answer) -> dict[str, Any]:
    usage = answer.usage
    return {
        "status": str(answer.status),
        "reason": answer.reason,
        "reason_code": answer.reason_code and str(answer.reason_code),
        "short_answer": answer.short_answer,
        "form": str(answer.form),
        "confidence": answer.confidence,
        "confidence_word": answer.confidence_word and str(answer.confidence_word),
        "chain": [asdict(link) for link in answer.chain],
        "unread": [document.title for document in answer.unread],
        "hops": len(answer.hops),
        "llm_calls": usage.llm_calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "seconds": usage.seconds,
        "run_id": answer.run_id,
        "corpus_notice": answer.corpus_notice,
    }


def _words(answer: Answer, nodes: list[NodeWithScore], metadata: dict[str, Any]) -> Generator[str, None, None]:
    """Fills what the streaming response shows beside its text, then yields the text."""
    nodes.extend(source_nodes(answer))
    metadata.update(response_metadata(answer))
    yield from re.findall(r"\S+\s*", said(answer))
