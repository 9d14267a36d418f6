"""The query engine and the tool, alone and inside LlamaIndex's own agents and router."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.query_engine import RouterQueryEngine
from llama_index.core.schema import TextNode
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import QueryEngineTool

from fakes import two_article_corpus
from fakes.sample_answers import ABSTAINED, ANSWERED, CAPPED, FACT, NEED, QUESTION, FakeRAG, steps_to
from iterative_rag.app.factory import IterativeRAG, index_paths
from iterative_rag.errors import LLMUnreachable
from iterative_rag.integrations.llama_index import IterativeRAGQueryEngine, as_tool
from iterative_rag.llm.providers.scripted import ScriptedLLM
from iterative_rag.protocols import ChatRequest
from iterative_rag.settings import load_settings
from iterative_rag.types import Answer, FinalStep

NO_SUMMARIZER: Any = object()  # one engine is chosen, so that nothing is summarised


class QueuedLLM(CustomLLM):
    """Says the queued replies in turn; one too many fails."""

    replies: list[str]

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="queued")

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self.replies.pop(0))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        text = self.replies.pop(0)
        yield CompletionResponse(text=text, delta=text)


def engine(outcome: object = ANSWERED, **options: Any) -> IterativeRAGQueryEngine:
    return IterativeRAGQueryEngine(FakeRAG(outcome), **options)  # type: ignore[arg-type]


def test_a_response_carries_its_quotes_as_nodes() -> None:
    response = engine().query(QUESTION)
    assert isinstance(response, Response)
    assert str(response) == ANSWERED.text
    (found,) = response.source_nodes
    assert isinstance(found.node, TextNode)
    assert found.node.get_content() == FACT.quote
    assert found.score == FACT.score
    assert (found.node.start_char_idx, found.node.end_char_idx) == (FACT.start, FACT.end)
    assert found.node.metadata["title"] == "Sunday bridge"
    assert found.node.metadata["need"] == NEED.question
    assert response.metadata is not None
    assert response.metadata["status"] == "answered"
    assert response.metadata["short_answer"] == "Edda Holm"


def test_a_node_says_the_page_and_the_day() -> None:
    (citation,) = ANSWERED.citations
    outcome = replace(ANSWERED, citations=(replace(citation, page=7, retrieved="2031-05-06"),))
    (found,) = engine(outcome).query(QUESTION).source_nodes
    assert (found.node.metadata["page"], found.node.metadata["retrieved"]) == (7, "2031-05-06")


@pytest.mark.parametrize(
    ("outcome", "beginning"),
    [
        (ABSTAINED, "Not in the corpus: The corpus does not say"),
        (CAPPED, "Incomplete: The run reached"),
    ],
)
def test_a_response_says_when_it_is_no_full_answer(outcome: Answer, beginning: str) -> None:
    assert str(engine(outcome).query(QUESTION)).startswith(beginning)


def test_every_step_can_be_watched() -> None:
    seen: list[object] = []
    engine(on_step=seen.append).query(QUESTION)
    assert len(seen) == len(steps_to(ANSWERED))
    assert isinstance(seen[-1], FinalStep)


def test_streaming_fills_the_nodes_before_the_first_word() -> None:
    seen: list[object] = []
    response = engine(streaming=True, on_step=seen.append).query(QUESTION)
    assert isinstance(response, StreamingResponse)
    assert not seen
    words = iter(response.response_gen)
    first = next(words)
    assert len(response.source_nodes) == 1
    assert response.metadata is not None
    assert response.metadata["status"] == "answered"
    rest = list(words)
    assert rest
    assert first + "".join(rest) == ANSWERED.text


def test_async_and_async_streaming() -> None:
    async def both() -> tuple[str, str, int]:
        plain = await engine().aquery(QUESTION)
        streaming = await engine(streaming=True).aquery(QUESTION)
        assert isinstance(streaming, AsyncStreamingResponse)
        said = "".join([word async for word in streaming.async_response_gen()])
        return str(plain), said, len(streaming.source_nodes)

    assert asyncio.run(both()) == (ANSWERED.text, ANSWERED.text, 1)


def test_an_error_reaches_the_caller() -> None:
    with pytest.raises(LLMUnreachable):
        engine(LLMUnreachable("No server answers.")).query(QUESTION)


@pytest.mark.parametrize("streaming", [False, True])
def test_inside_a_router(streaming: bool) -> None:
    tools = [
        QueryEngineTool.from_defaults(engine(ABSTAINED), name="weather", description="the weather"),
        QueryEngineTool.from_defaults(engine(streaming=streaming), name="bridges", description="bridges"),
    ]
    llm = QueuedLLM(replies=[json.dumps([{"choice": 2, "reason": "it is about a bridge"}])])
    router = RouterQueryEngine(
        selector=LLMSingleSelector.from_defaults(llm=llm), query_engine_tools=tools, llm=llm, summarizer=NO_SUMMARIZER
    )
    response = router.query(QUESTION)
    assert str(response) == ANSWERED.text
    assert response.source_nodes[0].node.get_content() == FACT.quote
    assert llm.replies == []


def test_the_tool_says_the_answer_with_its_quotes() -> None:
    rag = FakeRAG(ANSWERED)
    output = as_tool(rag)(question=QUESTION)  # type: ignore[arg-type]
    assert rag.asked == [QUESTION]
    assert ANSWERED.text in output.content
    assert f"[1] Sunday bridge: “{FACT.quote}”" in output.content


def test_inside_a_function_agent() -> None:
    """The agent's model calls the tool once and answers with what the tool said."""
    rag = FakeRAG(ANSWERED)

    def reply(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        if messages[-1].role == "tool":
            return ChatMessage(role="assistant", content=f"I looked it up. {messages[-1].content}")
        call = ToolCallBlock(tool_call_id="1", tool_name="ask_corpus", tool_kwargs={"question": QUESTION})
        return ChatMessage(role="assistant", blocks=[call])

    agent = FunctionAgent(tools=[as_tool(rag)], llm=MockFunctionCallingLLM(response_generator=reply))  # type: ignore[arg-type]

    async def ask() -> str:
        return str(await agent.run("Who founded the town of the bridge?"))

    said = asyncio.run(ask())
    assert rag.asked == [QUESTION]
    assert said.startswith("I looked it up. Aldermere was founded by Edda Holm [1].")


def test_inside_a_react_agent() -> None:
    rag = FakeRAG(ANSWERED)
    thought = f"Thought: I need to look it up.\nAction: bridges\nAction Input: {json.dumps({'question': QUESTION})}"
    final = "Thought: I can answer without using any more tools.\nAnswer: Edda Holm"
    llm = QueuedLLM(replies=[thought, final])
    agent = ReActAgent(tools=[as_tool(rag, name="bridges")], llm=llm)  # type: ignore[arg-type]

    async def ask() -> str:
        return str(await agent.run("Who founded the town of the bridge?"))

    assert asyncio.run(ask()) == "Edda Holm"
    assert rag.asked == [QUESTION]
    assert llm.replies == []


def test_the_real_loop_inside_a_router(tmp_path: Path) -> None:
    """Nothing is played back here: a real index, the real engine, and a model that reads its prompts."""

    def reply(request: ChatRequest) -> str:
        assert request.schema is not None
        return two_article_corpus.play(request.schema, request.user)

    two_article_corpus.write_articles(tmp_path / "articles")
    settings = load_settings({"corpus": "towns"})
    index_paths([tmp_path / "articles"], settings=settings)
    scripted = ScriptedLLM(dict.fromkeys(("analyse", "extract", "rephrase", "rephrase_and_analyse", "answer"), reply))
    rag = IterativeRAG.from_settings(settings, llm=scripted)
    tool = QueryEngineTool.from_defaults(IterativeRAGQueryEngine(rag), name="towns", description="towns and bridges")
    selector = LLMSingleSelector.from_defaults(llm=QueuedLLM(replies=['[{"choice": 1, "reason": "the only one"}]']))
    router = RouterQueryEngine(
        selector=selector, query_engine_tools=[tool], llm=QueuedLLM(replies=[]), summarizer=NO_SUMMARIZER
    )
    response = router.query(two_article_corpus.QUESTION)
    rag.close()
    assert "Edda Holm" in str(response)
    assert {found.node.metadata["title"] for found in response.source_nodes} == {"Sunday bridge", "Aldermere"}
    for found in response.source_nodes:
        assert isinstance(found.node, TextNode)
        text = Path(found.node.metadata["source"]).read_text(encoding="utf-8")
        assert text[found.node.start_char_idx : found.node.end_char_idx] == found.node.get_content()
