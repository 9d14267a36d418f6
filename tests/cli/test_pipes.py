"""Pipes, sockets, devices and folders in place of files: said in one sentence, never waited for."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from fakes.command_line import Command
from fakes.model_server import FakeServer


@pytest.fixture
def towns(run: Command, tmp_path: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus of one article, and a model that knows nothing."""
    server.reply = '{"status": "stuck", "reason": "nothing is known"}'
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    monkeypatch.setenv("ITERATIVE_RAG_LLM", "ollama/tiny:8b")
    (tmp_path / "Tarn.txt").write_text("Tarn lies on the river Mell.")
    assert run("index", "Tarn.txt").code == 0


@pytest.fixture
def pipe(tmp_path: Path) -> str:
    os.mkfifo(tmp_path / "pipe.jsonl")
    return "pipe.jsonl"


# --- traces --------------------------------------------------------------------------------------


def test_a_trace_into_a_pipe_that_nobody_reads_is_refused(
    shell: Command, towns: None, pipe: str, server: FakeServer
) -> None:
    done = shell("ask", "Where is Tarn?", "--trace", pipe)
    assert done.code == 2
    assert "pipe.jsonl cannot be written: No such device or address." in done.err
    assert not server.calls("/api/chat")


def test_a_trace_into_a_pipe_reaches_its_reader(shell: Command, towns: None, pipe: str) -> None:
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        # `cat` may still be starting: a pipe without a reader is refused, so wait until it has opened its end.
        descriptor = os.open(pipe, os.O_WRONLY)
        done = shell("ask", "Where is Tarn?", "--trace", pipe)
        os.close(descriptor)
        assert reader.stdout
        events = [json.loads(line)["event"] for line in reader.stdout]
    assert done.code == 3
    assert events[0] == "run_started"
    assert events[-1] == "final"


@pytest.mark.parametrize(
    ("place", "reason"),
    [(".", "Is a directory"), ("Tarn.txt/trace.jsonl", "Not a directory"), ("/proc/trace.jsonl", "No such")],
)
def test_a_trace_that_cannot_be_written_is_said_in_a_sentence(
    towns: None, run: Command, place: str, reason: str
) -> None:
    done = run("ask", "Where is Tarn?", "--trace", place)
    assert done.code == 2
    assert "The trace" in done.err
    assert f"cannot be written: {reason}" in done.err
    assert "Unexpected" not in done.err


# --- what is read --------------------------------------------------------------------------------


READING = [
    "index {}",
    "corpus add Tarn.txt --titles {}",
    "evaluate run --dataset {} --corpus c --llm builtin --out out",
]


@pytest.mark.parametrize("line", READING)
def test_a_pipe_is_not_waited_for(run: Command, pipe: str, line: str) -> None:
    done = run(*line.format(pipe).split())
    assert done.code in (2, 4)
    assert "it is not a regular file but a pipe, a socket or a device" in done.err


@pytest.mark.parametrize("kind", ["socket", "device"])
def test_other_things_that_are_no_files_are_not_read(run: Command, tmp_path: Path, kind: str) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        if kind == "socket":
            listening.bind("odd.jsonl")
        else:
            os.symlink("/dev/zero", tmp_path / "odd.jsonl")
        done = run("index", "odd.jsonl")
    assert done.code == 4
    assert "it is not a regular file but a pipe, a socket or a device" in done.err


def test_a_settings_file_that_is_a_pipe_is_refused(run: Command, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "iterative-rag.toml")
    done = run("search", "river")
    assert done.code == 2
    assert "iterative-rag.toml" in done.err
    assert "not a regular file" in done.err


@pytest.mark.parametrize("line", ["ask Where is Tarn? --llm openai-like/m@http://127.0.0.1:9/v1", "keys"])
def test_a_file_of_keys_that_is_a_pipe_is_not_waited_for(run: Command, tmp_path: Path, line: str) -> None:
    keys = tmp_path / "config" / "iterative-rag" / "keys.json"
    keys.parent.mkdir(parents=True)
    os.mkfifo(keys)
    done = run(*line.split(), XDG_CONFIG_HOME=str(tmp_path / "config"))
    assert done.code == 2
    assert f"{keys} cannot be read: it is not a regular file" in done.err
