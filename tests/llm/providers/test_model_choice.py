"""Specs, addresses, and how `auto` chooses."""

from __future__ import annotations

import sys

import pytest

from fakes.model_server import FakeServer, unused_url
from fakes.web_sites import sending, serving
from iterative_rag.errors import IterativeRAGError, LLMError, UsageError, install_command
from iterative_rag.llm.providers.model_choice import billions, chat_model
from iterative_rag.llm.providers.ollama import probe
from iterative_rag.registry import LLMS
from iterative_rag.remote.model_spec import Spec, parse_spec
from iterative_rag.remote.server_calls import ollama_url
from iterative_rag.settings import Settings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("builtin", Spec("builtin")),
        (" auto ", Spec("auto")),
        ("ollama/llama3.1:8b", Spec("ollama", "llama3.1:8b")),
        ("ollama/hf.co/some/model:Q4_K_M", Spec("ollama", "hf.co/some/model:Q4_K_M")),
        ("openai-like/some/model@http://host:8000/v1/", Spec("openai-like", "some/model", "http://host:8000/v1")),
        ("openai-like/m@2024@https://host/v1", Spec("openai-like", "m@2024", "https://host/v1")),
    ],
)
def test_valid_specs(text: str, expected: Spec) -> None:
    assert parse_spec(text, LLMS) == expected


WRONG = "gpt-4 ollama/ openai-like/m openai-like/m@host/v1 openai-like/@http://h openai-like/m@http://["


@pytest.mark.parametrize("text", ["", "ollama/a b", "openai-like/m@http://h:99999/v1", *WRONG.split()])
def test_invalid_specs_say_which_forms_there_are(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_spec(text, LLMS)
    assert "openai-like/MODEL@URL" in caught.value.hint


@pytest.mark.parametrize("url", ["http://me:hidden@host/v1", "http://host/v1?key=hidden"])
def test_a_url_must_not_hold_a_secret_and_it_is_not_repeated(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_spec(f"openai-like/m@{url}", LLMS)
    assert "hidden" not in str(caught.value) + caught.value.hint
    assert "ITERATIVE_RAG_API_KEY" in caught.value.hint


def test_the_url_of_ollama_is_no_part_of_its_spec_and_is_not_passed_over() -> None:
    """It was taken for a part of the model's name, and the server of this machine was asked."""
    with pytest.raises(UsageError, match="takes no URL") as caught:
        parse_spec("ollama/llama3.1:8b@http://me:hidden@box:11434", LLMS)
    assert caught.value.hint == "Type ollama/llama3.1:8b, and set OLLAMA_HOST=URL to where the server runs."


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("", "http://127.0.0.1:11434"),
        ("box", "http://box:11434"),
        ("box:1234", "http://box:1234"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:99", "http://127.0.0.1:99"),
        ("http://0.0.0.0:99/", "http://127.0.0.1:99"),
        ("https://box", "https://box:443"),
        ("http://box", "http://box:80"),
        ("https://box:8443/under", "https://box:8443/under"),
        ("::1", "http://[::1]:11434"),
        ("[::]:99", "http://[::1]:99"),
        (":99", "http://127.0.0.1:99"),
    ],
)
def test_ollama_host(monkeypatch: pytest.MonkeyPatch, host: str, expected: str) -> None:
    monkeypatch.setenv("OLLAMA_HOST", host)
    assert ollama_url() == expected


@pytest.mark.parametrize("host", ["ftp://box", "box:notaport"])
def test_an_ollama_host_that_is_no_address(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("OLLAMA_HOST", host)
    with pytest.raises(UsageError, match="OLLAMA_HOST"):
        ollama_url()


def test_probe_tells_chat_models_from_embedders(server: FakeServer) -> None:
    server.models = ("nomic-embed-text:latest", "tiny:8b", "all-minilm:33m")
    state = probe(server.url)
    assert state.reachable
    assert state.models == tuple(server.models)
    assert state.chat_models == ("tiny:8b",)


def test_what_is_nested_too_deeply_is_no_reply_of_ollama(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(sending(b"[" * 90_000)) as (host, paths):
        monkeypatch.setenv("OLLAMA_HOST", host)
        assert probe().problem == "what answers there is not Ollama"
        assert billions("", Spec("ollama", "tiny")) is None
    assert paths == ["/api/tags", "/api/show"]


def test_auto_takes_ollama_where_it_has_a_chat_model(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    model, notice = chat_model("auto", Settings())
    assert model is not None
    assert model.name.startswith("ollama/tiny:8b")
    assert "ollama/tiny:8b" in notice


@pytest.mark.parametrize("there", [True, False])
def test_auto_falls_back_to_the_built_in_reader_and_says_how_to_get_more(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    server.models = ("nomic-embed-text:latest",)
    monkeypatch.setenv("OLLAMA_HOST", server.url if there else unused_url())
    model, notice = chat_model("auto", Settings())
    assert model is None
    assert "ollama pull" in notice
    assert "\n" not in notice


@pytest.mark.parametrize("area", ["llms", "embedders"])
def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, area: str) -> None:
    package = {"llms": "llms", "embedders": "embeddings"}[area]
    monkeypatch.setitem(sys.modules, f"llama_index.{package}.openai_like", None)
    from iterative_rag.index.embedders import embedder

    spec = "openai-like/m@http://127.0.0.1:1/v1"
    with pytest.raises(IterativeRAGError) as caught:
        chat_model(spec, Settings()) if area == "llms" else embedder(spec)
    assert install_command("openai-like") in caught.value.hint
    assert isinstance(caught.value, LLMError) == (area == "llms")
