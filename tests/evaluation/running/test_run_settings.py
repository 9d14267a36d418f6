"""What a run takes from the model's profile, and from a store that other questions filled."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fakes import bridge_world
from fakes.model_server import FakeServer
from iterative_rag.app.factory import model_identity
from iterative_rag.cli.evaluate import evaluate_app
from iterative_rag.evaluation.running.run_folder import read_run
from iterative_rag.registry import LLMS
from iterative_rag.remote.model_spec import parse_spec
from iterative_rag.settings.model_profile import ModelProfile, write_profile

LLM = "ollama/tiny:1b"
HALL = {
    "title": "Quill Hall",
    "text": "Quill Hall is a concert hall. It was designed by Maren Tove.",
    "supporting": True,
}


def evaluated(*arguments: str) -> str:
    done = CliRunner().invoke(evaluate_app, list(arguments))
    assert done.exit_code == 0, done.output
    return done.stdout


def reply(body: Mapping[str, Any]) -> str:
    """A model that looks up the question itself, and answers both wordings of it with the hall's architect."""
    user = bridge_world.user_prompt(body)
    match bridge_world.role_of(body):
        case "analyse":
            need = re.findall(r"^ORIGINAL QUESTION: (.*)$", user, re.MULTILINE)[-1]
            return json.dumps({"status": "needs", "needs": [need], "last": True})
        case "extract":
            fact = {"statement": "Maren Tove designed it.", "quote": "designed by Maren Tove", "value": "Maren Tove"}
            return json.dumps({"facts": [{**fact, "need": [1]}]})
        case _:
            told = {"answer": "Maren Tove designed it [1].", "short_answer": "Maren Tove", "confidence": 0.9}
            return json.dumps({"status": "answered", **told})


@pytest.fixture
def questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(tmp_path / "home"))
    rows = [
        {"id": f"q{n}", "question": question, "answer": "Maren Tove", "paragraphs": [HALL]}
        for n, question in enumerate(("Who designed Quill Hall?", "Who was the architect of Quill Hall?"))
    ]
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_mode_auto_takes_what_the_profile_of_the_model_says(
    questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeServer(reply=reply) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        chosen = {"strategy": "naive", "window_chars": 2000, "timeout": 120.0}
        write_profile(ModelProfile(model_identity(parse_spec(LLM, LLMS)), "2026-01-02", chosen))
        options = ("run", "--dataset", str(questions), "--corpus", "pooled", "--llm", LLM, "--quiet")
        evaluated(*options, "--mode", "auto", "--out", str(tmp_path / "auto"))
        asked = [bridge_world.role_of(seen.body) for seen in server.calls("/api/chat")]
        evaluated(*options, "--mode", "iterative", "--out", str(tmp_path / "iterative"))
        monkeypatch.setenv("ITERATIVE_RAG_WINDOW_CHARS", "3000")
        evaluated(*options, "--mode", "auto", "--out", str(tmp_path / "own"))
    assert asked == ["answer", "answer"]  # the strategy of the profile
    auto, plain, own = (read_run(tmp_path / name).manifest for name in ("auto", "iterative", "own"))
    assert auto["profile"] == {"strategy": "naive", "window_chars": 2000}  # what is the default came from nowhere
    assert auto["settings"]["window_chars"] == 2000
    assert (plain["profile"], plain["settings"]["window_chars"]) == ({}, 4000)
    assert (own["profile"], own["settings"]["window_chars"]) == ({"strategy": "naive"}, 3000)
    told = "of these from the model's profile"
    reports = [evaluated("report", str(tmp_path / name)) for name in ("auto", "iterative")]
    assert [told in report for report in reports] == [True, False]
    assert "strategy naive, window_chars 2000" in reports[0]


@pytest.mark.parametrize(("line", "extractions"), [("", 2), ('reuse = "meaning"\n', 1)], ids=["default", "meaning"])
def test_needs_in_other_words_are_reused_only_where_a_matrix_says_so(
    questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, extractions: int
) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_text(
        f'[base]\ndataset = "questions.jsonl"\ncorpus = "pooled"\nllm = "{LLM}"\nconcurrency = 1\n{line}',
        encoding="utf-8",
    )
    with FakeServer(reply=reply) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        evaluated("matrix", str(grid), "--out", str(tmp_path / "out"), "--quiet")
        roles = [bridge_world.role_of(seen.body) for seen in server.calls("/api/chat")]
    assert roles.count("extract") == extractions
    run = read_run(tmp_path / "out" / "run")
    assert run.manifest["settings"]["reuse"] == ("meaning" if line else "words")
    assert [record.short_answer for record in run.records] == ["Maren Tove"] * 2
