"""`index`, `corpus`, `search`, `show`, `cache` and `doctor` on a real corpus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes.command_line import Command
from tests.cli.conftest import TEXTS


def test_a_corpus_is_indexed_listed_searched_shown_and_removed(run: Command, articles: Path) -> None:
    done = run("index", str(articles), "--corpus", "towns")
    assert done.code == 0
    assert done.out.startswith("2 added, 0 changed, 0 unchanged, 0 removed, 0 skipped; 2 passages embedded")

    again = run("index", str(articles), "--corpus", "towns")
    assert again.out.startswith("0 added, 0 changed, 2 unchanged, 0 removed")

    assert run("corpus").out == "towns  2 documents, 2 passages, ready\n"
    status = run("corpus", "status", "towns").out
    for words in ("documents", "passages", "embedder", "builtin/", "size", "updated"):
        assert words in status

    found = run("search", "who founded the market town", "--corpus", "towns")
    first = found.out.splitlines()[0]
    assert "Aldermere" in first
    assert "dense 1" in first
    assert "founded by Edda Holm" in found.out

    hits = json.loads(run("search", "market town", "--corpus", "towns", "--json", "-n", "1").out)
    text = (articles / "Aldermere.md").read_text(encoding="utf-8")
    assert [hit["title"] for hit in hits] == ["Aldermere"]
    assert text[hits[0]["start"] : hits[0]["end"]] == hits[0]["text"]

    assert run("show", "sunday_bridge", "--corpus", "towns").out == TEXTS["Sunday_bridge.md"]

    refused = run("corpus", "remove", "towns", stdin="y\n")
    assert refused.code == 2
    assert "iterative-rag corpus remove towns --yes" in refused.err
    assert "towns" in run("corpus").out
    assert run("corpus", "remove", "towns", "--yes").code == 0
    assert run("corpus").out == ""


def test_skipped_files_are_named_on_stderr(run: Command, articles: Path) -> None:
    (articles / "binary.txt").write_bytes(b"\0\1\2" * 400)
    done = run("index", str(articles), "--corpus", "towns")
    assert done.code == 0
    assert "1 skipped" in done.out
    assert "binary.txt" in done.err
    assert "binary.txt" not in done.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("index", "no-such-folder"),
        ("corpus", "status", "nowhere"),
        ("ask", "Who was it?", "--corpus", "nowhere", "--llm", "builtin"),
    ],
    ids=" ".join,
)
def test_a_corpus_error_is_4_with_a_hint(run: Command, arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.code == 4
    assert done.out == ""
    assert done.err.startswith("Error: ")
    assert "Hint:" in done.err
    assert "Traceback" not in done.err
