"""The word lists of this folder, `words.toml`; the file is read when a list is first asked for."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path


@cache
def _tables() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))


def lists_of(table: str) -> Mapping[str, tuple[str, ...]]:
    """The lists of a table, each by its name."""
    return {name: words(table, name) for name in _tables()[table]}


@cache
def words(table: str, name: str) -> tuple[str, ...]:
    """The words of one list; a "_" in the file is a blank."""
    return tuple(word.replace("_", " ") for word in _tables()[table][name].split())


def pattern(table: str, name: str) -> str:
    """A list of regular expressions, one a line, as one of alternatives."""
    return f"(?:{'|'.join(_tables()[table][name].strip().splitlines())})"
