"""The OpenAI-compatible door, asked by the official client over real HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import OpenAI
from pydantic import BaseModel

from fakes.running_server import CORPUS, TOKEN, PlayingLLM, RunningServer, running_server
from fakes.two_article_corpus import QUESTION
from iterative_rag.errors import LLMUnreachable
from iterative_rag.protocols import ChatRequest
from tests.serve.conftest import check_stopped, held_server

MODEL = f"iterative-rag:{CORPUS}"


@pytest.fixture
def client(served: RunningServer) -> Iterator[OpenAI]:
    with connected(served) as client:
        yield client


def connected(server: RunningServer, key: str = "any") -> OpenAI:
    return OpenAI(base_url=f"{server.address}/v1", api_key=key, max_retries=0, timeout=30)


def asked(*texts: str) -> Any:
    """A conversation in turns, the user's first."""
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]


def thought(said: BaseModel) -> str:
    """The reasoning in a message or a delta."""
    return str((said.model_extra or {}).get("reasoning_content", ""))


def test_the_corpora_are_models_with_and_without_a_strategy(client: OpenAI) -> None:
    names = [model.id for model in client.models.list()]
    assert names[:2] == [MODEL, f"{MODEL}:naive"]
    assert f"{MODEL}:agent" in names
    assert client.models.retrieve(f"{MODEL}:full").id == f"{MODEL}:full"
    with pytest.raises(openai.NotFoundError, match="does not exist"):
        client.models.retrieve("gpt-4")


def test_an_answer_has_its_sources_below_it_and_the_hops_as_reasoning(client: OpenAI, served: RunningServer) -> None:
    reply = client.chat.completions.create(model=MODEL, messages=asked(QUESTION), temperature=0.2, seed=1)
    [choice] = reply.choices
    content = choice.message.content or ""
    assert choice.finish_reason == "stop"
    assert content.startswith("The mayor of Aldermere [1] is **Edda Holm** [2].")
    link = f"{served.address}/runs/{reply.id.removeprefix('chatcmpl-')}/quotes/2"
    assert f"[2] [Aldermere](<{link}>): “Its mayor is Edda Holm.”" in content
    with served.client() as browser:
        assert "Its mayor is Edda Holm." in browser.get(link, headers={"accept": "text/html"}).text
    assert "Hop 1: need: In which town" in thought(choice.message)
    assert reply.usage
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens > 0
    assert reply.model_extra
    assert reply.model_extra["iterative_rag"]["citations"][1]["quote"] == "Its mayor is Edda Holm."


