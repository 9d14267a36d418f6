"""`search` over a part of a corpus and explained, and with an index that is not there."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest

from fakes.command_line import Command
from fakes.model_server import unused_url


@pytest.fixture
def towns(articles: Path, run: Command) -> None:
    assert run("index", str(articles), "--corpus", "towns").code == 0


def test_a_part_is_searched(run: Command, towns: None) -> None:
    done = run("search", "oldest bridge", "--corpus", "towns", "--json")
    assert {hit["title"] for hit in json.loads(done.out)} == {"Sunday bridge", "Aldermere"}
    done = run("search", "oldest bridge", "--corpus", "towns", "--title", "alder")
    assert "Sunday" not in done.out
    missed = run("search", "oldest bridge", "--corpus", "towns", "--lang", "de")
    assert missed.code == 4
    assert "No document matches --document-language de" in missed.err


def test_a_server_that_is_not_there_is_said_and_the_corpus_stays_as_it_is(run: Command, towns: None) -> None:
    address = unused_url().replace("http://", "qdrant://")
    asked = run("search", "bridge", "--corpus", "towns", "--index", address)
    assert asked.code == 4
    assert f"--corpus towns --index {address}" in asked.err
    assert run("search", "bridge", "--corpus", "towns").code == 0
    assert run("search", "bridge", "--corpus", "towns", "--index", "http://somewhere").code == 2


def test_a_corpus_that_is_not_indexed_to_its_end_is_searched_and_said(
    run: Command, towns: None, tmp_path: Path
) -> None:
    [database] = tmp_path.rglob("documents.sqlite")
    with contextlib.closing(sqlite3.connect(database)) as opened, opened:
        opened.execute("""INSERT OR REPLACE INTO meta VALUES ('unfinished', '["/somewhere"]')""")
    for command in (["search", "oldest bridge"], ["ask", "Which is the oldest bridge?", "--llm", "builtin"]):
        done = run(*command, "--corpus", "towns")
        told = done.err if command[0] == "search" else done.out
        assert "The corpus 'towns' is not fully indexed" in told
        assert "2 documents can be found so far. To finish it, type: iterative-rag index" in told
        assert "oldest" in done.out + done.err
    asked = run("ask", "Which is the oldest bridge?", "--llm", "builtin", "--corpus", "towns", "--json")
    assert "is not fully indexed" in json.loads(asked.out)["corpus_notice"]
