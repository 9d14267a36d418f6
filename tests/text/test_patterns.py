"""Patterns that are compiled when they are first used behave like compiled ones, and each of them can be compiled."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest

import iterative_rag
from iterative_rag.text.patterns import _LazyPattern, lazy_pattern


def test_a_lazy_pattern_does_what_a_compiled_one_does() -> None:
    lazy, compiled = lazy_pattern(r"(?P<year>\d{4})", re.IGNORECASE), re.compile(r"(?P<year>\d{4})", re.IGNORECASE)
    text = "from 1857 to 1861"
    assert [match.span() for match in lazy.finditer(text)] == [match.span() for match in compiled.finditer(text)]
    assert lazy.findall(text) == compiled.findall(text)
    assert lazy.sub("x", text) == compiled.sub("x", text)
    assert (lazy.pattern, lazy.flags, dict(lazy.groupindex)) == (compiled.pattern, compiled.flags, {"year": 1})


def patterns() -> Iterator[tuple[str, _LazyPattern]]:
    """Every lazy pattern that a module of the package holds, and the module's name."""
    for area in ("builtin", "computing", "correction", "engine", "llm", "retrieval", "text", "verification"):
        for info in pkgutil.walk_packages([f"{iterative_rag.__path__[0]}/{area}"], f"iterative_rag.{area}."):
            for value in vars(importlib.import_module(info.name)).values():
                for one in value if isinstance(value, tuple) else (value,):
                    if isinstance(one, _LazyPattern):
                        yield info.name, one


def test_every_pattern_can_be_compiled() -> None:
    found = list(patterns())
    assert len(found) > 200
    for name, pattern in found:
        try:
            re.compile(pattern.pattern, pattern._flags)
        except re.error as error:
            pytest.fail(f"{name}: {pattern!r}: {error}")
