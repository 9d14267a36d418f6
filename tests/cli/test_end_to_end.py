"""Whole runs: real corpus, real backend or a real local server, every status and what it prints. Each exit code is
that of a process once."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes.command_line import Command, TerminalCommand
from fakes.model_server import FakeServer, Fault, unused_url
from fakes.sample_answers import check_schema
from fakes.two_article_corpus import QUESTION, indexed_home, play


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in which the towns are the default corpus."""
    return indexed_home(tmp_path_factory.mktemp("towns"))


@pytest.fixture
def towns(indexed: Path, tmp_path: Path) -> None:
    """Each test has a copy of its own: another cache, other traces."""
    shutil.copytree(indexed, tmp_path / "home")


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
    assert "→ Who is the mayor of Aldermere?" in run("trace").out


def test_guess_answers_what_is_hardly_trusted(run: Command, towns: None) -> None:
    question = "Who painted the ceiling of the town hall of Aldermere?"
    assert run("ask", question, "--llm", "builtin", "-q").code == 3
    guessed = run("ask", question, "--llm", "builtin", "--guess", "--json")
    assert guessed.code == 0
    assert 0 < validated(guessed.out)["confidence"] < 0.3
    check_citations(validated(guessed.out))


def test_a_quiet_run_leaves_a_complete_trace(run: Command, towns: None) -> None:
    done = run("ask", QUESTION, "--llm", "builtin", "--quiet")
    assert (done.code, done.out, done.err) == (0, "Edda Holm\n", "")
    events = [json.loads(line)["event"] for line in run("trace", "--json").out.splitlines()]
    assert events[-1] == "final"


def test_hops_are_shown_on_a_terminal_with_colour_and_without(towns: None, on_a_terminal: TerminalCommand) -> None:
    arguments = ["ask", QUESTION, "--llm", "builtin"]
    coloured = on_a_terminal(arguments)
    assert "\x1b[1;36mhop 1" in coloured
    plain = on_a_terminal(arguments, NO_COLOR="1")
    assert "hop 1" in plain
    assert not re.findall(r"\x1b\[[\d;]*m", plain)
    assert "\x1b" not in on_a_terminal(arguments, TERM="dumb")


def test_abstained(run: Command, towns: None) -> None:
    done = run("ask", "Who painted the ceiling of the winter palace in Quorn?", "--llm", "builtin", "--json")
    assert done.code == 3
    made = validated(done.out)
    assert (made["status"], made["short_answer"]) == ("abstained", "")


def test_a_cap_is_6(run: Command, towns: None) -> None:
    done = run("ask", QUESTION, "--llm", "builtin", "--json", "--max-hops", "1")
    assert done.code == 6
    made = validated(done.out)
    assert made["status"] == "incomplete"
    assert "limit of 1" in made["reason"]


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


def test_a_question_that_is_no_text_is_2(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "iterative_rag", "-"], input=b"\xff\xfe\x00who", capture_output=True, timeout=60
    )
    assert done.returncode == 2
    assert b"UTF-8" in done.stderr


# --- an LLM at the other end of the wire -----------------------------------------------------


def script(body: Mapping[str, Any]) -> str:
    """Plays every role by the schema that it was sent."""
    prompt = "\n".join(message["content"] for message in body["messages"] if message["role"] != "system")
    return play(body["format"], prompt)


@pytest.fixture
def ollama() -> Iterator[FakeServer]:
    with FakeServer(reply=script, models=("tiny:1b",)) as running:
        yield running


def test_an_ollama_model_answers_and_a_second_run_is_free(run: Command, towns: None, ollama: FakeServer) -> None:
    arguments = ("ask", QUESTION, "--llm", "ollama/tiny:1b", "--json")
    done = run(*arguments, OLLAMA_HOST=ollama.url)
    assert done.code == 0, done.err
    made = validated(done.out)
    assert made["short_answer"] == "Edda Holm"
    assert made["usage"]["llm_calls"] == len(ollama.calls("/api/chat")) > 0
    check_citations(made)

    again = validated(run(*arguments, OLLAMA_HOST=ollama.url).out)
    assert again["short_answer"] == "Edda Holm"
    assert again["usage"]["llm_calls"] == 0
    assert again["usage"]["cache_hits"] > 0


