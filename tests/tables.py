"""Long tables of cases, which lie in a TOML file beside their test."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any


def table(test: str, name: str) -> list[tuple[Any, ...]]:
    """The rows of a table in the TOML file that has the name of this test."""
    held = tomllib.loads(Path(test).with_suffix(".toml").read_text(encoding="utf-8"))
    return [tuple(row) for row in held[name]]
