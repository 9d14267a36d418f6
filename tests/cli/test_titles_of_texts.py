"""A corpus from before a new way to read titles keeps its titles until it is indexed again, which says so."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from fakes.command_line import Command
from iterative_rag.index.catalogue import version_of
from iterative_rag.types import Document

TEXT = "The Town of Aldermere\n\nAldermere is a market town. It was founded by Edda Holm.\n"


def test_documents_that_get_another_title_are_counted(run: Command, tmp_path: Path) -> None:
    Path("texts").mkdir()
    Path("texts/town.txt").write_text(TEXT)
    assert run("index", "texts", "--corpus", "mine").code == 0
    # As an earlier version of the package left it.
    former = version_of(Document("", "town", TEXT, ""))
    [database] = tmp_path.rglob("documents.sqlite")
    with contextlib.closing(sqlite3.connect(database)) as opened, opened:
        opened.execute("UPDATE documents SET title = 'town', content = ?", (former,))
    assert run("show", "town", "--corpus", "mine").code == 0
    again = run("index", "texts", "--corpus", "mine")
    assert "0 added, 1 changed" in again.out
    assert "1 document of the same text has another title than before, so indexed again." in again.err
    shown = run("show", "The Town of Aldermere", "--corpus", "mine")
    assert shown.out == TEXT
    assert "another title" not in run("index", "texts", "--corpus", "mine").err
