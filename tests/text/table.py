"""The table of texts and what they mean, for every test that reads values."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple


class Row(NamedTuple):
    """A text, the code of its language ("" where it is not known), its kind, and the values in it as they are shown."""

    text: str
    code: str
    kind: str
    meaning: str


def rows() -> list[Row]:
    tables = tomllib.loads((Path(__file__).parent / "values.toml").read_text(encoding="utf-8"))
    return [
        Row(text, "" if code == "unknown" else code, kind, meaning)
        for code, kinds in tables.items()
        for kind, texts in kinds.items()
        for text, meaning in texts.items()
    ]
