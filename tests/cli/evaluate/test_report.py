"""`evaluate report`: it writes Markdown and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from fakes.evaluation_records import folder, record, store
from iterative_rag.cli.evaluate import evaluate_app
from iterative_rag.evaluation.records import JudgeVerdict


def call(*arguments: object) -> Any:
    return CliRunner().invoke(evaluate_app, [str(argument) for argument in arguments])


def test_the_command_writes_markdown_and_json(tmp_path: Path) -> None:
    run = store(folder([record("a"), record("b", False, judge=JudgeVerdict.INCORRECT)]), tmp_path / "runs" / "one")
    shown = call("report", run).stdout
    assert shown.startswith("# one\n")
    assert "answered rightly" in shown
    found = json.loads(call("report", run, "--json").stdout)
    assert (found["n"], found["right"]) == (2, 0.5)