def test_auto_takes_the_model_that_ollama_has(run: Command, towns: None, ollama: FakeServer) -> None:
    done = run("ask", QUESTION, "--quiet", OLLAMA_HOST=ollama.url)
    assert (done.code, done.out) == (0, "Edda Holm\n")
    assert ollama.calls("/api/chat")


def test_a_call_limit_is_6_with_the_best_answer(run: Command, towns: None, ollama: FakeServer) -> None:
    arguments = ("ask", QUESTION, "--llm", "ollama/tiny:1b", "--max-calls", "3", "--json")
    done = run(*arguments, OLLAMA_HOST=ollama.url)
    assert done.code == 6
    made = validated(done.out)
    assert made["status"] == "incomplete"
    assert made["usage"]["llm_calls"] <= 3


def test_a_server_that_is_down_is_5_and_says_what_to_type(run: Command, towns: None) -> None:
    done = run("ask", QUESTION, "--llm", "ollama/tiny:1b", OLLAMA_HOST=unused_url())
    assert (done.code, done.out) == (5, "")
    assert "ollama serve" in done.err
    assert "Traceback" not in done.err


def test_a_missing_model_is_5_and_names_the_pull(run: Command, towns: None, ollama: FakeServer) -> None:
    done = run("ask", QUESTION, "--llm", "ollama/absent:7b", OLLAMA_HOST=ollama.url)
    assert done.code == 5
    assert "ollama pull absent:7b" in done.err


def test_a_fault_after_the_first_facts_is_5_and_shows_them(run: Command, towns: None, ollama: FakeServer) -> None:
    """The server breaks once the first fact is known: what was found is printed, marked incomplete."""

    def breaking(body: Mapping[str, Any]) -> str:
        reply = script(body)
        if reply.startswith('{"facts": [{'):
            ollama.always = Fault("status", status=400, message="out of order")
        return reply

    ollama.reply = breaking
    done = run("ask", QUESTION, "--llm", "ollama/tiny:1b", "--json", OLLAMA_HOST=ollama.url)
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
        return script(body)

    ollama.reply = hanging
    command = [sys.executable, "-m", "iterative_rag", "ask", QUESTION, "--llm", "ollama/tiny:1b", "-q"]
    environment = {**os.environ, "OLLAMA_HOST": ollama.url}
    with subprocess.Popen(
        command,
        env=environment,
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
    assert err.startswith(b"Stopped: what was read so far is in the cache. To go on: iterative-rag ask")
    assert err.count(b"\n") == 1


def test_a_key_is_never_printed_or_traced(run: Command, towns: None, ollama: FakeServer, tmp_path: Path) -> None:
    secret = "sk-do-not-show-this"
    spec = f"openai-like/tiny:1b@{ollama.url}/v1"
    key = {"ITERATIVE_RAG_API_KEY": secret, "ITERATIVE_RAG_API_KEY_HOST": "127.0.0.1"}
    done = run("ask", QUESTION, "--llm", spec, "--json", "--trace", "run.jsonl", **key)
    assert any(secret in seen.headers.get("Authorization", "") for seen in ollama.seen)
    assert secret not in done.out + done.err
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in written if secret.encode() in path.read_bytes()]


def test_doctor_with_ollama(run: Command, ollama: FakeServer) -> None:
    done = run("doctor", OLLAMA_HOST=ollama.url)
    assert done.code == 0
    assert "tiny:1b" in done.out
    missing = run("doctor", OLLAMA_HOST=ollama.url, ITERATIVE_RAG_LLM="ollama/absent:7b")
    assert missing.code == 5
    assert "ollama pull absent:7b" in missing.out
