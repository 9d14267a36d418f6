"""The question of the README, answered by a model that cites the ends of its chain alone: the proof holds all of it."""

from __future__ import annotations

import json
import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes import starter_mind
from fakes.command_line import Command
from fakes.model_server import FakeServer
from fakes.readme_question import ARTICLES, QUESTION
from fakes.readme_question import SHORT_ANSWER as ANSWER
from fakes.starter_mind import STEPS
from iterative_rag.app.factory import starter_corpus_path

EXAMPLE = Path(__file__).parents[2] / "examples" / "what_changed.py"


@pytest.fixture(scope="module")
def articles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of its articles, which is the corpus `lane` of the data folder beside it."""
    folder = tmp_path_factory.mktemp("lane")
    (folder / "articles").mkdir()
    for name in ARTICLES:
        shutil.copy(starter_corpus_path() / f"{name}.md", folder / "articles")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ITERATIVE_RAG_HOME", str(folder / "home"))
        yield folder / "articles"


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(reply=starter_mind.reply, functions=starter_mind.functions) as server:
        yield server


def model(server: FakeServer) -> str:
    return f"openai-like/tiny:1b@{server.url}/v1"


def quoted(text: str) -> list[int]:
    """The steps whose quotes these are."""
    return [n for n, step in enumerate(STEPS) if any(quote in text for quote in step.quotes)]


@pytest.mark.parametrize("strategy", ["iterative", "plan", "agent"])
def test_every_link_of_the_chain_is_cited(
    articles: Path, server: FakeServer, run: Command, monkeypatch: pytest.MonkeyPatch, strategy: str
) -> None:
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(articles.parent / "home"))
    run("index", str(articles), "--corpus", "lane")
    asked = ("--corpus", "lane", "--llm", model(server), "--strategy", strategy, "--json")
    made: dict[str, Any] = json.loads(run("ask", QUESTION, *asked).out)
    assert (made["status"], made["short_answer"]) == ("answered", ANSWER)
    assert quoted(json.dumps(made["citations"])) == [0, 1, 2, 3]
    by_number = {one["n"]: one for one in made["citations"]}
    # What the text cites keeps its numbers, and the rest of the chain follows.
    assert ([*quoted(by_number[1]["quote"])], [*quoted(by_number[2]["quote"])]) == ([2], [3])
    built = {
        quoted(by_number[n]["quote"])[0]: [quoted(by_number[below]["quote"])[0] for below in link["builds_on"]]
        for link in made["chain"]
        for n in link["citations"]
    }
    assert built == {0: [], 1: [], 2: [0], 3: [1]}
    assert run("history", "show", "last", "--format", "json").out.count('"builds_on"') == 4


def test_a_change_of_any_link_is_named(
    articles: Path,
    server: FakeServer,
    run: Command,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    home = articles.parent / "home"
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(home))
    changed = tmp_path / "articles"
    shutil.copytree(articles, changed)
    run("index", str(changed), "--corpus", "changing")
    what_changed = runpy.run_path(str(EXAMPLE))["main"]
    kept, given = tmp_path / "kept.json", ["--corpus", "changing", "--llm", model(server)]
    assert what_changed([str(kept), QUESTION, *given]) == 0
    before = kept.read_text(encoding="utf-8")
    proof = tmp_path / "proof.json"
    proof.write_text(json.dumps(json.loads(before)[QUESTION][1]), encoding="utf-8")
    quotes = [one["quote"] for one in json.loads(before)[QUESTION][1]["answer"]["citations"]]
    assert "4 of 4 quotes" in run("verify", str(proof)).out
    for n, step in enumerate(STEPS):
        file = changed / f"{step.title.replace(' ', '_')}.md"
        text = file.read_text(encoding="utf-8")
        named = next(quote for quote in quotes if n in quoted(quote))
        file.write_text(text.replace(named, "| Nobody knows | this |"), encoding="utf-8")
        run("index", str(changed), "--corpus", "changing")
        verified = run("verify", str(proof), "--json")
        gone = [one["quote"] for one in json.loads(verified.out)["quotes"] if one["finding"] == "gone"]
        assert (verified.code, gone) == (1, [named])
        capsys.readouterr()
        assert what_changed([str(kept), *given]) == 1
        assert named in capsys.readouterr().out
        file.write_text(text, encoding="utf-8")
        kept.write_text(before, encoding="utf-8")
    run("index", str(changed), "--corpus", "changing")
    assert what_changed([str(kept), *given]) == 0
