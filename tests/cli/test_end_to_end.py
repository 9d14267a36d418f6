"""Whole runs: real corpus, real backend or a real local server, every status and what it prints. Each exit code is
that of a process once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes.command_line import Command
from fakes.model_server import FakeServer, Fault, unused_url
from fakes.sample_answers import check_schema
from fakes.two_article_corpus import QUESTION
from tests.cli.conftest import played


def validated(text: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(text)
    check_schema(made)
    return made


def check_citations(made: Mapping[str, Any]) -> None:
    for citation in made["citations"]:
        text = Path(citation["source"]).read_text(encoding="utf-8")
        assert text[citation["start"] : citation["end"]] == citation["quote"]


# --- the built-in backend -----------------------------------------------------------------------


def test_answered(shell: Command, run: Command, towns: None) -> None:
    done = shell("ask", QUESTION, "--llm", "builtin", "--json", "--trace", "run.jsonl")
    assert done.code == 0
    made = validated(done.out)
    assert (made["status"], made["short_answer"]) == ("answered", "Edda Holm")
    assert {citation["title"] for citation in made["citations"]} == {"Sunday bridge", "Aldermere"}
    check_citations(made)
    assert made["usage"]["llm_calls"] == 0
    assert len(made["hops"]) == 2
    assert "hop 2" in done.err
    events = [json.loads(line)["event"] for line in Path("run.jsonl").read_text(encoding="utf-8").splitlines()]
    assert events[0] == "run_started"
    assert events[-1] == "final"
    assert "→  Who is the mayor of Aldermere?" in run("trace").out


def test_auto_without_ollama_says_so_in_one_line_and_answers(run: Command, towns: None) -> None:
    done = run("ask", QUESTION, OLLAMA_HOST=unused_url())
    assert done.code == 0
    notice = done.err.splitlines()[0]
    assert "built-in" in notice
    assert "ollama pull" in notice
    assert done.out.startswith("The mayor of the town where the Sunday bridge stands is Edda Holm [2].\n")


# --- bad questions ---------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["", "   \n", "x" * 100_000], ids=["empty", "blank", "100,000 characters"])
def test_a_question_that_cannot_be_right_is_2(run: Command, towns: None, question: str) -> None:
    done = run("ask", "-", "--llm", "builtin", stdin=question)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: The question")
    assert len(done.err) < 1000


# --- an LLM at the other end of the wire -----------------------------------------------------


def test_an_ollama_model_answers_and_a_second_run_is_free(run: Command, towns: None, ollama: FakeServer) -> None:
    arguments = ("ask", QUESTION, "--llm", "ollama/tiny:8b", "--json")
    done = run(*arguments)
    assert done.code == 0, done.err
    made = validated(done.out)
    assert made["short_answer"] == "Edda Holm"
    assert made["usage"]["llm_calls"] == len(ollama.calls("/api/chat")) > 0
    check_citations(made)

    again = validated(run(*arguments).out)
    assert again["short_answer"] == "Edda Holm"
    assert again["usage"]["llm_calls"] == 0
    assert again["usage"]["cache_hits"] > 0


def test_a_fault_after_the_first_facts_is_5_and_shows_them(run: Command, towns: None, ollama: FakeServer) -> None:
    """The server breaks once the first fact is known: what was found is printed, marked incomplete."""

    def breaking(body: Mapping[str, Any]) -> str:
        reply = played(body)
        if reply.startswith('{"facts": [{'):
            ollama.always = Fault("status", status=400, message="out of order")
        return reply

    ollama.reply = breaking
    done = run("ask", QUESTION, "--llm", "ollama/tiny:8b", "--json")
    assert done.code == 5
    made = validated(done.out)
    assert made["status"] == "incomplete"
    assert "out of order" in made["reason"]
    assert made["answer"].startswith("Found so far:")
    check_citations(made)


@pytest.mark.parametrize("role", ["needs", "facts"], ids=["analysis", "reading"])
def test_ctrl_c_is_130_at_once_and_quiet(towns: None, ollama: FakeServer, role: str) -> None:
    """In the middle of a call that does not come back, in this thread (analysis) or in another (reading)."""
    called = threading.Event()

    def hanging(body: Mapping[str, Any]) -> str:
        if role in body["format"]["properties"]:
            called.set()
            ollama.closing.wait(60)
        return played(body)

    ollama.reply = hanging
    command = [sys.executable, "-m", "iterative_rag", "ask", QUESTION, "--llm", "ollama/tiny:8b", "-q"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell that starts the tests in the background has them ignore the signal, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert called.wait(60)
        process.send_signal(signal.SIGINT)
        # The server holds the call for a minute: whoever waited for it would fail here.
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == b""
    assert err.startswith(b"Stopped. To go on: iterative-rag ask")
    assert err.count(b"\n") == 1


def test_a_key_is_never_printed_or_traced(run: Command, towns: None, ollama: FakeServer, tmp_path: Path) -> None:
    secret = "sk-do-not-show-this"
    spec = f"openai-like/tiny:8b@{ollama.url}/v1"
    key = {"ITERATIVE_RAG_API_KEY": secret, "ITERATIVE_RAG_API_KEY_HOST": "127.0.0.1"}
    done = run("ask", QUESTION, "--llm", spec, "--json", "--trace", "run.jsonl", **key)
    assert any(secret in seen.headers.get("Authorization", "") for seen in ollama.seen)
    assert secret not in done.out + done.err
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in written if secret.encode() in path.read_bytes()]
