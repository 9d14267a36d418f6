"""Replies and errors, however they travel: what the servers send that people run."""

from __future__ import annotations

import dataclasses
import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from fakes.counting_budget import CountingBudget
from fakes.loopback_server import Handler, LoopbackServer
from fakes.stream_parts import DONE, JSON, NDJSON, SSE, chunk, event, said, turn
from iterative_rag.errors import LLMError, LLMServerError, ReplyTruncated, ReplyUnreadable
from iterative_rag.llm.providers.model_choice import chat_model
from iterative_rag.llm.replies.forms import AnalysisReply
from iterative_rag.llm.replies.structured_call import ask
from iterative_rag.protocols import ChatModel, ChatRequest, FunctionSpec
from iterative_rag.remote.model_spec import Spec
from iterative_rag.settings import Settings

OLLAMA, OPENAI = "ollama", "openai-like"


@dataclass(frozen=True)
class Sent:
    """The body of a reply with status 200."""

    data: bytes
    kind: str = SSE
    encoding: str = ""


Wire = Callable[[str], Sent]


def streamed(*chunks: object, end: bytes = DONE) -> Sent:
    return Sent(b"".join(map(event, chunks)) + end)


def one_object(value: object, **options: Any) -> Sent:
    return Sent(json.dumps(value, **options).encode(), JSON)


def lines(*values: object) -> Sent:
    return Sent(b"".join(event(value, "", "\n") for value in values), NDJSON)


def _plain(text: str) -> Sent:
    return streamed(chunk(said("")), chunk({"content": text}), chunk({}, "stop"))


STOP = chunk({}, "stop")
WIRES: Mapping[str, Mapping[str, Wire]] = {
    OPENAI: {
        "plain": _plain,
        "no mark of the end": lambda text: streamed(chunk({"content": text}), STOP, end=b""),
        "comments": lambda text: Sent(b": ping\r\n\r\n" + _plain(text).data.replace(b"\n", b"\r\n")),
        "no space behind data": lambda text: Sent(_plain(text).data.replace(b"data: ", b"data:")),
        "named events": lambda text: Sent(_plain(text).data.replace(b"data: ", b"event: message\nid: 1\ndata: ")),
        "an empty first event": lambda text: streamed({"choices": []}, chunk({"content": text}), STOP),
        "reasoning_content": lambda text: streamed(chunk(said(None, reasoning_content=text)), STOP),
        "reasoning": lambda text: streamed(chunk(said("", reasoning=f"I think so.\n{text}")), STOP),
        "white space up to the limit": lambda text: streamed(
            chunk(said(f"{text}{' ' * 50}")), *[chunk({"content": " \n" * 40})] * 9, chunk({}, "length")
        ),
        "whole at the limit": lambda text: streamed(chunk({"content": text}), chunk({}, "length")),
        "a fence at the limit": lambda text: streamed(chunk(said(f"```json\n{text}\n```")), chunk({}, "max_tokens")),
        "compressed": lambda text: Sent(gzip.compress(_plain(text).data), SSE, "gzip"),
        "counts that are null": lambda text: streamed(chunk(said(text), "stop", usage=None), {"choices": []}),
    },
    OLLAMA: {
        "plain": lambda text: lines(turn(text), turn("", done=True)),
        "the text in the last line": lambda text: lines(turn(text, done=True)),
        "no end": lambda text: lines(turn(text)),
        "thinking": lambda text: lines(turn("", thinking=text), turn("", done=True)),
        "no last line end": lambda text: Sent(lines(turn(text), turn("", done=True)).data.rstrip(), NDJSON),
        "white space up to the limit": lambda text: lines(turn(text), *[turn("\n" * 90)] * 5, turn("", done=True)),
    },
}


@dataclass(frozen=True)
class FaultWire:
    """A reply that is none: its error says `words`, is of `status`, and is called for at most `calls` times."""

    sent: Wire
    words: str
    status: int = -1
    calls: int = 3


BUSY = "the upstream is overloaded"
FAULTS: Mapping[str, FaultWire] = {
    "in an event": FaultWire(lambda text: streamed(chunk(said(text[:9])), {"error": {"message": BUSY}}), BUSY),
    "a bomb": FaultWire(
        lambda text: Sent(gzip.compress(b": x" + b" " * 80_000_000), SSE, "gzip"), "larger than the limit of", -1, 1
    ),
    "damaged compression": FaultWire(
        lambda text: Sent(b"\x1f\x8bno", SSE, "gzip"), "its compression is damaged", -1, 1
    ),
    "another compression": FaultWire(lambda text: Sent(b"x", SSE, "br"), "compressed with br", -1, 1),
}


@dataclass
class WireServer(LoopbackServer):
    """Speaks both protocols; `reply` makes the text of each request's body, and `wire` sends it."""

    wire: Wire
    reply: Callable[[Mapping[str, Any]], str] = lambda body: '{"status": "known"}'
    bodies: list[Mapping[str, Any]] = field(default_factory=list)

    def __enter__(self) -> WireServer:
        self.start(_Handler, server_of=self)
        return self


class _Handler(Handler):
    server_of: WireServer

    def do_GET(self) -> None:
        self._send(one_object({"models": [{"name": "tiny"}], "data": [{"id": "tiny"}]}))

    def do_POST(self) -> None:
        body = json.loads(self.body())
        self.server_of.bodies.append(body)
        self._send(self.server_of.wire(self.server_of.reply(body)))

    def _send(self, sent: Sent) -> None:
        encoding = {"Content-Encoding": sent.encoding} if sent.encoding else {}
        self.send(sent.data, headers={"Content-Type": sent.kind, **encoding})


# --- the tests -----------------------------------------------------------------------------------


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
        OLLAMA: lambda thought: lines(turn("", thinking=thought), turn("", done=True)),
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
    (OLLAMA, lines(turn("", tool_calls=[CALL]), turn("", tool_calls=[OTHER]), turn("", done=True))),
]


@pytest.mark.parametrize(("kind", "sent"), CALLING)
def test_calls_of_functions_arrive_in_every_form(kind: str, sent: Sent) -> None:
    with WireServer(lambda text: sent) as server:
        reply = model_at(server, kind).complete(dataclasses.replace(REQUEST, functions=FUNCTIONS))
    made = [json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments for call in reply.calls]
    assert made == [ARGUMENTS, OTHER["function"]["arguments"]]
