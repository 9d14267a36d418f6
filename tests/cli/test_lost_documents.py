"""A document that cannot be read never turns into "the corpus does not hold it": every strategy."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes import bridge_world
from fakes.command_line import Command
from fakes.model_server import FakeServer, Fault
from fakes.sample_answers import check_schema
from fakes.two_article_corpus import index_articles
from iterative_rag import IterativeRAG, Status
from iterative_rag.types import DegradedStep, FinalStep

WORLD = bridge_world.places(6)
PLACE = WORLD[2]
BROKEN = Fault("status", 500, "out of memory")
STRATEGIES = ("crag", "self-rag", "plan", "iterative", "full")


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("bridges")
    bridge_world.write_articles(base / "articles", WORLD)
    return index_articles(base)


@pytest.fixture(autouse=True)
def _own_copy(indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(indexed, tmp_path / "home")
    monkeypatch.setenv("ITERATIVE_RAG_RETRIES", "0")


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    with FakeServer(reply=bridge_world.reply) as running:
        monkeypatch.setenv("OLLAMA_HOST", running.url)
        yield running


def is_reading(body: Mapping[str, Any], title: str) -> bool:
    return bridge_world.role_of(body) == "extract" and f"[{title}]\n" in bridge_world.user_prompt(body)


def failing(title: str, fault: Fault, times: int = 1000) -> Callable[[Mapping[str, Any]], Fault | None]:
    """The fault for whoever reads the document of this title, the first `times` times."""
    left = [fault] * times
    return lambda body: left.pop() if left and is_reading(body, title) else None


def ask(strategy: str = "iterative", question: str = PLACE.one_hop, **settings: Any) -> Any:
    rag = IterativeRAG.from_settings(llm="ollama/tiny:8b", strategy=strategy, **settings)
    try:
        return rag.ask(question)
    finally:
        rag.close()


@pytest.mark.parametrize("strategy", ["naive", *STRATEGIES])
def test_every_strategy_answers_where_all_is_read(ollama: FakeServer, strategy: str) -> None:
    answer = ask(strategy)
    assert (answer.status, answer.short_answer, answer.unread) == (Status.ANSWERED, PLACE.mayor, ())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_one_right_document_unread_is_incomplete_and_never_an_abstention(ollama: FakeServer, strategy: str) -> None:
    ollama.fault_of = failing(PLACE.town, BROKEN)
    answer = ask(strategy)
    assert answer.status is Status.INCOMPLETE
    assert f"could not be read: {PLACE.town}" in answer.reason
    assert (PLACE.town, PLACE.one_hop) in [(lost.title, lost.need) for lost in answer.unread]
    assert (answer.fault, answer.cap) == (None, None)


def test_the_command_says_so_with_its_exit_code(run: Command, ollama: FakeServer) -> None:
    ollama.fault_of = failing(PLACE.town, BROKEN)
    done = run("ask", PLACE.one_hop, "--llm", "ollama/tiny:8b", "--json")
    assert done.code == 6, done.err
    made = json.loads(done.out)
    check_schema(made)
    assert made["status"] == "incomplete"
    assert made["reason"].startswith(f"1 document could not be read: {PLACE.town} (")
    assert "out of memory" in made["reason"]
    assert [lost["title"] for lost in made["unread"]] == [PLACE.town]
    assert "not read" in done.err
    assert f"{PLACE.town}: Ollama" in done.err
    assert "could not be read" in run("trace").out


@pytest.mark.parametrize("reply", ["", "The document is about a town.", '{"facts": [{"statement": "The', "null"])
def test_a_reply_that_cannot_be_read_loses_the_document_too(ollama: FakeServer, reply: str) -> None:
    ollama.reply = lambda body: reply if is_reading(body, PLACE.town) else bridge_world.reply(body)
    answer = ask()
    assert answer.status is Status.INCOMPLETE
    assert [lost.title for lost in answer.unread] == [PLACE.town]
    assert answer.fault is None


def test_time_that_ends_names_what_was_not_read(run: Command, ollama: FakeServer) -> None:
    ollama.fault_of = failing(PLACE.town, Fault("hang"))
    done = run("ask", PLACE.one_hop, "--llm", "ollama/tiny:8b", "--max-seconds", "6", "--json", "--no-cache")
    made = json.loads(done.out)
    assert (done.code, made["status"]) == (6, "incomplete")
    assert "limit of 6 seconds" in made["reason"]
    assert f"could not be read: {PLACE.town}" in made["reason"]


def test_a_document_that_could_not_be_read_is_read_by_the_wider_search(ollama: FakeServer) -> None:
    ollama.fault_of = failing(PLACE.town, BROKEN, times=1)
    answer = ask("iterative")
    assert (answer.status, answer.short_answer) == (Status.ANSWERED, PLACE.mayor)


def test_where_nothing_at_all_comes_back_it_is_the_server(run: Command, ollama: FakeServer) -> None:
    ollama.always = BROKEN
    done = run("ask", PLACE.one_hop, "--llm", "ollama/tiny:8b", "--strategy", "crag")
    assert (done.code, done.out) == (5, "")
    assert "out of memory" in done.err


OPTIONAL = [("iterative", "rephrase"), ("self-rag", "reflect")]


@pytest.mark.parametrize(("strategy", "role"), OPTIONAL)
def test_the_run_goes_on_without_a_part_that_it_can_do_without(ollama: FakeServer, strategy: str, role: str) -> None:
    """A rephrasing or a reflection that could not be had ended the run, though its facts answered the question."""
    ollama.fault_of = lambda body: BROKEN if bridge_world.role_of(body) in (role, "rephrase_and_analyse") else None
    question = PLACE.two_hops if strategy != "self-rag" else PLACE.one_hop
    rag = IterativeRAG.from_settings(llm="ollama/tiny:8b", strategy=strategy)
    try:
        *steps, last = rag.steps(question)
    finally:
        rag.close()
    lost = [step for step in steps if isinstance(step, DegradedStep)]
    assert {(step.role, step.error) for step in lost} == {(role, "LLMServerError")}
    assert isinstance(last, FinalStep)
    assert (last.answer.status, last.answer.short_answer, last.answer.fault) == (Status.ANSWERED, PLACE.mayor, None)


@pytest.mark.parametrize(("kind", "share"), [("replies", 0.2), ("status", 0.3)])
def test_faults_of_the_server_cost_no_answer(
    ollama: FakeServer, monkeypatch: pytest.MonkeyPatch, kind: str, share: float
) -> None:
    from fakes.broken_replies import Faults

    monkeypatch.setenv("ITERATIVE_RAG_RETRIES", "4")
    monkeypatch.setattr("iterative_rag.remote.server_calls.FIRST_PAUSE", 0.001)
    faults = Faults(kind, share, seed=3)
    ollama.reply, ollama.fault_of = faults.reply, faults.status
    answers = [ask(question=place.two_hops, cache=False) for place in WORLD]
    assert [answer.short_answer for answer in answers] == [place.mayor for place in WORLD]
    assert faults.made.total() > 5
