"""The strategy `agent` against a real server on loopback: functions where it has them, else JSON, and bad replies."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from fakes import two_article_corpus
from fakes.model_server import FakeServer, Fault
from iterative_rag import IterativeRAG, Settings
from iterative_rag.types import Answer, FinalStep

QUESTION = two_article_corpus.QUESTION
BRIDGE, MAYOR = two_article_corpus.FACTS
Calls = Sequence[Mapping[str, Any]]
SEARCH = {"tool": "search", "queries": ["Where does the Sunday bridge stand?", "Sunday bridge"]}
FIND = {"tool": "find_in_article", "title": "Aldermere", "words": "mayor"}
NOTE = {"tool": "note", "quotes": [{"title": "Sunday bridge", "quote": BRIDGE, "value": "Aldermere"}]}
SUBMIT = {
    "tool": "submit",
    "answer": "The Sunday bridge stands in Aldermere [1]. The mayor of Aldermere is Edda Holm [2].",
    "short_answer": "Edda Holm",
    "quotes": [{"title": "Aldermere", "quote": MAYOR, "value": "Edda Holm"}],
    "confidence": 0.9,
}


pytestmark = pytest.mark.usefixtures("towns")


@dataclass(frozen=True)
class Form:
    """A server's protocol, and whether its model calls functions or writes JSON."""

    kind: str
    functions: bool

    def spec(self, server: FakeServer) -> str:
        return "ollama/tiny:8b" if self.kind == "ollama" else f"openai-like/tiny:8b@{server.url}/v1"

    def __str__(self) -> str:
        return f"{self.kind} {'functions' if self.functions else 'JSON'}"


FORMS = [Form(kind, functions) for kind in ("ollama", "openai-like") for functions in (True, False)]


def speaking(form: Form, turns: Sequence[Calls]) -> FakeServer:
    """A server whose model makes these turns, by the number of turns that it was asked for before."""
    asked = deque(turns)

    def called(body: Mapping[str, Any]) -> Calls:
        plain = [{"name": one["tool"], "arguments": {k: v for k, v in one.items() if k != "tool"}} for one in asked[0]]
        asked.popleft()
        return plain

    def written(body: Mapping[str, Any]) -> str:
        return json.dumps({"calls": list(asked.popleft())})

    refused = frozenset[str]() if form.functions else frozenset({"tools"})
    return FakeServer(reply=written, functions=called if form.functions else lambda body: (), refuses=refused)


def asked(server: FakeServer, form: Form, monkeypatch: pytest.MonkeyPatch) -> Answer:
    return happened(server, form, monkeypatch)[0]


def happened(server: FakeServer, form: Form, monkeypatch: pytest.MonkeyPatch) -> tuple[Answer, list[str]]:
    """The answer, and its texts as they were told while it was written."""
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    settings = Settings(corpus="towns", cache=False, strategy="agent", llm=form.spec(server))
    rag = IterativeRAG.from_settings(settings)
    texts: list[str] = []
    try:
        *_, last = rag.steps(QUESTION, written=texts.append)
    finally:
        rag.close()
    assert isinstance(last, FinalStep)
    return last.answer, texts


def bodies(server: FakeServer) -> list[Mapping[str, Any]]:
    return [seen.body for seen in server.seen if seen.path.endswith(("chat", "completions"))]


def told(server: FakeServer, turn: int = 1) -> str:
    """What the model is shown in a turn, from 0, without the attempts that a server refused."""
    taken = [body for body in bodies(server) if not (body.get("tools") and "tools" in server.refuses)]
    return str(taken[turn]["messages"][-1]["content"])


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_several_calls_of_a_turn_are_carried_out(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    with speaking(form, [[SEARCH, FIND], [NOTE, SUBMIT]]) as server:
        answer = asked(server, form, monkeypatch)
    assert (answer.short_answer, answer.usage.llm_calls) == ("Edda Holm", 2)
    assert [citation.quote for citation in answer.citations] == [BRIDGE, MAYOR]
    assert BRIDGE in told(server)
    assert "find_in_article Aldermere: mayor: " in told(server)
    offered = [bool(body.get("tools")) for body in bodies(server)]
    assert offered == ([True, True] if form.functions else [True, False, False])


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_the_answer_is_told_while_it_is_written(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    with speaking(form, [[SEARCH, FIND], [NOTE, SUBMIT]]) as server:
        answer, texts = happened(server, form, monkeypatch)
    assert texts[-1] == answer.text == SUBMIT["answer"]
    assert all(answer.text.startswith(text) for text in texts)
    whole = form.kind == "ollama" and form.functions  # Ollama sends a call of a function in one piece
    assert len(texts) == 1 if whole else len(texts) > 3


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_refused_submission_is_taken_back(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = {**SUBMIT, "answer": "It is Ada Thorn.", "short_answer": "Ada Thorn", "quotes": []}
    with speaking(form, [[SEARCH, FIND, bare], [NOTE, SUBMIT]]) as server:
        answer, texts = happened(server, form, monkeypatch)
    at = texts.index("It is Ada Thorn.")
    assert texts[at + 1] == ""
    assert texts[-1] == answer.text == SUBMIT["answer"]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_reply_that_was_cut_off_is_asked_for_again(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON that came to its end is whole, whatever the server says of the limit."""
    with speaking(form, [[SEARCH], [NOTE, SUBMIT], [NOTE, SUBMIT]]) as server:
        attempts = 1 if form.functions else 2  # the first one learns that the model has no functions
        server.faults = deque([*[None] * attempts, Fault("length")])
        answer = asked(server, form, monkeypatch)
    assert (answer.short_answer, answer.usage.llm_calls) == ("Edda Holm", 3 if form.functions else 2)
    assert [citation.quote for citation in answer.citations] == [BRIDGE, MAYOR]
