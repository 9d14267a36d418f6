"""`doctor`: what is there, and what a model can do."""

from __future__ import annotations

import re
from pathlib import Path

from fakes.command_line import Command
from fakes.model_server import FakeServer
from fakes.qualified_models import small


def test_doctor_is_content_with_a_bare_machine(run: Command) -> None:
    done = run("doctor", OLLAMA_HOST="http://127.0.0.1:9")
    assert done.code == 0, done.out + done.err
    for name in ("Python", "settings", "built-in", "Ollama", "corpora", "disk"):
        assert f" {name} " in done.out
    assert "ollama serve" in done.out
    assert done.out.splitlines()[-1].startswith("Ready:")


def test_doctor_names_a_setting_that_is_wrong(run: Command, tmp_path: Path) -> None:
    (tmp_path / "iterative-rag.toml").write_text("max_hop = 3\n", encoding="utf-8")
    done = run("doctor")
    assert done.code == 2
    assert "max_hops" in done.out


def test_doctor_never_shows_a_key(run: Command) -> None:
    secret = "sk-do-not-show"
    done = run("doctor", ITERATIVE_RAG_API_KEY=secret, OPENAI_API_KEY=secret, OLLAMA_HOST="http://127.0.0.1:9")
    assert secret not in done.out + done.err


def test_qualifying_says_what_came_of_each_case_and_what_ask_does_now(run: Command, server: FakeServer) -> None:
    server.reply = small
    done = run("doctor", "--qualify", "--minutes", "9", "--llm", "ollama/tiny:8b", OLLAMA_HOST=server.url)
    assert done.code == 0, done.err
    assert re.search(r"read-designer +right +[\d.]+ s\n", done.err)
    assert re.search(r"decline-death +wrong +[\d.]+ s  said: \w", done.err)
    assert re.search(r"reads values +(\d) of \1 +built-in \d +better: both", done.out)
    assert re.search(r"plans look-ups +0 of 3 +built-in 3 +better: the built-in models", done.out)
    assert "careful = on" in done.out
    last = done.out.strip().splitlines()[-1]
    assert last.startswith("From now on `ask` lets ollama/tiny:8b read again")


def test_the_builtin_models_cannot_be_qualified(run: Command) -> None:
    done = run("doctor", "--qualify", "--llm", "builtin")
    assert done.code == 2
    assert "--llm ollama/" in done.err
    alone = run("doctor", "--minutes", "9")
    assert alone.code == 2
    assert "doctor --qualify" in alone.err


def test_doctor_checks_the_reranker(run: Command) -> None:
    spec = "openai-like/bge@http://127.0.0.1:9/v1"
    there = run("doctor", ITERATIVE_RAG_RERANK=spec, OLLAMA_HOST="http://127.0.0.1:9")
    assert there.code == 0
    assert "bge at http://127.0.0.1:9/v1, no key is set for it" in there.out


def test_doctor_says_that_a_server_does_not_reply(run: Command) -> None:
    done = run("doctor", "--llm", "openai-like/tiny@http://127.0.0.1:9/v1", OLLAMA_HOST="http://127.0.0.1:9")
    assert "cannot be reached" in " ".join(done.out.split())
    assert done.code == 5
