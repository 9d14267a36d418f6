"""`iterative-rag index --questions`: written by the LLM of a server, told with their cost, found by a search."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes.command_line import Command
from fakes.model_server import FakeServer, Fault


def write(folder: Path) -> Path:
    folder.mkdir()
    (folder / "Lane.md").write_text("# Harriet Lane\n\nShe was the niece of James Buchanan.", encoding="utf-8")
    (folder / "Vltava.md").write_text("# Vltava\n\nThe Vltava flows through Prague.", encoding="utf-8")
    return folder


def reply(body: Mapping[str, Any]) -> str:
    about = "hostess" if "niece" in json.dumps(body) else "bridge"
    return json.dumps({"questions": [f"Which {about} is meant?"]})


def test_a_search_finds_a_passage_by_its_question_and_never_shows_it(run: Command, tmp_path: Path) -> None:
    folder = write(tmp_path / "articles")
    with FakeServer(reply=reply) as server:
        options = ("--corpus", "c", "--questions", "1", "--llm", "ollama/tiny:1b")
        done = run("index", str(folder), *options, OLLAMA_HOST=server.url)
        calls = len([one for one in server.seen if one.path == "/api/chat"])
        again = run("index", str(folder), *options, OLLAMA_HOST=server.url)
        assert len([one for one in server.seen if one.path == "/api/chat"]) == calls == 2
    assert done.code == again.code == 0, done.err
    assert "at least one LLM call for each passage" in done.err
    assert "2 questions written in 2 LLM calls" in done.err
    assert "2 unchanged" in again.out
    assert "0 questions written in 0 LLM calls" in again.err
    found = json.loads(run("search", "hostess", "--corpus", "c", "--json").out)
    assert (found[0]["title"], found[0]["sparse_rank"]) == ("Harriet Lane", 1)
    assert "hostess" not in json.dumps(found)
    status = run("corpus", "status", "c")
    assert "questions" in status.out
    assert "2, by which passages are found" in status.out
    assert "nothing" in status.out.split("stale")[1]
    assert json.loads(run("corpus", "status", "c", "--json").out)["corpora"][0]["questions"] == 2


def test_a_server_that_goes_down_leaves_a_corpus_that_the_next_run_completes(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "articles")
    down = Fault("status", 400, "no such model")
    with FakeServer(reply=reply, fault_of=lambda body: down if "Prague" in json.dumps(body) else None) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        options = ("--corpus", "c", "--questions", "1", "--llm", "ollama/tiny:1b")
        failed = run("index", str(folder), *options)
        assert failed.code != 0
        server.fault_of = lambda body: None
        before = len([one for one in server.seen if "niece" in json.dumps(one.body)])
        done = run("index", str(folder), *options)
        assert len([one for one in server.seen if "niece" in json.dumps(one.body)]) == before
    assert done.code == 0, done.err
    assert json.loads(run("corpus", "status", "c", "--json").out)["corpora"][0]["questions"] == 2


def test_without_an_llm_questions_are_refused(run: Command, tmp_path: Path) -> None:
    done = run("index", str(write(tmp_path / "articles")), "--corpus", "c", "--questions", "2", "--llm", "builtin")
    assert done.code == 2
    assert "--llm ollama/MODEL" in done.err