def test_a_stream_brings_the_hops_while_they_happen_then_the_answer_and_the_usage(client: OpenAI) -> None:
    stream = client.chat.completions.create(
        model=f"{MODEL}:iterative", messages=asked(QUESTION), stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    thoughts = [thought(delta) for delta in deltas]
    assert deltas[0].role == "assistant"
    assert any("fact: Edda Holm “Its mayor is Edda Holm.” Aldermere" in one for one in thoughts)
    assert "".join(delta.content or "" for delta in deltas).startswith("The mayor of Aldermere [1]")
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage
    assert chunks[-1].usage.total_tokens > 0
    assert len({chunk.id for chunk in chunks}) == 1


def test_an_abstention_is_told_in_the_text_and_as_a_refusal(tmp_path: Path) -> None:
    with running_server(tmp_path, backends={"builtin": "builtin"}) as server:
        messages = asked("Who invented the submarine telegraph?")
        [choice] = connected(server).chat.completions.create(model=MODEL, messages=messages).choices
        listed = [model.id for model in connected(server).models.list()]
    assert choice.finish_reason == "stop"
    assert choice.message.refusal
    assert choice.message.refusal.startswith(("Not found in the corpus: ", "Not worked out: "))
    assert (choice.message.content or "").startswith(("**Not found in the corpus:**", "**Not worked out:**"))
    assert f"{MODEL}:agent" not in listed  # the built-in models have no tools


def test_an_error_of_the_model_is_one_of_the_protocol(tmp_path: Path) -> None:
    def fail(request: ChatRequest) -> None:
        raise LLMUnreachable("There is no server at http://10.1.2.3:11434.", hint="ollama serve")

    with running_server(tmp_path, backends={"failing": PlayingLLM(fail)}) as server:
        client = connected(server)
        with pytest.raises(openai.InternalServerError) as whole:
            client.chat.completions.create(model=MODEL, messages=asked(QUESTION))
        with pytest.raises(openai.APIError) as streamed:
            list(client.chat.completions.create(model=MODEL, messages=asked(QUESTION), stream=True))
    for told in (whole.value, streamed.value):
        assert "The server of the language model cannot be reached." in str(told)
        assert "There is no server at" not in str(told)


def test_a_follow_up_is_understood_from_the_messages_before_it(tmp_path: Path) -> None:
    with running_server(tmp_path, backends={"builtin": "builtin"}) as server:
        client = connected(server)
        messages = asked("Who is the mayor of Aldermere?")
        first = client.chat.completions.create(model=MODEL, messages=messages).choices[0].message.content or ""
        messages += [{"role": "assistant", "content": first}, {"role": "user", "content": "In which country is it?"}]
        second = client.chat.completions.create(model=MODEL, messages=messages).choices[0].message.content or ""
        messages += [{"role": "assistant", "content": second}, {"role": "user", "content": "And her mother?"}]
        third = client.chat.completions.create(model=MODEL, messages=messages).choices[0].message.content or ""
    assert "**Edda Holm** [1]" in first
    assert second.startswith("*Understood as: In which country is Aldermere?*\n\n")
    assert "**Vessel Isles** [1]" in second
    assert third.startswith("This follow-up cannot be understood: It is not clear who or what “her” is")


def test_a_client_that_goes_away_ends_its_run(tmp_path: Path) -> None:
    with held_server(tmp_path, grace_seconds=600) as (server, llm):
        stream = connected(server).chat.completions.create(model=MODEL, messages=asked(QUESTION), stream=True)
        next(iter(stream))
        assert llm.called.wait(30)
        stream.close()
        check_stopped(server, llm)


def test_a_full_queue_is_a_rate_limit(tmp_path: Path) -> None:
    with held_server(tmp_path, runs_at_once=1, queue=0) as (server, llm):
        client = connected(server)
        stream = client.chat.completions.create(model=MODEL, messages=asked(QUESTION), stream=True)
        next(iter(stream))
        with pytest.raises(openai.RateLimitError) as told:
            client.chat.completions.create(model=MODEL, messages=asked(QUESTION))
        llm.free.set()
        stream.close()
    assert told.value.response.headers["retry-after"]


def test_the_key_is_the_token_of_the_server(tmp_path: Path) -> None:
    with running_server(tmp_path, token=TOKEN) as server:
        assert connected(server, TOKEN).models.list().data
        with pytest.raises(openai.AuthenticationError):
            connected(server).models.list()


# Bodies that no question comes of, with the parameter or the words that the error names.
WRONG_BODIES: tuple[tuple[Any, str], ...] = (
    ([], "JSON object"),
    ({}, "model"),
    ({"model": MODEL}, "messages"),
    ({"model": MODEL, "messages": "Who?"}, "messages"),
    ({"model": MODEL, "messages": [None]}, "messages[0]"),
    ({"model": MODEL, "messages": [{"role": "root", "content": "Who?"}]}, "messages[0]"),
    ({"model": MODEL, "messages": [{"role": "system", "content": "Who?"}]}, "messages"),
    ({"model": MODEL, "messages": [{"role": "user", "content": {"text": "Who?"}}]}, "messages[0].content"),
    ({"model": MODEL, "messages": [{"role": "user", "content": "\ud800"}]}, "messages[0].content"),
    ({"model": MODEL, "messages": asked(" \n ")}, "The question is empty."),
    ({"model": MODEL, "messages": asked("x" * 9000)}, "8,000"),
    ({"model": MODEL, "messages": asked("Who?") * 3000}, "messages"),
    ({"model": "iterative-rag:../../etc", "messages": asked("Who?")}, "does not exist"),
    ({"model": "iterative-rag:towns:../full", "messages": asked("Who?")}, "does not exist"),
    ({"model": "iterative-rag:" + "x" * 5000, "messages": asked("Who?")}, "does not exist"),
    ({"model": MODEL, "messages": asked("Who?"), "n": True}, "n"),
    ({"model": MODEL, "messages": asked("Who?"), "stream": "yes"}, "stream"),
    ({"model": MODEL, "messages": asked("Who?"), "stream_options": {"include_usage": True}}, "stream_options"),
    ({"model": MODEL, "messages": asked("Who?"), "tools": [{"type": "function"}]}, "tools"),
    ({"model": MODEL, "messages": asked("Who?"), "response_format": {"type": "json_object"}}, "response_format"),
)


def test_a_wrong_body_is_refused_in_the_words_of_the_protocol(served: RunningServer) -> None:
    before = len(served.services.runs.all())
    with served.client() as client:
        for body, told in WRONG_BODIES:
            reply = client.post(
                "/v1/chat/completions", content=json.dumps(body), headers={"content-type": "application/json"}
            )
            error = reply.json()["error"]
            assert reply.status_code in (400, 404), (body, reply.text)
            assert told in (error["param"] or "") or told in error["message"], (str(body)[:100], error)
            assert error["type"] == "invalid_request_error"
            assert len(reply.text) < 2000
            assert "Traceback" not in reply.text
    assert len(served.services.runs.all()) == before


def test_what_is_no_json_or_no_route_is_refused(served: RunningServer) -> None:
    json_type = {"content-type": "application/json"}
    with served.client() as client:
        assert client.post("/v1/chat/completions", content=b"{", headers=json_type).status_code == 400
        assert client.post("/v1/chat/completions", content=b"[" * 50_000, headers=json_type).status_code == 400
        text = {"content-type": "text/plain"}
        assert client.post("/v1/chat/completions", content=b"{}", headers=text).status_code == 400
        assert client.get("/v1/chat/completions").status_code == 405
        assert client.get("/v1/models/..%2f..%2fetc%2fpasswd").status_code == 404
        assert client.post("/v1/completions", json={"prompt": "x"}).status_code == 404
        cross = client.post("/v1/chat/completions", json={}, headers={"origin": "https://evil.example"})
        assert cross.status_code == 403
        assert client.get("/v1/models", headers={"host": "evil.example"}).status_code in (400, 403, 421)
