"""`evaluate run` over real corpora and a real local server: scores, resuming, faults, refusals."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes import bridge_world
from fakes.command_line import Command, Done
from fakes.model_server import FakeServer, Fault
from fakes.two_article_corpus import index_articles
from iterative_rag.evaluation.records import Outcome
from iterative_rag.evaluation.run_folder import read_run
from iterative_rag.storage.past_runs import past_runs

WORLD = bridge_world.places(12)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with articles, questions and a data folder in which the articles are the corpus `places`."""
    base = tmp_path_factory.mktemp("places")
    bridge_world.write_articles(base / "articles", WORLD)
    bridge_world.write_questions(base / "questions.jsonl", WORLD)
    index_articles(base, "places")
    return base


@pytest.fixture
def folder(indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of its own for each test: another cache, other traces."""
    shutil.copytree(indexed, tmp_path / "places")
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(tmp_path / "places" / "home"))
    monkeypatch.chdir(tmp_path / "places")
    return tmp_path / "places"


def arguments(*more: str, out: str = "out") -> list[str]:
    return ["evaluate", "run", "--dataset", "questions.jsonl", "--corpus", "places", "--out", out, *more]


def command(*more: str) -> list[str]:
    return [sys.executable, "-m", "iterative_rag", *arguments(*more)]


@pytest.fixture
def evaluate(run: Command) -> Callable[..., Done]:
    """The command in this process: a process of its own spends seconds on importing what it evaluates with."""

    def call(*more: str, out: str = "out", code: int = 0, **environment: str) -> Done:
        done = run(*arguments(*more, out=out), **environment)
        assert done.code == code, done.err
        return done

    return call


def answered_questions(home: Path) -> Counter[str]:
    """How often each question was worked on to its end, by the traces."""
    counts: Counter[str] = Counter()
    for trace in (home / "traces" / "evaluation").glob("*.jsonl"):
        events = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
        if events and events[-1]["event"] == "final":
            counts[events[0]["question"]] += 1
    return counts


def test_a_run_answers_scores_and_shows_what_happened(folder: Path, evaluate: Callable[..., Done]) -> None:
    made = json.loads(evaluate("--llm", "builtin", "--limit", "3", "--json").out)
    assert (made["n"], made["em"], made["faults"]) == (3, 1.0, 0)
    run = read_run(folder / "out")
    assert run.complete
    for n, record in enumerate(run.records):
        assert (record.id, record.short_answer) == (f"q{n}", WORLD[n].mayor)
        assert {record.documents[one] for one in record.gold} == {f"{WORLD[n].bridge} bridge", WORLD[n].town}
        assert [fact.value for hop in record.hops for fact in hop.facts][:1] == [WORLD[n].town]
        assert set(record.gold) <= {one for hop in record.hops for one in hop.read}
        assert all(cited.verified for cited in record.citations)
        assert record.cause is None
    again = evaluate("--llm", "builtin", "--limit", "3", "--json")
    assert json.loads(again.out) == made
    assert sum(answered_questions(folder / "home").values()) == 3
    assert list(past_runs()) == []  # they are no part of the history


def test_the_modes_stand_between_floor_and_ceiling(folder: Path, evaluate: Callable[..., Done]) -> None:
    right, hops = {}, {}
    for mode in ("naive", "iterative", "oracle"):
        evaluate("--llm", "builtin", "--limit", "4", "--mode", mode, out=mode)
        records = read_run(folder / mode).records
        right[mode], hops[mode] = sum(record.right is True for record in records), [len(one.hops) for one in records]
    assert right["iterative"] == right["oracle"] == 4
    assert max(hops["naive"]) == 1 < min(hops["iterative"])  # what is right by one search, it reads two articles for
    for record in read_run(folder / "oracle").records:
        assert {one for hop in record.hops for one in hop.shortlist} <= set(record.gold)


def test_many_at_once_against_a_failing_server(folder: Path, evaluate: Callable[..., Done]) -> None:
    """A third of the calls fail: every question is answered, by its own answer, without many calls too many."""
    with FakeServer(reply=bridge_world.reply) as calm:
        evaluate("--llm", "ollama/tiny:8b", "-c", "12", "-q", out="calm", OLLAMA_HOST=calm.url)
        needed = len(calm.calls("/api/chat"))
    chance = random.Random(3)
    faults = [
        Fault("status", chance.choice((500, 503)), headers={"Retry-After": "0.05"}) if chance.random() < 0.3 else None
        for _ in range(20 * needed)
    ]
    with FakeServer(reply=bridge_world.reply, latency=0.05, faults=deque(faults)) as failing:
        # With seven tries one call in 5,000 fails for good, and which one a fault meets is chance: here there are more.
        options = ("--llm", "ollama/tiny:8b", "-c", "12", "-q", "--no-cache")
        evaluate(*options, OLLAMA_HOST=failing.url, ITERATIVE_RAG_RETRIES="15")
        made = len(failing.calls("/api/chat"))
    records = read_run(folder / "out").records
    assert [record.short_answer for record in records] == [place.mayor for place in WORLD]
    assert made <= 1.6 * needed


def test_faults_are_counted_apart_and_asked_again_on_request(folder: Path, evaluate: Callable[..., Done]) -> None:
    with FakeServer(reply=bridge_world.reply, always=Fault("status", 401, "who are you")) as server:
        done = evaluate("--llm", "ollama/tiny:8b", "--limit", "3", "--json", OLLAMA_HOST=server.url)
        assert json.loads(done.out)["faults"] == 3
        run = read_run(folder / "out")
        assert {record.outcome for record in run.records} == {Outcome.FAULT}
        assert all("401" in record.fault for record in run.records)
        server.always = None
        done = evaluate("--llm", "ollama/tiny:8b", "--limit", "3", "--json", OLLAMA_HOST=server.url)
        assert json.loads(done.out)["faults"] == 3, "without --retry-errors they stay"
        done = evaluate("--llm", "ollama/tiny:8b", "--limit", "3", "--json", "--retry-errors", OLLAMA_HOST=server.url)
    made = json.loads(done.out)
    assert (made["n"], made["faults"], made["em"]) == (3, 0, 1.0)


def test_another_run_is_not_resumed(folder: Path, evaluate: Callable[..., Done]) -> None:
    evaluate("--llm", "builtin", "--limit", "2", "-q")
    done = evaluate("--llm", "builtin", "--limit", "2", "--max-hops", "3", "--repeat", "2", code=2)
    assert "settings.max_hops: 6 there, 3 here" in done.err
    assert "repeat: 1 there, 2 here" in done.err
    questions = folder / "questions.jsonl"
    questions.write_text(questions.read_text(encoding="utf-8").replace("mayor of", "head of"), encoding="utf-8")
    assert "dataset.digest" in evaluate("--llm", "builtin", "--limit", "2", code=2).err


def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(folder: Path, evaluate: Callable[..., Done]) -> None:
    interrupted = threading.Event()

    def reply(body: Mapping[str, Any]) -> str:
        if len(answered_questions(folder / "home")) >= 3:
            interrupted.wait(60)  # or a fast machine is done before the signal is sent
        return bridge_world.reply(body)

    with FakeServer(reply=reply) as server:
        options = ("--llm", "ollama/tiny:8b", "--limit", "8", "-c", "1")
        process = subprocess.Popen(
            command(*options),
            env={**os.environ, "OLLAMA_HOST": server.url},
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        deadline = time.monotonic() + 60
        while len(answered_questions(folder / "home")) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        interrupted.set()
        _, said = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "iterative-rag evaluate run --dataset questions.jsonl" in said
        assert "Traceback" not in said
        kept = len(read_run(folder / "out").records)
        assert 2 <= kept < 8
        evaluate(*options, OLLAMA_HOST=server.url)
    assert len(read_run(folder / "out").records) == 8


def test_the_judge_fails_closed(folder: Path, evaluate: Callable[..., Done]) -> None:
    verdicts = iter(['{"reason": "same name", "verdict": "correct"}', "no idea", "still none"])

    def reply(body: Mapping[str, Any]) -> str:
        judged = "verdict" in str(body.get("format"))
        return next(verdicts) if judged else bridge_world.reply(body)

    with FakeServer(reply=reply, models=("tiny:8b", "judge:7b")) as server:
        options = ("--llm", "ollama/tiny:8b", "--limit", "2", "-c", "1", "--json")
        done = evaluate(*options, "--judge", "ollama/judge:7b", OLLAMA_HOST=server.url)
    made = json.loads(done.out)
    assert (made["judge"], made["unjudged"]) == (1.0, 1)
