"""Without the extra `files`, indexing says at its end which files it left out and what would read them."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from fakes.command_line import Command
from iterative_rag.errors import install_command

_HIDE = """
import importlib.util
find = importlib.util.find_spec
hidden = {"pypdfium2", "lxml", "selectolax", "html_to_markdown"}
importlib.util.find_spec = lambda name, package=None: None if name in hidden else find(name, package)
"""


def test_files_of_a_missing_extra_are_counted_at_the_end(shell: Command, articles: Path, tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "sitecustomize.py").write_text(_HIDE)
    for name in ("a.html", "b.htm", "c.pdf", "d.pdf", "e.docx"):
        (articles / name).write_text("<p>Some text</p>")
    done = shell("index", "articles", "--corpus", "mine", PYTHONPATH=str(packages))
    assert done.code == 0
    assert "2 added" in done.out
    *_, left_out, told, command = done.err.splitlines()
    assert left_out == "Left out: 2 .pdf, 1 .html, 1 .htm, 1 .docx."
    assert told == "To read them, type this and then the same command again:"
    assert command == f"  {install_command('files')}"
    assert done.err.count(install_command("files")) == 1


# --- commands ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "extra"),
    [
        ("evaluate run --dataset questions.jsonl --corpus starter --out out", "evaluate"),
        ("evaluate report done", "evaluate"),
        ("evaluate compare done done", "evaluate"),
        ("evaluate matrix grid.toml --out grid", "evaluate"),
        ("mcp", "serve"),
        ("serve", "serve"),
    ],
)
def test_a_command_names_its_extra(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, extra: str
) -> None:
    found, hidden = importlib.util.find_spec, ("inspect_ai", "mcp", "uvicorn")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name in hidden else found(name, *rest))
    (tmp_path / "questions.jsonl").write_text(json.dumps({"question": "Who?", "answer": "Ada"}) + "\n")
    (tmp_path / "grid.toml").write_text(
        '[base]\ndataset = "questions.jsonl"\ncorpus = "starter"\n[axes]\nmode = ["naive"]\n'
    )
    (tmp_path / "done").mkdir()
    (tmp_path / "done" / "manifest.json").write_text('{"questions": 1, "repeat": 1}')
    done = run(*line.split())
    assert done.code == 2
    assert install_command(extra) in done.err
    assert done.err.count("Error:") == 1
    assert not (tmp_path / "out").exists()
