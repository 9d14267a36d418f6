"""Both adapters of chat servers against a real local one, with everything that goes wrong on a wire."""

from __future__ import annotations

import dataclasses
import json
import threading
import traceback
from collections.abc import Callable

import pytest

from fakes.counting_budget import CountingBudget
from fakes.model_server import FakeServer, Fault, unused_url
from iterative_rag.errors import (
    CallSuperseded,
    ContextOverflow,
    LLMError,
    LLMServerError,
    LLMTimeout,
    LLMUnreachable,
    ModelMissing,
    ReplyTruncated,
)
from iterative_rag.llm.providers.model_choice import chat_model
from iterative_rag.llm.replies.forms import AnalysisReply
from iterative_rag.llm.replies.structured_call import ask
from iterative_rag.protocols import ChatModel, ChatRequest, FunctionCall, FunctionSpec
from iterative_rag.remote.api_keys import find
from iterative_rag.settings import Settings
from iterative_rag.system.threads import observing

SCHEMA = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}
REQUEST = ChatRequest("analyse", "Be brief.", "What is missing?", SCHEMA, max_tokens=77)
CHAT_PATH = {"ollama": "/api/chat", "openai-like": "/v1/chat/completions"}
pytestmark = pytest.mark.usefixtures("short_pauses")
Make = Callable[..., ChatModel]


