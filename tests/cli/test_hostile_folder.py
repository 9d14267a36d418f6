"""A working folder that was cloned or unpacked cannot choose who receives questions, documents and keys."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.command_line import Command, TerminalCommand
from fakes.loopback_server import RecordingServer
from iterative_rag.settings import load_settings

KEY = "sk-very-secret-0815"
KEYS = {"ITERATIVE_RAG_API_KEY": KEY, "QDRANT_API_KEY": KEY, "OLLAMA_API_KEY": KEY, "TAVILY_API_KEY": KEY}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a document to index."""
    cloned = tmp_path / "cloned"
    cloned.mkdir()
    (cloned / "Town.md").write_text("# Town\n\nThe town was founded in 1204.\n")
    monkeypatch.chdir(cloned)
    return cloned


def redirections(thief: RecordingServer) -> dict[str, str]:
    """Every setting that decides where something is sent, pointing at the thief."""
    return {
        "llm": f"openai-like/m@{thief.url}/v1",
        "fast_llm": f"openai-like/m@{thief.url}/v1",
        "embedder": f"openai-like/m@{thief.url}/v1",
        "index": f"qdrant://{thief.host}",
        "search_engine": f"searxng@{thief.url}",
        "web": "true",
    }


def write_toml(folder: Path, settings: dict[str, str]) -> None:
    (folder / "iterative-rag.toml").write_text("".join(f'{key} = "{value}"\n' for key, value in settings.items()))


def write_dotenv(folder: Path, settings: dict[str, str]) -> None:
    lines = [f"ITERATIVE_RAG_{key.upper()}={value}\n" for key, value in settings.items()]
    (folder / ".env").write_text("".join(lines))


@pytest.mark.parametrize("write", [write_toml, write_dotenv])
def test_nothing_reaches_whom_the_folder_names(
    run: Command, thief: RecordingServer, folder: Path, write: Callable[[Path, dict[str, str]], None]
) -> None:
    write(folder, redirections(thief))
    local = {**KEYS, "OLLAMA_HOST": "http://127.0.0.1:9"}
    for arguments in (
        ("index", "Town.md", "--corpus", "towns", "-q"),
        ("search", "town", "--corpus", "towns"),
        ("ask", "When was the town founded?", "--corpus", "towns", "-q"),
    ):
        done = run(*arguments, **local)
        assert done.code == 0, done.err
        for name in redirections(thief):
            assert f"{name} (" in done.err
        assert done.err.count("iterative-rag trust") == 1
        assert KEY not in done.out + done.err
    assert done.out == "1204\n"
    assert thief.received == []


def test_a_dotenv_feeds_neither_keys_nor_folders_nor_the_address_of_a_server(
    run: Command, thief: RecordingServer, folder: Path
) -> None:
    variables = {
        "ITERATIVE_RAG_API_KEY": KEY,
        "ITERATIVE_RAG_API_KEY_HOST": thief.host,
        "ITERATIVE_RAG_ALLOW_HTTP": thief.host,
        "ITERATIVE_RAG_HOME": str(folder / "planted"),
        "OLLAMA_HOST": thief.url,
        "HTTP_PROXY": thief.url,
        "HTTPS_PROXY": thief.url,
        "ALL_PROXY": thief.url,
        "ITERATIVE_RAG_CORPUS": "${QDRANT_API_KEY}",
    }
    (folder / ".env").write_text("".join(f"{name}={value}\n" for name, value in variables.items()))
    done = run("search", "town", QDRANT_API_KEY="sk-of-the-environment")
    assert done.code == 2  # that cannot be the name of a corpus; no key was put in its place
    assert "${QDRANT_API_KEY}" in done.err
    assert "sk-of-the-environment" not in done.err
    assert "only from the environment: ITERATIVE_RAG_API_KEY, ITERATIVE_RAG_API_KEY_HOST" in done.err
    assert not (folder / "planted").exists()
    assert thief.received == []


def test_trust_holds_until_the_content_changes(
    run: Command, thief: RecordingServer, folder: Path, tmp_path: Path
) -> None:
    write_toml(folder, {"llm": redirections(thief)["llm"]})
    assert run("index", "Town.md", "--corpus", "towns", "-q").code == 0

    asked = run("trust")  # no terminal to ask on
    assert asked.code == 2
    assert f"llm = {redirections(thief)['llm']}" in asked.out
    assert "trust --yes" in asked.err
    assert run("trust", "--yes").code == 0
    assert str(folder.resolve()) in run("trust", "--list").out
    assert stat.S_IMODE((tmp_path / "home" / "trusted.json").stat().st_mode) == 0o600
    asked = run("ask", "When was the town founded?", "--corpus", "towns", "-q")
    assert "trust" not in asked.err
    assert thief.received  # what the folder names is asked now
    thief.received.clear()

    with (folder / "iterative-rag.toml").open("a") as file:
        file.write("max_hops = 2\n")
    changed = run("search", "town", "--corpus", "towns")
    assert "llm (iterative-rag.toml)" in changed.err
    assert thief.received == []
    assert "changed" in run("trust", "--list").out

    run("trust", "--yes")
    assert run("trust", "--remove").code == 0
    assert run("trust", "--list").out == ""


@pytest.mark.parametrize(("typed", "trusted"), [("y\n", True), ("\n", False)])
def test_trust_asks_on_a_terminal(
    on_a_terminal: TerminalCommand, thief: RecordingServer, folder: Path, tmp_path: Path, typed: str, trusted: bool
) -> None:
    write_toml(folder, {"llm": redirections(thief)["llm"]})
    shown = on_a_terminal(["trust"], typed=typed)
    assert thief.host in shown
    assert "[y/N]" in shown
    assert (tmp_path / "home" / "trusted.json").exists() == trusted


def test_the_user_may_choose_what_the_folder_names(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write_toml(folder, {"llm": "ollama/a", "index": "qdrant://example.org"})
    monkeypatch.setenv("ITERATIVE_RAG_LLM", "ollama/b")
    settings = load_settings({"index": "local"})
    assert (settings.llm, settings.index) == ("ollama/b", "local")
    assert not caplog.records  # what is overruled anyway is not worth a word


def test_the_users_own_configuration_needs_no_trust(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "config" / "iterative-rag"
    own.mkdir(parents=True)
    write_toml(own, {"llm": "ollama/a", "web": "true"})
    write_toml(folder, {"llm": "ollama/a"})
    assert load_settings().llm == "ollama/a"
    assert load_settings().web
