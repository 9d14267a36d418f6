"""Ctrl-C at many moments of real processes: one line, exit code 130, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.command_line import Command
from fakes.two_article_corpus import QUESTION

# Python runs this at its start: the process gets a signal when it begins to import a module, in the first run of it.
STRIKE = """
import os, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ.get("STRIKE_AT"):
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
"""
NOT_BEGUN = "Stopped: nothing was begun. To go on, run the same command again.\n"


def struck(place: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (place / "sitecustomize.py").write_text(STRIKE)
    return subprocess.run(
        [sys.executable, "-m", "iterative_rag", *arguments],
        env={**os.environ, "PYTHONPATH": str(place), "STRIKE_AT": module},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("module", ["iterative_rag.cli.app", "typer"])
def test_before_a_command_begins(towns: None, tmp_path: Path, module: str) -> None:
    done = struck(tmp_path, module, "history")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", NOT_BEGUN)


ASK = f"Stopped. To go on: iterative-rag ask '{QUESTION}' --llm builtin\n"
MOMENTS = {
    "bare": ("iterative_rag.engine.run", (QUESTION, "--llm", "builtin"), ASK),
    "output": ("iterative_rag.cli.history", ("history",), "Stopped. To go on: iterative-rag history\n"),
    "index": ("iterative_rag.index.ingest", ("index", "a b"), "Stopped. To go on: iterative-rag index 'a b'\n"),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_in_the_middle_of_a_command(towns: None, tmp_path: Path, moment: str) -> None:
    module, arguments, told = MOMENTS[moment]
    done = struck(tmp_path, module, *arguments)
    assert (done.returncode, done.stdout) == (130, "")
    *before, last = done.stderr.splitlines(keepends=True)
    assert last.startswith("Stopped. ")
    assert last.endswith(told)
    assert "Traceback" not in done.stderr
    assert not any(line.startswith("Stopped") for line in before)


STRUCK_WHILE_WRITING = """
import os, signal, sys
from iterative_rag.cli import main
from iterative_rag.index.edge_store import EdgeStore

put, calls = EdgeStore.put, []
def strike(self, points):
    put(self, points)
    calls.append(len(points))
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGINT)
EdgeStore.put = strike
main(sys.argv[1:])
"""


def test_a_single_large_file_keeps_what_is_embedded(shell: Command, tmp_path: Path) -> None:
    text = "\n\n".join(f"Paragraph {n} tells of bridge number {n} and its river. " * 8 for n in range(120))
    (tmp_path / "big.txt").write_text(text)
    command = [sys.executable, "-c", STRUCK_WHILE_WRITING, "index", "big.txt", "--corpus", "big"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "Stopped. To go on: iterative-rag index big.txt --corpus big\n"
    assert "big" in shell("corpus").out
    rest = shell("index", "big.txt", "--corpus", "big")
    assert rest.code == 0
    whole = int(shell("corpus", "status", "big", "--no-check").out.split("passages")[1].split()[0])
    embedded = int(rest.out.split("; ")[1].split()[0])
    assert 0 < embedded < whole - 8
