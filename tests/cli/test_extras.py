"""Without the packages of an extra a command says in one sentence what to install."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from fakes.command_line import Command
from iterative_rag.errors.installation import install_command


@pytest.fixture
def without_inspect(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "inspect_ai" else found(name))


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--dataset", "questions.jsonl", "--corpus", "starter", "--out", "out"),
        ("report", "done"),
        ("compare", "done", "done"),
        ("matrix", "grid.toml", "--out", "grid"),
    ],
)
@pytest.mark.usefixtures("without_inspect")
def test_evaluating_names_its_extra(run: Command, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "questions.jsonl").write_text(json.dumps({"question": "Who?", "answer": "Ada"}) + "\n")
    (tmp_path / "grid.toml").write_text(
        '[base]\ndataset = "questions.jsonl"\ncorpus = "starter"\n[axes]\nmode = ["naive"]\n'
    )
    (tmp_path / "done").mkdir()
    (tmp_path / "done" / "manifest.json").write_text('{"questions": 1, "repeat": 1}')
    done = run("evaluate", *arguments)
    assert done.code == 2
    assert install_command("evaluate") in done.err
    assert done.err.count("Error:") == 1
    assert not (tmp_path / "out").exists()
