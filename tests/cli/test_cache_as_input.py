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

FORMER = (
    "CREATE TABLE Settings (key TEXT NOT NULL UNIQUE, value)",
    "CREATE TABLE Cache (rowid INTEGER PRIMARY KEY, key BLOB, raw INTEGER, store_time REAL, expire_time REAL,"
    " access_time REAL, access_count INTEGER DEFAULT 0, tag BLOB, size INTEGER DEFAULT 0, mode INTEGER DEFAULT 0,"
    " filename TEXT, value BLOB)",
)


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


def test_pickles_and_file_names_of_a_former_cache_do_nothing(run: Command, tmp_path: Path) -> None:
    cache, precious = tmp_path / "home" / "cache", tmp_path / "precious.txt"
    cache.mkdir(parents=True)
    precious.write_text("kept")
    with contextlib.closing(sqlite3.connect(cache / "cache.db")) as database, database:
        for table in FORMER:
            database.execute(table)
        database.execute("INSERT INTO Settings VALUES ('disk_planted', '1'), ('close', '1'), ('_directory', '/')")
        row = "INSERT INTO Cache (key, raw, mode, filename, value) VALUES (?, 1, ?, ?, ?)"
        database.execute(row, ("a", 1, "../../precious.txt", None))
        database.execute(row, ("b", 4, None, pickle.dumps(Planted(tmp_path / "planted"))))
    for arguments in (["cache"], ["doctor"], ["cache", "clear"]):
        done = run(*arguments, OLLAMA_HOST="http://127.0.0.1:9")
        assert (done.code, done.err.count("Error"), "Traceback" in done.err) == (0, 0, False)
    assert precious.read_text() == "kept"
    assert not (tmp_path / "planted").exists()


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
