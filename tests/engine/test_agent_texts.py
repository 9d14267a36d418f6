"""The strategy `agent` where a text is asked for: it is written from the quotes that the agent has noted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakes import two_article_corpus
from iterative_rag import AnswerForm, IterativeRAG, Settings, Status
from iterative_rag.llm.providers.scripted import ScriptedLLM

WHY = "Why is Edda Holm of interest to the Sunday bridge?"
BRIDGE, MAYOR = two_article_corpus.FACTS
NOTED = [
    {"title": "Sunday bridge", "quote": BRIDGE, "question": "Where does the bridge stand?", "value": "Aldermere"},
    {"title": "Aldermere", "quote": MAYOR, "question": "Who is the mayor of Aldermere?", "value": "Edda Holm"},
]
SUBMITTED = {"tool": "submit", "answer": "She is its mayor [1][2].", "short_answer": "mayor", "confidence": 0.9}
REFUSED = {"tool": "submit", "answer": "", "short_answer": "", "missing": "why", "confidence": 0.2}
TEXT = "The Sunday bridge is a stone bridge in Aldermere [1]. The mayor of Aldermere is Edda Holm [2]."


def turn(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"thought": "so be it", "calls": list(calls)}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(two_article_corpus.indexed_home(tmp_path, "towns")))
    return Settings(corpus="towns", cache=False, strategy="agent")


def test_an_agent_that_answers_a_why_has_the_text_written_from_its_notes(settings: Settings) -> None:
    search = turn({"tool": "search", "queries": ["Sunday bridge", "mayor of Aldermere"]})
    replies = [search, turn({"tool": "note", "quotes": NOTED}), turn(SUBMITTED)]
    write = [{"status": "answered", "answer": TEXT, "confidence": 0.9}]
    with ScriptedLLM({"agent": replies, "write": write}) as llm, IterativeRAG.from_settings(settings, llm=llm) as rag:
        answer = rag.ask(WHY)
    assert (answer.status, answer.form, answer.short_answer) == (Status.ANSWERED, AnswerForm.EXPLANATION, "")
    assert answer.text == TEXT


def test_an_agent_that_refuses_is_believed(settings: Settings) -> None:
    search = turn({"tool": "search", "queries": ["Sunday bridge"]})
    replies = [search, turn({"tool": "note", "quotes": NOTED[:1]}), *[turn(REFUSED)] * 2]
    llm = ScriptedLLM({"agent": replies})
    with IterativeRAG.from_settings(settings, llm=llm) as rag:
        answer = rag.ask(WHY)
    assert answer.status is Status.ABSTAINED
    assert not llm.asked("write")
