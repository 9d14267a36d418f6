"""The text of an answer is told while an LLM writes it, by both kinds of servers; it is checked afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fakes.model_server import FakeServer, Fault
from fakes.two_article_corpus import QUESTION, play, write_articles
from iterative_rag.app.factory import IterativeRAG, index_paths
from iterative_rag.llm.replies.json_parsing import answer_so_far
from iterative_rag.settings import Settings
from iterative_rag.types import AnsweringStep, FinalStep, Step

WHOLE = "The mayor of Aldermere [1] is Edda Holm [2]."


def schema_of(body: Mapping[str, Any]) -> Mapping[str, Any]:
    form = body.get("format") or (body.get("response_format") or {}).get("json_schema", {}).get("schema") or {}
    assert isinstance(form, Mapping)
    return form


def replied(body: Mapping[str, Any]) -> str:
    return play(schema_of(body), "\n".join(message["content"] for message in body["messages"]))


@pytest.fixture
def rag(server: FakeServer, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> IterativeRAG:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    llm = "ollama/tiny:8b" if kind == "ollama" else f"openai-like/tiny:8b@{server.url}/v1"
    settings = Settings(corpus="towns", llm=llm, cache=False)
    write_articles(tmp_path / "articles")
    index_paths([tmp_path / "articles"], settings=settings, corpus="towns")
    server.reply = replied
    return IterativeRAG.from_settings(settings)


def run(rag: IterativeRAG) -> tuple[list[Step | str], list[str]]:
    happened: list[Step | str] = []
    for step in rag.steps(QUESTION, written=happened.append):
        happened.append(step)
    rag.close()
    return happened, [one for one in happened if isinstance(one, str)]


def test_the_answer_comes_in_pieces_before_its_step(rag: IterativeRAG) -> None:
    happened, texts = run(rag)
    assert len(texts) > 2
    assert all(after.startswith(before) for before, after in pairwise(texts))
    assert texts[-1] == WHOLE
    answering = next(place for place, one in enumerate(happened) if isinstance(one, AnsweringStep))
    assert max(place for place, one in enumerate(happened) if isinstance(one, str)) < answering


def test_a_stream_that_is_cut_is_no_answer_and_begins_anew(
    rag: IterativeRAG, server: FakeServer, short_pauses: None
) -> None:
    cut = [Fault("cut", after=6)]
    server.fault_of = lambda body: cut.pop() if "working" in schema_of(body).get("properties", {}) and cut else None
    happened, texts = run(rag)
    assert cut == []
    assert texts[-1] == WHOLE
    restarted = [n for n, (before, after) in enumerate(pairwise(texts)) if len(after) < len(before)]
    assert len(restarted) == 1
    final = happened[-1]
    assert isinstance(final, FinalStep)
    assert final.answer.short_answer == "Edda Holm"


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("", ""),
        ('{"working": "the answer: {", "status": "answ', ""),
        ('{"working": "", "status": "answered", "answer": "In 19', "In 19"),
        ('{"status": "answered", "answer": "a \\"b\\" \\u00e9\\ud83d', 'a "b" é'),
        ('{"status": "not_in_facts", "answer": "nothing', ""),
        ('{"compute": [{"answer": "not this"}], "answer": "this', "this"),
        ('<think>{"answer": "no"}</think>```json\n{"answer": "yes", "also": ["x"]}\n```', "yes"),
        ('{"answer": "whole", "caveats": ["answer"], "missing": "x"}{"answer": "second"}', "whole"),
        ("answer: in plain lines", ""),
        ('{"working": "5 \\% of", "confidence": 0.9, "answer": "one\ntwo', "one\ntwo"),
        ('{"answer": "done", "also', "done"),
        ('{"answer": ["One [1].", "Two', "One [1].\n\nTwo"),
        ('{"answer": {"text": "x"}', ""),
        ("[" * 100_000, ""),
    ],
)
def test_what_is_there_of_an_answer_is_read(reply: str, text: str) -> None:
    assert answer_so_far(reply) == text
