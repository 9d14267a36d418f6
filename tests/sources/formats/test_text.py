"""Plain text: where its title comes from, and how a long one is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from iterative_rag.sources.folder import Folder
from iterative_rag.sources.formats import text as text_format
from iterative_rag.types import Document


def documents(path: Path) -> list[Document]:
    return [one for one in Folder(path).documents() if isinstance(one, Document)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_long_text_is_read_in_parts_without_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    monkeypatch.setattr(text_format, "MAX_CHARS", 400)
    whole = "".join(f"Paragraph {n} says “thing {n}”.\n\n" for n in range(60)) + ("x" * 99 + "\n") * 9
    path = tmp_path / "tale.txt"
    path.write_bytes(whole.replace("\n", "\r\n").encode(encoding))
    parts = documents(path)
    assert "".join(part.text for part in parts) == whole
    assert [part.title for part in parts] == [f"tale (part {n})" for n in range(1, len(parts) + 1)]
    assert all(part.text.endswith("\n\n") for part in parts[:4])
    assert len({part.id for part in parts}) == len(parts) == len({part.source for part in parts})
    assert max(len(part.text) for part in parts) <= 400
