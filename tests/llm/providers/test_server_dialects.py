"""The servers of docs/models.md, each played by a stand-in that takes, shows, counts and refuses as the real one."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator

import pytest

from fakes.model_server import Fault
from fakes.server_dialects import DIALECTS, GROQ, LLAMA_CPP_PYTHON, NIM, VLLM, Dialect, DialectServer
from iterative_rag.errors import ContextOverflow, LLMServerError, ModelMissing
from iterative_rag.llm.providers.model_choice import chat_model
from iterative_rag.llm.replies.json_parsing import visible
from iterative_rag.protocols import ChatModel, ChatRequest
from iterative_rag.settings import Settings

SCHEMA = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}
REQUEST = ChatRequest("analyse", "Reply in JSON.", "What is missing?", SCHEMA, max_tokens=77)


@pytest.fixture(params=DIALECTS, ids=lambda dialect: dialect.name)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    chosen: Dialect = request.param
    return chosen


@pytest.fixture
def server(dialect: Dialect) -> Iterator[DialectServer]:
    with DialectServer(dialect=dialect) as running:
        yield running


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that are waited between two calls; nobody waits for them."""
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    return waited


def model_at(server: DialectServer, name: str = "tiny", **settings: object) -> ChatModel:
    built, _ = chat_model(f"openai-like/{name}@{server.url}/v1", Settings(timeout=20).model_copy(update=settings))
    assert built is not None
    return built


def json_types(server: DialectServer) -> list[str]:
    """How each call asked for JSON."""
    return [body.get("response_format", {}).get("type", "") for body in server.bodies]


def test_the_reply_comes_in_the_best_form_that_the_server_takes(server: DialectServer) -> None:
    server.thoughts = lambda body: "Let me see."
    model = model_at(server)
    reply = model.complete(REQUEST)
    assert visible(reply.text) == server.reply
    assert reply.thought
    counted = server.dialect not in (NIM,)  # it is asked without its counts once it refuses the seed
    assert (reply.prompt_tokens, reply.completion_tokens) == (21, 7) or not counted
    best = next((one for one in ("json_schema", "json_object") if one in server.dialect.json_types), "")
    asked = len(server.bodies)
    model.complete(REQUEST)
    assert json_types(server)[asked:] == [best], "what it refuses is remembered"
    assert server.bodies[-1].get("response_format", {}).get("schema", SCHEMA) == SCHEMA
    assert ("schema" in server.bodies[-1].get("response_format", {})) == server.dialect.schema_in_object


def test_a_request_that_is_too_long_is_sent_once_and_says_what_to_set(server: DialectServer) -> None:
    server.faults.extend([server.dialect.overflow] * 3)
    with pytest.raises(ContextOverflow) as raised:
        model_at(server, thinking="off").complete(REQUEST)
    assert len(server.bodies) == 1
    assert "window_chars" in raised.value.hint


def test_a_limit_of_the_rate_is_waited_for(server: DialectServer, pauses: list[float]) -> None:
    model = model_at(server)
    model.complete(REQUEST)
    pauses.clear()
    server.faults.append(server.dialect.rate_limited)
    assert model.complete(REQUEST).text == server.reply
    assert len(pauses) == 1
    assert pauses == [8.0] or server.dialect is not GROQ


def test_an_unknown_model_and_a_missing_key_say_what_to_do(server: DialectServer) -> None:
    with pytest.raises((ModelMissing, LLMServerError)) as raised:
        model_at(server, "huge").complete(REQUEST)
    assert raised.value.fatal
    server.key = "sk-right"
    with pytest.raises(LLMServerError) as refused:
        model_at(server).complete(REQUEST)
    assert refused.value.status == 401
    assert "iterative-rag keys set" in refused.value.hint


def test_nim_that_is_starting_the_model_is_asked_again(pauses: list[float]) -> None:
    with DialectServer(dialect=NIM) as server:
        server.faults.append(Fault("status", 202, "", headers={"NVCF-REQID": "1", "NVCF-STATUS": "pending-evaluation"}))
        assert model_at(server).complete(REQUEST).text == server.reply
        server.faults.extend([Fault("status", 202, "")] * 20)
        with pytest.raises(LLMServerError, match="has not started tiny yet"):
            model_at(server).complete(REQUEST)
    assert pauses


@pytest.mark.parametrize("status", [400, 422, 500, 501])
def test_the_schema_is_given_up_whatever_the_status_by_which_it_is_refused(status: int) -> None:
    refusal = Fault("status", status, {"detail": [{"type": "literal_error"}]})
    with DialectServer(dialect=dataclasses.replace(LLAMA_CPP_PYTHON, json_refusal=lambda kind: refusal)) as server:
        model = model_at(server)
        for _ in range(2):
            assert model.complete(REQUEST).text == server.reply
    assert json_types(server)[-2:] == ["json_object", "json_object"]


CHINESE = "灯塔三号建于一八七三年，由工程师设计。" * 300
ENGLISH = "The lighthouse was built in 1873 by an engineer of the town, who had seen it. " * 300


@pytest.mark.parametrize("text", [ENGLISH, CHINESE, ENGLISH[:9000] + CHINESE[:3000]])
@pytest.mark.parametrize("window", [1024, 2048, 4096])
def test_a_prompt_of_which_a_part_was_read_is_said_and_not_repeated(text: str, window: int) -> None:
    """Ollama's /v1 knows no num_ctx: it drops what does not fit, replies, and counts what it has read."""
    with DialectServer(dialect=VLLM, counted=lambda prompt: min(window, tokens(prompt))) as server:
        model = model_at(server)
        assert model.complete(REQUEST).text == server.reply
        for _ in range(2):
            with pytest.raises(ContextOverflow, match=f"read {window:,} tokens") as raised:
                model.complete(dataclasses.replace(REQUEST, user=text))
    assert "OLLAMA_CONTEXT_LENGTH" in raised.value.hint
    assert len(server.bodies) <= 3


def tokens(prompt: str) -> int:
    """As a model counts that was trained on both languages."""
    dense = sum(letter > "\u2e80" for letter in prompt)
    return dense + (len(prompt) - dense) // 4
