"""`cache`, as a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.command_line import Command


def test_cache(run: Command) -> None:
    done = run("cache")
    assert done.code == 0
    assert "entries  0" in done.out
    assert run("cache", "clear").code == 0


def test_a_damaged_cache_is_one_warning(run: Command, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "cache"
    folder.mkdir(parents=True)
    (folder / "cache.sqlite").write_bytes(b"this is no database" * 100)
    done = run("cache")
    assert done.code == 0
    assert done.err.startswith("Warning: The cache")
    assert "Traceback" not in done.err


@pytest.mark.parametrize("command", ["stats", "clear"])
def test_a_cache_that_cannot_be_read_is_not_an_empty_one(run: Command, tmp_path: Path, command: str) -> None:
    (tmp_path / "home" / "cache").mkdir(parents=True)
    (tmp_path / "home" / "cache" / "cache.sqlite").mkdir()
    (tmp_path / "home" / "cache.damaged").mkdir()
    (tmp_path / "home" / "cache.lock").mkdir()  # it cannot be moved away either
    done = run("cache", command)
    assert done.code == 4
    assert "entries" not in done.out
    assert done.err.startswith("Error: The cache ")