@pytest.fixture
def make(kind: str, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> Make:
    """The adapter for `server`, by its spec."""

    def build(url: str = server.url, model: str = "tiny:8b", **settings: object) -> ChatModel:
        monkeypatch.setenv("OLLAMA_HOST", url)
        spec = f"ollama/{model}" if kind == "ollama" else f"openai-like/{model}@{url}/v1"
        built, notice = chat_model(spec, Settings(timeout=20).model_copy(update=settings))
        assert built is not None
        assert notice == ""
        return built

    return build


def test_a_reply_comes_whole_with_its_counts(make: Make, server: FakeServer) -> None:
    server.reply = '{"status": "known", "needs": [], "reason": "ünïcode — and more than one chunk"}'
    reply = make().complete(REQUEST)
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == (server.reply, 21, 7)


def test_options_and_schema_reach_the_server(make: Make, server: FakeServer, kind: str) -> None:
    make(seed=5, context_window=4096).complete(REQUEST)
    (seen,) = server.calls(CHAT_PATH[kind])
    assert seen.body["stream"] is True
    assert [message["role"] for message in seen.body["messages"]] == ["system", "user"]
    if kind == "ollama":
        assert seen.body["options"] == {"temperature": 0.0, "num_ctx": 4096, "seed": 5, "num_predict": 77}
        assert seen.body["format"] == SCHEMA
        assert seen.body["think"] is False
        assert not server.calls("/api/show")
    else:
        assert (seen.body["temperature"], seen.body["seed"], seen.body["max_tokens"]) == (0.0, 5, 77)
        assert seen.body["response_format"]["type"] == "json_schema"
        assert seen.body["response_format"]["json_schema"]["schema"] == SCHEMA


FUNCTIONS = (FunctionSpec("search", "Search.", {"type": "object", "properties": {"queries": {"type": "array"}}}),)
CALLS = (FunctionCall("search", {"queries": ["ünïcode", "b"]}), FunctionCall("submit", {"answer": "yes"}))


def test_functions_reach_the_server_and_their_calls_come_back(make: Make, server: FakeServer, kind: str) -> None:
    server.functions = lambda body: [{"name": one.name, "arguments": one.arguments} for one in CALLS]
    reply = make().complete(dataclasses.replace(REQUEST, functions=FUNCTIONS))
    called = [
        (one.name, json.loads(one.arguments) if isinstance(one.arguments, str) else one.arguments)
        for one in reply.calls
    ]
    assert called == [(one.name, one.arguments) for one in CALLS]
    (seen,) = server.calls(CHAT_PATH[kind])
    assert [tool["function"]["name"] for tool in seen.body["tools"]] == ["search"]
    assert not seen.body.get("format")
    assert "response_format" not in seen.body


def test_a_model_that_cannot_call_functions_is_asked_by_the_schema(make: Make, server: FakeServer, kind: str) -> None:
    server.refuses = frozenset({"tools"})
    model, request = make(), dataclasses.replace(REQUEST, functions=FUNCTIONS)
    assert model.complete(request).text == server.reply
    assert model.complete(request).calls == ()
    assert [bool(seen.body.get("tools")) for seen in server.calls(CHAT_PATH[kind])] == [True, False, False]
    asked = server.seen[-1].body
    assert asked.get("format") == SCHEMA or asked["response_format"]["json_schema"]["schema"] == SCHEMA


TEMPLATE, EFFORT = "chat_template_kwargs", "reasoning_effort"


@pytest.mark.parametrize("thinking", ["on", "off"])
def test_thinking_is_switched_as_the_server_takes_it(make: Make, server: FakeServer, kind: str, thinking: str) -> None:
    assert make(thinking=thinking).complete(REQUEST).text == server.reply
    on = thinking == "on"
    body = server.calls(CHAT_PATH[kind])[0].body
    if kind == "ollama":
        assert body["think"] is on
    else:
        assert body[TEMPLATE] == {"enable_thinking": on, "thinking": on}
        assert EFFORT not in body


@pytest.mark.parametrize(
    ("refused", "sent"),
    [
        ({TEMPLATE}, [{TEMPLATE}, {EFFORT}, {EFFORT}]),
        ({TEMPLATE, EFFORT}, [{TEMPLATE}, {EFFORT}, set(), set()]),
        ({"think"}, [{"think"}, set(), set()]),
    ],
)
def test_a_server_that_refuses_the_field_is_asked_without_it_from_then_on(
    make: Make, server: FakeServer, kind: str, refused: set[str], sent: list[set[str]]
) -> None:
    if (kind == "ollama") != (refused == {"think"}):
        pytest.skip("a field of the other protocol")
    server.refuses = frozenset(refused)
    model = make(thinking="on")
    assert [model.complete(REQUEST).text for _ in range(2)] == [server.reply] * 2
    fields = [{name for name in ("think", TEMPLATE, EFFORT) if seen.body.get(name)} for seen in server.seen]
    assert fields == sent


def test_no_server(make: Make, kind: str) -> None:
    with pytest.raises(LLMUnreachable) as caught:
        make(url=unused_url()).complete(REQUEST)
    assert ("ollama serve" if kind == "ollama" else "correct the URL") in caught.value.hint


def test_a_missing_model_says_what_to_type(make: Make, server: FakeServer, kind: str) -> None:
    with pytest.raises(ModelMissing, match="gone:7b") as caught:
        make(model="gone:7b").complete(REQUEST)
    expected = "ollama pull gone:7b" if kind == "ollama" else f"{server.url}/v1/models"
    assert expected in caught.value.hint
    assert len(server.calls(CHAT_PATH[kind])) == 1


@pytest.mark.parametrize(
    "fault", [Fault("status", 500), Fault("status", 503), Fault("drop"), Fault("cut"), Fault("broken"), Fault("error")]
)
def test_a_passing_fault_is_passed_over(make: Make, server: FakeServer, kind: str, fault: Fault) -> None:
    server.faults.append(fault)
    assert make().complete(REQUEST).text == server.reply
    assert len(server.calls(CHAT_PATH[kind])) == 2


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault("status", 500), LLMServerError),
        (Fault("drop"), LLMUnreachable),
        (Fault("cut"), ReplyTruncated),
        (Fault("broken"), ReplyTruncated),
        (Fault("error"), LLMServerError),
    ],
)
def test_a_lasting_fault_is_an_error_after_three_calls(
    make: Make, server: FakeServer, kind: str, fault: Fault, expected: type[LLMError]
) -> None:
    server.always = fault
    with pytest.raises(expected):
        make(retries=2).complete(REQUEST)
    assert len(server.calls(CHAT_PATH[kind])) == 3


@pytest.mark.parametrize("status", [401, 403, 413])
def test_what_will_not_go_through_later_is_not_retried(make: Make, server: FakeServer, kind: str, status: int) -> None:
    server.always = Fault("status", status, "no")
    with pytest.raises(LLMServerError) as caught:
        make().complete(REQUEST)
    assert caught.value.status == status
    assert len(server.calls(CHAT_PATH[kind])) == 1


