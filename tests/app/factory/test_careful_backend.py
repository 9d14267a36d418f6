"""A small model beside the built-in models: it reads, they plan and check, through `IterativeRAG`."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fakes.model_server import FakeServer, unused_url
from fakes.scripted_llm import Scripted, ScriptedLLM
from fakes.two_article_corpus import QUESTION, TEXTS, write_articles
from iterative_rag import IterativeRAG
from iterative_rag.app.factory.backends import how_careful
from iterative_rag.errors import LLMUnreachable, UsageError
from iterative_rag.protocols import ChatRequest
from iterative_rag.remote.model_spec import Spec
from iterative_rag.settings import load_settings
from iterative_rag.types import Answer, FinalStep, ReadingStep, Status, Step

Reading = Callable[[str, list[str]], Scripted]
Ask = Callable[[Reading], tuple[list[Step], ScriptedLLM]]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.chdir(tmp_path)
    write_articles(tmp_path / "articles")
    IterativeRAG.index([tmp_path / "articles"])

    def asked(reading: Reading) -> tuple[list[Step], ScriptedLLM]:
        def reply(request: ChatRequest) -> Scripted:
            need, sentences = request.user.rsplit("QUESTION: ", 1)[1], re.findall(r"(?m)^\d+\. (.+)$", request.user)
            return reading(need, sentences)

        llm = ScriptedLLM({"read": reply}, name="tiny:1.5b")
        with closing(IterativeRAG.from_settings(llm=llm, cache=False)) as rag:
            return list(rag.steps(QUESTION)), llm

    return asked


def of(text: str, sentences: list[str]) -> int:
    return next((n for n, sentence in enumerate(sentences, start=1) if text in sentence), 0)


def rightly(need: str, sentences: list[str]) -> Scripted:
    value = "Edda Holm" if "mayor" in need and "Aldermere" in need else "Aldermere"
    return {"sentence": of(value, sentences), "answer": value}


def answer_of(steps: list[Step]) -> Answer:
    last = steps[-1]
    assert isinstance(last, FinalStep)
    return last.answer


def test_a_small_model_reads_and_plays_no_other_role(ask: Ask) -> None:
    steps, llm = ask(rightly)
    assert (answer_of(steps).status, answer_of(steps).short_answer) == (Status.ANSWERED, "Edda Holm")
    assert {request.role for request in llm.requests} == {"read"}
    assert len(llm.requests) <= 3
    assert all(len(request.system) < 1600 and request.max_tokens <= 100 for request in llm.requests)


def test_quotes_are_made_from_the_number_of_a_sentence(ask: Ask) -> None:
    steps, _ = ask(
        lambda need, sentences: {"sentence": len(sentences), "answer": sentences[-1].split()[-1].rstrip(".")}
    )
    facts = [fact for step in steps if isinstance(step, ReadingStep) for fact in step.facts]
    texts = "\n".join(TEXTS.values())
    assert facts
    assert all(fact.quote in texts for fact in facts)


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("oldest", "river Wend"),  # its quote does not bear it out
        ("", "Karsa"),  # it stands in no sentence that was shown
        ("", "13"),  # a part of a number is not the number
    ],
)
def test_a_value_that_its_sentence_does_not_bear_out_counts_for_nothing(ask: Ask, sentence: str, value: str) -> None:
    steps, _ = ask(lambda need, sentences: {"sentence": of(sentence, sentences), "answer": value})
    assert value not in {fact.value for step in steps if isinstance(step, ReadingStep) for fact in step.facts}
    assert answer_of(steps).short_answer == "Edda Holm"


def test_replies_that_cannot_be_read_are_told_and_lose_nothing(ask: Ask) -> None:
    steps, _ = ask(lambda need, sentences: "The mayor, I think.")
    assert answer_of(steps).short_answer == "Edda Holm"
    assert any(step.faults for step in steps if isinstance(step, ReadingStep))


def test_a_server_that_is_not_there_is_an_error(ask: Ask) -> None:
    with pytest.raises(LLMUnreachable):
        ask(lambda need, sentences: LLMUnreachable("Nothing answers.", hint="ollama serve"))


@pytest.mark.parametrize(
    ("model", "careful", "expected"),
    [
        ("ollama/qwen2.5-coder:1.5b", "auto", True),
        ("ollama/llama3.2:3b-instruct-q4_K_M", "auto", True),
        ("openai-like/Qwen2.5-0.5B-Instruct", "auto", True),
        ("ollama/llama3.1:8b", "auto", False),
        ("openai-like/gpt-oss-120b", "auto", False),
        ("openai-like/gpt-4o", "auto", False),
        ("ollama/qwen3:30b-a3b", "auto", False),
        ("ollama/gemma3n:e2b", "auto", False),
        ("ollama/qwen2.5-coder:1.5b", "off", False),
        ("openai-like/gpt-4o", "on", True),
        ("ollama/smollm2:360m", "auto", True),
    ],
)
def test_which_models_only_read(model: str, careful: str, expected: bool) -> None:
    assert how_careful(load_settings({"careful": careful}), model) == ("on" if expected else "off")


@pytest.mark.parametrize(
    ("kind", "figures", "expected"),
    [
        ("ollama", {"details": {"parameter_size": "1.5B"}}, True),
        ("ollama", {"details": {"parameter_size": "494.03M"}}, True),
        ("ollama", {"model_info": {"general.parameter_count": 8_030_261_248}}, False),
        ("ollama", {"details": {"parameter_size": ""}}, False),
        ("ollama", [], False),
        ("openai-like", {"meta": {"n_params": 1_543_714_304}}, True),
        ("openai-like", {"meta": {"n_params": 8_030_261_248}}, False),
        ("openai-like", {"meta": None}, False),
    ],
)
def test_a_name_that_does_not_tell_the_size_is_asked_for(
    server: FakeServer, kind: str, figures: Any, expected: bool
) -> None:
    server.models, server.figures = ("mine:latest",), figures
    url = server.url if kind == "ollama" else f"{server.url}/v1"
    assert how_careful(load_settings(), "", Spec(kind, "mine:latest", url)) == ("on" if expected else "off")
    asked = len(server.seen)
    how_careful(load_settings(), "", Spec(kind, "llama3.1:8b", url))
    how_careful(load_settings({"careful": "on"}), "", Spec(kind, "mine:latest", url))
    assert (asked, len(server.seen)) == (1, 1)


def test_a_server_that_does_not_answer_leaves_the_size_open() -> None:
    assert how_careful(load_settings(), "", Spec("ollama", "mine", unused_url())) == "off"


def test_the_user_is_told_that_the_built_in_models_take_no_length() -> None:
    for length, told in (("report", True), ("short", False)):
        with closing(IterativeRAG.from_settings(llm="builtin", length=length)) as rag:
            assert ("--length is not used" in rag.notice) is told


def test_the_user_is_told_that_a_small_model_reads_alone() -> None:
    llm = ScriptedLLM({}, name="tiny:1.5b")
    with closing(IterativeRAG.from_settings(llm=llm, fast_llm=llm)) as rag:
        assert "it reads" in rag.notice
        assert "doctor --qualify" in rag.notice
        assert "--fast-llm is not used" in rag.notice
        with pytest.raises(UsageError, match="agent"):
            rag.check("agent")
