"""`doctor`, as a process of its own."""

from __future__ import annotations

from pathlib import Path

from fakes.command_line import Command


def test_doctor_is_content_with_a_bare_machine(shell: Command) -> None:
    done = shell("doctor", OLLAMA_HOST="http://127.0.0.1:9")
    assert done.code == 0, done.out + done.err
    for name in ("Python", "settings", "built-in", "Ollama", "corpora", "cache", "disk"):
        assert f" {name} " in done.out
    assert "ollama serve" in done.out
    assert done.out.splitlines()[-1].startswith("Ready:")


def test_doctor_names_a_setting_that_is_wrong(shell: Command, tmp_path: Path) -> None:
    (tmp_path / "iterative-rag.toml").write_text("max_hop = 3\n", encoding="utf-8")
    done = shell("doctor")
    assert done.code == 2
    assert "max_hops" in done.out


def test_doctor_never_shows_a_key(shell: Command) -> None:
    secret = "sk-do-not-show"
    done = shell("doctor", ITERATIVE_RAG_API_KEY=secret, OPENAI_API_KEY=secret, OLLAMA_HOST="http://127.0.0.1:9")
    assert secret not in done.out + done.err


def test_doctor_misses_the_corpus_that_the_settings_name(shell: Command) -> None:
    done = shell("doctor", ITERATIVE_RAG_CORPUS="towns", OLLAMA_HOST="http://127.0.0.1:9")
    assert done.code == 4
    assert "iterative-rag index PATH --corpus towns" in done.out
