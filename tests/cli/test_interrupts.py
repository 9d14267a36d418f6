"""Ctrl-C at many moments of real processes: one line, exit code 130, no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.command_line import Command
from fakes.two_article_corpus import QUESTION, indexed_home

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


@pytest.fixture(scope="module")
def towns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two articles, and a data folder that holds them indexed."""
    base = tmp_path_factory.mktemp("towns")
    indexed_home(base)
    return base


def struck(towns: Path, place: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (place / "sitecustomize.py").write_text(STRIKE)
    return subprocess.run(
        [sys.executable, "-m", "iterative_rag", *arguments],
        env={
            **os.environ,
            "PYTHONPATH": str(place),
            "STRIKE_AT": module,
            "ITERATIVE_RAG_HOME": str(towns / "home"),
            "ITERATIVE_RAG_CACHE": "false",
        },
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("module", ["iterative_rag.cli.app", "typer", "iterative_rag.cli.evaluate"])
def test_before_a_command_begins(towns: Path, tmp_path: Path, module: str) -> None:
    done = struck(towns, tmp_path, module, "history")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", NOT_BEGUN)


ASK = f"Stopped: what was read so far is in the cache. To go on: iterative-rag ask '{QUESTION}' --llm builtin\n"
MOMENTS = {
    "settings": ("pydantic", ("search", "river"), "nothing was changed. To go on: iterative-rag search river\n"),
    "factory": ("iterative_rag.app.factory", ("ask", QUESTION, "--llm", "builtin"), ASK),
    "library": ("onnxruntime", ("search", "river"), "nothing was changed. To go on: iterative-rag search river\n"),
    "loop": ("iterative_rag.engine.run", ("ask", QUESTION, "--llm", "builtin"), ASK),
    "bare": ("iterative_rag.engine.run", (QUESTION, "--llm", "builtin"), ASK),
    "output": ("rich.console", ("history",), "nothing was changed. To go on: iterative-rag history\n"),
    "index": ("iterative_rag.index.ingest", ("index", "a b"), "is kept. To go on: iterative-rag index 'a b'\n"),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_in_the_middle_of_a_command(towns: Path, tmp_path: Path, moment: str) -> None:
    module, arguments, told = MOMENTS[moment]
    done = struck(towns, tmp_path, module, *arguments)
    assert (done.returncode, done.stdout) == (130, "")
    *before, last = done.stderr.splitlines(keepends=True)
    assert last.startswith("Stopped: ")
    assert last.endswith(told)
    assert "Traceback" not in done.stderr
    assert not any(line.startswith("Stopped") for line in before)


def test_an_ignored_interrupt_stays_ignored(towns: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(STRIKE)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        done = struck(towns, tmp_path, "iterative_rag.cli.app", "--version")
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.returncode == 0


def test_an_index_that_was_stopped_goes_on(shell: Command, towns: Path, tmp_path: Path) -> None:
    assert struck(towns, tmp_path, "iterative_rag.index.ingest", "index", str(towns / "articles")).returncode == 130
    assert shell("index", str(towns / "articles"), "-q", ITERATIVE_RAG_HOME=str(towns / "home")).code == 0


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
    assert done.stderr == (
        "Stopped: what is embedded so far is kept. To go on: iterative-rag index big.txt --corpus big\n"
    )
    assert "big" in shell("corpus").out
    rest = shell("index", "big.txt", "--corpus", "big")
    assert rest.code == 0
    whole = int(shell("corpus", "status", "big", "--no-check").out.split("passages")[1].split()[0])
    embedded = int(rest.out.split("; ")[1].split()[0])
    assert 0 < embedded < whole - 8
