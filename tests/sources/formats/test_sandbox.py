"""A file is read in a child process, whose time and memory are bounded."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from iterative_rag.protocols import Skipped
from iterative_rag.sources.folder import Folder
from iterative_rag.sources.formats.sandbox import Limits
from iterative_rag.types import Document
from tests.sources.formats.reading import mixed, reasons, written


def test_a_reader_that_takes_too_long_or_too_much_costs_one_file(tmp_path: Path) -> None:
    written(tmp_path / "a.html", "<p>Before.")
    written(tmp_path / "b.json", b'{"a": [' + b"[]," * 9_000_000 + b"1]}")
    written(tmp_path / "c.html", "<b>" * 1_000_000 + "x")
    written(tmp_path / "d.html", "<p>After.")
    items = list(Folder(tmp_path, limits=Limits(megabytes=150)).documents())
    assert [item.title for item in items if isinstance(item, Document)] == ["a", "d"]
    assert any("more than 150 MB" in item.reason for item in items if isinstance(item, Skipped))
    slow = reasons(tmp_path / "b.json", Limits(seconds=0.01))
    assert "longer than" in slow[0]


def test_a_child_that_dies_costs_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    written(tmp_path / "a.html", "<p>Text.")
    written(tmp_path / "b.txt", "Text.")
    items = list(Folder(tmp_path).documents())
    assert [item.title for item in items if isinstance(item, Document)] == ["b"]
    assert "crashed" in reasons(tmp_path)[0]


def test_a_folder_that_is_not_read_to_its_end_leaves_no_child(tmp_path: Path) -> None:
    reading: Any = Folder(mixed(tmp_path / "mixed")).documents()
    next(reading)
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    if not children.is_file():
        pytest.skip("no list of children here")
    assert children.read_text().split()
    before = set(children.read_text().split())
    reading.close()
    assert set(children.read_text().split()) < before
