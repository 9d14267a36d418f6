"""Replies and errors, however they travel: what the servers send that people run."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from fakes.counting_budget import CountingBudget
from fakes.reply_wires import (
    FAULTS,
    OLLAMA,
    OPENAI,
    WIRES,
    Sent,
    WireServer,
    chunk,
    said,
    streamed,
    turn,
)
from fakes.reply_wires import lines as json_lines
from iterative_rag.errors import LLMError, LLMServerError, ReplyTruncated, ReplyUnreadable
from iterative_rag.llm.providers.model_choice import chat_model
from iterative_rag.llm.replies.forms import AnalysisReply
from iterative_rag.llm.replies.structured_call import ask
from iterative_rag.protocols import ChatModel, ChatRequest, FunctionSpec
from iterative_rag.remote.model_spec import Spec
from iterative_rag.settings import Settings

SCHEMA = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}
REQUEST = ChatRequest("analyse", "Reply in JSON.", "What is missing?", SCHEMA, max_tokens=77)
TEXT = '{"reason": "ünïcode [1] {x}", "status": "known", "needs": []}'
EVERY = [(kind, name) for kind, wires in WIRES.items() for name in wires]
pytestmark = pytest.mark.usefixtures("short_pauses")


def model_at(server: WireServer, kind: str, **settings: object) -> ChatModel:
    spec = Spec("ollama", "tiny", server.url) if kind == OLLAMA else f"openai-like/tiny@{server.url}/v1"
    built, _ = chat_model(spec, Settings(timeout=300).model_copy(update=settings))
    assert built is not None
    return built


@pytest.mark.parametrize(("kind", "name"), EVERY, ids=[f"{kind}: {name}" for kind, name in EVERY])
def test_a_reply_arrives_however_it_travels(kind: str, name: str) -> None:
    with WireServer(WIRES[kind][name], lambda body: TEXT) as server:
        reply = ask(model_at(server, kind), CountingBudget(left=300.0), REQUEST, AnalysisReply)
    assert (reply.status, reply.reason) == ("known", "ünïcode [1] {x}")
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        pytest.param(kind, name, marks=[pytest.mark.nightly] if (kind, name) == (OLLAMA, "a bomb") else [])
        for kind in (OPENAI, OLLAMA)
        for name in FAULTS
        if (kind, name) != (OLLAMA, "in an event")
    ],
)
def test_an_error_in_a_reply_is_told_in_the_server_s_words_and_not_called_for_ten_times(kind: str, name: str) -> None:
    fault = FAULTS[name]
    with WireServer(fault.sent, lambda body: TEXT) as server, pytest.raises(LLMError) as raised:
        model_at(server, kind, retries=2).complete(REQUEST)
    assert fault.words in str(raised.value)
    assert "serve" not in raised.value.hint.replace("server", ""), "it runs"
    if isinstance(raised.value, LLMServerError):
        assert raised.value.status == fault.status
    assert len(server.bodies) <= fault.calls


@pytest.mark.parametrize("kind", [OPENAI, OLLAMA])
@pytest.mark.parametrize("text", ["Let me think about it.", 'Perhaps {"status": "known"}? No.', ""])
def test_thoughts_without_a_reply_are_no_reply(kind: str, text: str) -> None:
    thinking: dict[str, Callable[[str], Sent]] = {
        OPENAI: lambda thought: streamed(chunk(said("", reasoning_content=thought)), chunk({}, "stop")),
        OLLAMA: lambda thought: json_lines(turn("", thinking=thought), turn("", done=True)),
    }
    with WireServer(thinking[kind], lambda body: text) as server, pytest.raises(ReplyUnreadable) as raised:
        ask(model_at(server, kind), CountingBudget(left=300.0), REQUEST, AnalysisReply)
    assert ("thoughts alone" if text else "empty") in str(raised.value)


@pytest.mark.parametrize("ending", ["length", "content_filter"])
@pytest.mark.parametrize("text", ['{"status": "kno', 'A draft: {"status": "known"}', '{"status": "known"} and'])
def test_a_cut_reply_is_no_whole_one(text: str, ending: str) -> None:
    def cut(reply: str) -> Sent:
        return streamed(chunk(said(reply)), chunk({}, ending))

    with WireServer(cut, lambda body: text) as server, pytest.raises(ReplyTruncated, match=ending):
        model_at(server, OPENAI).complete(REQUEST)
    assert len(server.bodies) == 1


ARGUMENTS = {"queries": ["a"]}
CALL = {"function": {"name": "search", "arguments": ARGUMENTS}}
OTHER = {"function": {"name": "search", "arguments": {"queries": ["b"]}}}


def streamed_call(call: Mapping[str, Any], index: int) -> dict[str, Any]:
    """A call as OpenAI's streams write it."""
    written = {**call["function"], "arguments": json.dumps(call["function"]["arguments"])}
    return {"index": index, "id": f"call_{index}", "type": "function", "function": written}


FIRST, SECOND = streamed_call(CALL, 0), streamed_call(OTHER, 1)
FUNCTIONS = (FunctionSpec("search", "Search.", {"type": "object", "properties": {"queries": {"type": "array"}}}),)
CALLING: list[tuple[str, Sent]] = [
    (OPENAI, streamed(chunk(said(None, tool_calls=[FIRST, SECOND]), "tool_calls"))),
    (OPENAI, streamed(chunk({"tool_calls": [FIRST]}), chunk({"tool_calls": [SECOND]}), chunk({}, "stop"))),
    (OLLAMA, json_lines(turn("", tool_calls=[CALL]), turn("", tool_calls=[OTHER]), turn("", done=True))),
]


@pytest.mark.parametrize(("kind", "sent"), CALLING)
def test_calls_of_functions_arrive_in_every_form(kind: str, sent: Sent) -> None:
    with WireServer(lambda text: sent) as server:
        reply = model_at(server, kind).complete(dataclasses.replace(REQUEST, functions=FUNCTIONS))
    made = [json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments for call in reply.calls]
    assert made == [ARGUMENTS, OTHER["function"]["arguments"]]
