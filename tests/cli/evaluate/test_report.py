"""`evaluate report`: it writes Markdown, JSON and the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from fakes.evaluation_records import Page, folder, record, store
from iterative_rag.cli.evaluate import evaluate_app
from iterative_rag.evaluation.records import JudgeVerdict


def call(*arguments: object) -> Any:
    return CliRunner().invoke(evaluate_app, [str(argument) for argument in arguments])


def test_the_command_writes_markdown_json_and_the_page(tmp_path: Path) -> None:
    run = store(folder([record("a"), record("b", False, judge=JudgeVerdict.INCORRECT)]), tmp_path / "runs" / "one")
    assert call("report", run).stdout.startswith("# one\n")
    found = json.loads(call("report", run, "--json").stdout)
    assert (found["n"], found["right"]) == (2, 0.5)
    page = tmp_path / "page.html"
    done = call("report", run, "--html", page)
    assert "answered rightly" in done.stdout
    assert "What is b" in Page(page.read_text(encoding="utf-8")).text


def test_a_manifest_that_is_nested_too_deeply_is_said(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("[" * 90_000)
    assert "manifest.json cannot be read: Nested too deeply" in str(call("report", tmp_path).exception)
