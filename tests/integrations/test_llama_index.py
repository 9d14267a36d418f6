"""The query engine and the tool, alone and inside LlamaIndex's own agents and router."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.base.response.schema import Response, StreamingResponse
from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.query_engine import RouterQueryEngine
from llama_index.core.schema import TextNode
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import QueryEngineTool

from fakes.sample_answers import ABSTAINED, ANSWERED, CAPPED, FACT, NEED, QUESTION, FakeRAG
from iterative_rag.integrations.llama_index import IterativeRAGQueryEngine, as_tool
from iterative_rag.types import Answer

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


@pytest.mark.parametrize(
    ("outcome", "beginning"), [(ABSTAINED, "Not found in the corpus: The"), (CAPPED, "Incomplete: The run reached")]
)
def test_a_response_says_when_it_is_no_full_answer(outcome: Answer, beginning: str) -> None:
    assert str(engine(outcome).query(QUESTION)).startswith(beginning)


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


def test_inside_a_router() -> None:
    tools = [
        QueryEngineTool.from_defaults(engine(ABSTAINED), name="weather", description="the weather"),
        QueryEngineTool.from_defaults(engine(), name="bridges", description="bridges"),
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