def test_a_reply_at_its_limit_is_truncated_and_not_asked_for_again(make: Make, server: FakeServer, kind: str) -> None:
    server.always, server.reply = Fault("length"), '{"status": "kno'
    with pytest.raises(ReplyTruncated) as caught:
        make().complete(REQUEST)
    assert "reply_tokens" in caught.value.hint
    assert not caught.value.retryable
    assert len(server.calls(CHAT_PATH[kind])) == 1


def test_retry_after_is_heeded(make: Make, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("iterative_rag.remote.server_calls.time.sleep", pauses.append)
    server.faults.append(Fault("status", 429, "slow down", headers={"Retry-After": "7"}))
    assert make().complete(REQUEST).text == server.reply
    assert pauses == [7.0]


@pytest.mark.parametrize("bound", ["request", "settings"])
def test_a_silent_server_ends_at_the_deadline(make: Make, server: FakeServer, bound: str) -> None:
    server.always = Fault("hang")
    model = make(timeout=0.3 if bound == "settings" else 20)
    request = dataclasses.replace(REQUEST, seconds=0.3) if bound == "request" else REQUEST
    with pytest.raises(LLMTimeout):
        model.complete(request)


def test_a_call_that_is_not_needed_any_more_is_left_and_one_that_has_not_begun_is_not_made(
    make: Make, server: FakeServer, kind: str
) -> None:
    server.reply, server.pace = "x" * 16_000, 0.02
    cancelled, model = threading.Event(), make()
    threading.Timer(0.2, cancelled.set).start()
    for _ in range(2):
        with observing(cancelled), pytest.raises(CallSuperseded):
            model.complete(REQUEST)
    assert len(server.calls(CHAT_PATH[kind])) == 1


@pytest.mark.parametrize("kind", ["ollama"])
def test_a_model_that_breaks_the_form_where_it_may_not_think_is_asked_with_thinking(
    make: Make, server: FakeServer
) -> None:
    """Several models of Ollama leave the schema aside where they are told not to think."""
    server.reply = lambda body: "Let me see: it is known." if body.get("think") is False else '{"status": "known"}'
    model = make()
    for _ in range(3):
        assert ask(model, CountingBudget(left=60.0), REQUEST, AnalysisReply).status == "known"
    assert [body.body.get("think") for body in server.calls("/api/chat")] == [False, None, False, None, None]


@pytest.mark.parametrize("kind", ["ollama"])
@pytest.mark.parametrize("user", ["word " * 2000, "灯塔" * 500, "등대는 " * 300])
def test_ollama_is_not_sent_a_prompt_that_it_would_shorten(make: Make, server: FakeServer, user: str) -> None:
    with pytest.raises(ContextOverflow, match="room for 1,000") as caught:
        make(context_window=1000).complete(dataclasses.replace(REQUEST, user=user))
    assert "context_window" in caught.value.hint
    assert not server.seen


def test_the_openai_key_goes_to_openai_alone(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0815")
    model, _ = chat_model(f"openai-like/tiny:8b@{server.url}/v1", Settings())
    assert model is not None
    model.complete(REQUEST)
    assert "sk-very-secret-0815" not in str(server.seen[0].headers)
    assert find("https://api.openai.com/v1", "openai-like").value == "sk-very-secret-0815"
    for other in ("https://api.openai.com.example.org/v1", "http://api.openai.com/v1"):
        assert find(other, "openai-like").value == ""


def test_the_key_reaches_the_server_and_nobody_else(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-very-secret-0815"
    monkeypatch.setenv("ITERATIVE_RAG_API_KEY", key)
    monkeypatch.setenv("ITERATIVE_RAG_API_KEY_HOST", "127.0.0.1")
    model, _ = chat_model(f"openai-like/tiny:8b@{server.url}/v1", Settings())
    assert model is not None
    model.complete(REQUEST)
    assert server.seen[0].headers["Authorization"] == f"Bearer {key}"
    server.faults.append(Fault("status", 401, f"Incorrect API key provided: {key}"))
    with pytest.raises(LLMServerError) as caught:
        model.complete(REQUEST)
    assert "ITERATIVE_RAG_API_KEY" in caught.value.hint
    shown = "".join(traceback.format_exception(caught.value))
    for text in (str(caught.value), caught.value.hint, repr(caught.value), shown, model.name, repr(model), f"{model}"):
        assert key not in text
