"""The programs in examples/ do what their first lines say, with a model that follows a script."""

from __future__ import annotations

import csv
import io
import json
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import iterative_rag
from fakes.harbour_articles import TEXTS, cited, extraction, text_reply
from fakes.scripted_llm import Scripted, ScriptedLLM
from iterative_rag import IterativeRAG, Settings
from iterative_rag.app.factory import index_paths
from iterative_rag.protocols import ChatRequest

EXAMPLES = Path(__file__).parent.parent / "examples"
Program = Callable[..., int]


def write(folder: Path, texts: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for title, text in texts.items():
        (folder / f"{title}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    index_paths([folder], settings=Settings(corpus="harbour"), corpus="harbour")


def lengths(request: ChatRequest) -> dict[str, Any]:
    """The sentence that says how long a bridge is, with its length as the value."""
    found = re.search(r"(The \w+ Bridge is (\d+ m) long\.)", request.user)
    return {"facts": [{"statement": found[1], "quote": found[1], "need": [1], "value": found[2]}] if found else []}


def plan(request: ChatRequest) -> Scripted:
    question = re.search(r"ORIGINAL QUESTION: (.*)", request.user)
    assert question
    return {"form": "value", "status": "needs", "needs": [question[1]], "last": True}


def value(request: ChatRequest) -> Scripted:
    found = re.search(r"is (\d+ m) long", request.user)
    assert found
    return {"status": "answered", "answer": f"It is {found[1]} long [1].", "short_answer": found[1], "confidence": 0.9}


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an indexed corpus, `harbour`, which may be changed and indexed again."""
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(tmp_path / "home"))
    write(tmp_path / "articles", dict(TEXTS))
    return tmp_path / "articles"


def program(name: str, monkeypatch: pytest.MonkeyPatch, **replies: Any) -> tuple[Program, ScriptedLLM]:
    """The `main` of an example, whose models are those of a script."""
    llm = ScriptedLLM({"analyse": plan, "extract": lengths, "answer": value, **replies})
    real = IterativeRAG.from_settings
    monkeypatch.setattr(IterativeRAG, "from_settings", lambda **given: real(**{**given, "llm": llm, "cache": False}))
    main: Program = runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"]
    return main, llm


def test_a_story_keeps_to_quotes_of_its_two_articles(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(request: ChatRequest) -> Scripted:
        return text_reply(f"{cited(request, 'left a lamp', '40 m')} Dragons lived below the bridge [1].")

    aspects = ["What caused the Fire of Karsa?", "How long is the Orra Bridge?", "How long is the Sunday Bridge?"]
    main, llm = program(
        "story_from_two_articles",
        monkeypatch,
        analyse=lambda request: {"form": "summary", "status": "needs", "needs": aspects, "last": True},
        rephrase_and_analyse=lambda request: {"status": "known"},
        extract=extraction,
        write=told,
    )
    assert main(["Fire of Karsa", "Orra Bridge", "--corpus", "harbour"]) == 0
    printed = capsys.readouterr().out
    assert "A watchman had left a lamp burning in the tar store [1]. The Orra Bridge is 40 m long [2]." in printed
    assert "[2] Orra Bridge: “The Orra Bridge is 40 m long.”" in printed
    assert "Dragons" not in printed
    assert "Note: Left out, because no quoted fact proves it: 1 sentence." in printed
    assert all("Sunday Bridge is 98 m" not in request.user for request in llm.requests)


def test_a_table_has_a_row_an_article_and_a_quote_behind_each_value(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main, _ = program("fact_table", monkeypatch, rephrase_and_analyse=lambda request: {"status": "stuck"})
    assert main(["length=How long is {title}?", "--titles", "*Bridge", "--corpus", "harbour"]) == 0
    assert list(csv.reader(io.StringIO(capsys.readouterr().out))) == [
        ["title", "length", "length: quote"],
        ["Orra Bridge", "40 m", "The Orra Bridge is 40 m long."],
        ["Sunday Bridge", "98 m", "The Sunday Bridge is 98 m long."],
    ]
    main(["length=How long is {title}?", "--titles", "Fire*", "--corpus", "harbour"])
    assert capsys.readouterr().out.splitlines()[1] == "Fire of Karsa,,"


def test_what_changed_is_asked_again_only_where_a_quote_is_gone(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, where = str(tmp_path / "answers.json"), ["--corpus", "harbour"]
    main, llm = program("what_changed", monkeypatch)
    questions = ["How long is the Orra Bridge?", "How long is the Sunday Bridge?"]
    assert main([kept, *questions, *where]) == 0
    assert "kept: How long is the Orra Bridge? 40 m" in capsys.readouterr().out
    calls = len(llm.requests)
    assert main([kept, *where]) == 0
    assert "2 answers, nothing changed." in capsys.readouterr().out
    assert len(llm.requests) == calls

    write(corpus, {"Orra Bridge": "After the works the Orra Bridge has grown. The Orra Bridge is 44 m long."})
    assert main([kept, *where]) == 1
    told = capsys.readouterr().out
    assert "was: 40 m\n  now: 44 m" in told
    assert "“The Orra Bridge is 40 m long.” (Orra Bridge: gone)" in told
    assert "Sunday" not in told
    assert json.loads(Path(kept).read_text(encoding="utf-8"))[questions[0]][0] == "44 m"
    assert main([kept, *where]) == 0


@pytest.mark.parametrize("name", ["story_from_two_articles", "fact_table", "what_changed"])
def test_an_example_is_short_and_uses_the_public_api_alone(name: str) -> None:
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 80
    (imported,) = re.findall(r"^from iterative_rag import (.*)$", text, re.MULTILINE)
    assert set(imported.split(", ")) <= set(iterative_rag.__all__)
    assert "iterative_rag." not in text.replace("iterative_rag.toml", "")
