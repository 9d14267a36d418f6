"""Kiwix archives written with libzim's own Creator, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

libzim = pytest.importorskip("libzim", reason="the extra zim is not installed")

from libzim.writer import Creator, Hint, Item, StringProvider  # type: ignore[import-untyped]  # noqa: E402


class Entry(Item):  # type: ignore[misc]
    def __init__(self, path: str, content: str | bytes, *, title: str = "", mime: str = "text/html") -> None:
        super().__init__()
        self.path, self.content, self.title, self.mime = path, content, title, mime

    def get_path(self) -> str:
        return self.path

    def get_title(self) -> str:
        return self.title or self.path.replace("_", " ")

    def get_mimetype(self) -> str:
        return self.mime

    def get_contentprovider(self) -> StringProvider:
        return StringProvider(self.content)

    def get_hints(self) -> Mapping[Hint, int]:
        return {Hint.FRONT_ARTICLE: int(self.mime == "text/html"), Hint.COMPRESS: 1}


def archive(
    path: Path, *entries: Entry, redirects: Mapping[str, str] | None = None, language: str = "", **metadata: str
) -> Path:
    """Written with an index of words where `language` (eng, deu) is given."""
    with Creator(path).config_indexing(bool(language), language) as creator:
        for entry in entries:
            creator.add_item(entry)
        for name, goal in (redirects or {}).items():
            creator.add_redirection(name, name.replace("_", " "), goal, {Hint.FRONT_ARTICLE: 1})
        for name, said in metadata.items():
            creator.add_metadata(name, said)
    return path
