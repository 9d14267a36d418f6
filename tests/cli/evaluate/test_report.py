"""`evaluate report`: it writes Markdown, JSON and the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from fakes.evaluation_records import folder, record, store
from fakes.evaluation_reports import Page
from iterative_rag.cli.evaluate import evaluate_app
from iterative_rag.errors import UsageError
from iterative_rag.evaluation.records import JudgeVerdict
from iterative_rag.evaluation.running.run_folder import MANIFEST


def call(*arguments: object) -> Any:
    return CliRunner().invoke(evaluate_app, [str(argument) for argument in arguments])


def test_the_command_writes_markdown_json_and_the_page(tmp_path: Path) -> None:
    run = store(folder([record("a"), record("b", False, judge=JudgeVerdict.INCORRECT)]), tmp_path / "runs" / "one")
    assert call("report", run).stdout.startswith("# one\n")
    assert "What is b" not in call("report", run, "--figures-only").stdout
    found = json.loads(call("report", run, "--json").stdout)
    assert (found["n"], found["right"]) == (2, 0.5)
    page = tmp_path / "page.html"
    done = call("report", run, "--html", page, "--beside", store(folder([record("a")]), tmp_path / "runs" / "two"))
    assert "answered rightly" in done.stdout
    assert "two" in Page(page.read_text(encoding="utf-8")).text


def test_the_judge_is_held_against_given_verdicts(tmp_path: Path) -> None:
    run = store(
        folder([record("a", judge=JudgeVerdict.CORRECT), record("b", judge=JudgeVerdict.CORRECT)]), tmp_path / "run"
    )
    verdicts = tmp_path / "verdicts.jsonl"
    verdicts.write_text('{"id": "a", "correct": true}\n{"id": "b", "correct": false}\n', encoding="utf-8")
    found = json.loads(call("report", run, "--agreement", verdicts, "--json").stdout)["agreement"]
    assert (found["n"], found["raw"], found["only_judge"]) == (2, 0.5, 1)
    assert "equal verdicts" in call("report", run, "--agreement", verdicts, "--figures-only").stdout


def test_a_page_without_questions_is_refused(tmp_path: Path) -> None:
    done = call("report", tmp_path, "--html", tmp_path / "page.html", "--figures-only")
    assert "--figures-only" in done.exception.hint


def test_a_manifest_that_was_changed_by_hand_is_told(tmp_path: Path) -> None:
    run = store(folder([record("a")]), tmp_path / "run")
    manifest = json.loads((run / MANIFEST).read_text(encoding="utf-8"))
    for changed, told in (({"repeat": "two"}, "repeat"), ({"dataset": {"name": "towns"}}, "dataset.form")):
        (run / MANIFEST).write_text(json.dumps(manifest | changed), encoding="utf-8")
        done = call("report", run)
        assert isinstance(done.exception, UsageError)
        assert told in str(done.exception)
    (run / MANIFEST).write_text("[]", encoding="utf-8")
    assert "not a JSON object" in str(call("report", run).exception)
