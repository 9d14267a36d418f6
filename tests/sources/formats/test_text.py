"""Plain text: where its title comes from, and how a long one is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from iterative_rag.sources.folder import Folder
from iterative_rag.sources.formats import text as text_format
from iterative_rag.types import Document

PROSE = "Aldermere is a market town. It was founded by Edda Holm in 1204.\n"


def documents(path: Path) -> list[Document]:
    return [one for one in Folder(path).documents() if isinstance(one, Document)]


@pytest.mark.parametrize(
    ("first", "between"),
    [
        ("The Town of Aldermere", "\n\n"),
        ("  The Town of Aldermere  ", "\n \n\n"),
        ("The Town of Aldermere", "\n=====\n"),
        ("The Town of Aldermere", "\n-----\n\n"),
        ("Die Stadt Aldermere", "\n\n"),
        ("Город Алдермер", "\n\n"),
        ("アルダーミア", "\n\n"),
        ("1204 in Aldermere", "\n\n"),
        ("“Aldermere” (town)", "\n\n"),
    ],
)
def test_a_first_line_that_is_a_title_is_the_title(tmp_path: Path, first: str, between: str) -> None:
    path = tmp_path / "file_1.txt"
    path.write_text(first + between + PROSE, encoding="utf-8")
    [document] = documents(path)
    assert document.title == first.strip()
    assert document.text == first + between + PROSE


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        "Aldermere\n" + PROSE,
        "Aldermere is a town.\n\n" + PROSE,
        "Is Aldermere a town?\n\n" + PROSE,
        "aldermere, a sketch\n\n" + PROSE,
        "Introduction\n\n" + PROSE,
        "Chapter 1\n\n" + PROSE,
        "Subject: Aldermere\n\n" + PROSE,
        "Dear Edda\n\n" + PROSE,
        "- Aldermere\n\n" + PROSE,
        "| Aldermere |\n\n" + PROSE,
        "https://example.org/aldermere\n\n" + PROSE,
        "12.04.1204\n\n" + PROSE,
        "Aldermere\n\nWestmark\n\nKarsa\n",
        "Word " * 30 + "\n\n" + PROSE,
        "Aldermere\n\n",
    ],
)
def test_anything_else_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file_1.txt"
    path.write_text(text, encoding="utf-8")
    assert [document.title for document in documents(path)] == ["file 1"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_long_text_is_read_in_parts_without_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    monkeypatch.setattr(text_format, "MAX_CHARS", 400)
    whole = (
        "The Long Tale\n\n" + "".join(f"Paragraph {n} says “thing {n}”.\n\n" for n in range(60)) + ("x" * 99 + "\n") * 9
    )
    path = tmp_path / "tale.txt"
    path.write_bytes(whole.replace("\n", "\r\n").encode(encoding))
    parts = documents(path)
    assert "".join(part.text for part in parts) == whole
    assert [part.title for part in parts] == [f"The Long Tale (part {n})" for n in range(1, len(parts) + 1)]
    assert all(part.text.endswith("\n\n") for part in parts[:4])
    assert len({part.id for part in parts}) == len(parts) == len({part.source for part in parts})
    assert max(len(part.text) for part in parts) <= 400
