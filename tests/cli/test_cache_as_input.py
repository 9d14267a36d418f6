"""Cache rows are input like any other: nothing in them runs, no file goes, no answer and no exit code changes."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.command_line import Command
from fakes.model_server import FakeServer
from fakes.two_article_corpus import QUESTION, write_articles
from iterative_rag.storage.cache import _checksum


class Planted:
    """Makes a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.fixture
def ask(run: Command, ollama: FakeServer, tmp_path: Path) -> Callable[[], dict[str, object]]:
    """Asks and returns the answer without what a run costs and its id."""
    write_articles(tmp_path / "articles")
    assert run("index", "articles", "-q").code == 0

    def call() -> dict[str, object]:
        done = run("ask", QUESTION, "--llm", "ollama/tiny:8b", "--json")
        assert "Traceback" not in done.err
        made = json.loads(done.out)
        return {"code": done.code, **{name: made[name] for name in ("status", "answer", "short_answer", "citations")}}

    return call


@pytest.mark.parametrize("shift", [0, *(pytest.param(n, marks=pytest.mark.nightly) for n in (3, 6))])
def test_forged_rows_never_change_an_answer(
    ask: Callable[[], dict[str, object]], ollama: FakeServer, tmp_path: Path, shift: int
) -> None:
    expected = ask()
    calls = len(ollama.calls("/api/chat"))
    forged = [
        b"[]",
        b"{}",
        b"7",
        b'"text"',
        b"[[[[",
        b'[{"statement": 1, "quote": [], "value": {}, "score": "high"}]',
        b'[{"statement": "s", "quote": "nowhere to be found", "value": "Mallory", "score": 9e999}]',
        b"[" + b"0.5, " * 383 + b"NaN]",
        pickle.dumps(Planted(tmp_path / "planted")),
    ]
    database = sqlite3.connect(tmp_path / "home" / "cache" / "cache.sqlite")
    with contextlib.closing(database), database:
        kept = database.execute("SELECT key, value FROM entries ORDER BY id").fetchall()
        for number, (key, value) in enumerate(kept):
            text = forged[(number + shift) % len(forged)]
            if text == b"[]" and value.startswith("["):
                text = b"{}"  # a list of nothing has the right form there: that nothing was found
            row = (text, _checksum(key, text), key)
            database.execute("UPDATE entries SET value = ?, checksum = ? WHERE key = ?", row)
    assert ask() == expected
    assert not (tmp_path / "planted").exists()
    assert len(ollama.calls("/api/chat")) > calls
    calls = len(ollama.calls("/api/chat"))
    assert ask() == expected
    assert len(ollama.calls("/api/chat")) == calls, "the bad rows were not replaced"
