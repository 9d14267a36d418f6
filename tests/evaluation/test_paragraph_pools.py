"""The paragraphs of a dataset as one corpus: each once, indexed once, and a part of it for each question."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fakes.hashing_embedder import HashingEmbedder
from iterative_rag.app.factory import corpora
from iterative_rag.errors import UsageError
from iterative_rag.evaluation.dataset_forms import load
from iterative_rag.evaluation.gold_articles import paragraph_id
from iterative_rag.evaluation.records import Paragraph
from iterative_rag.evaluation.search_scope import pool
from iterative_rag.index.indexing_progress import Progress
from iterative_rag.settings import Settings


def paragraph(title: str, text: str, supporting: bool = False) -> dict[str, Any]:
    return {"title": title, "text": text, "supporting": supporting}


TOWN, SHIP = (
    paragraph("Brenwick", "Brenwick is a town on the Wend.", True),
    paragraph("Brenwick", "Brenwick is a ship."),
)
TOWER = paragraph("Corstowe", "Corstowe is a tower.", True)
ROWS = [
    {"id": "1", "question": "Where is Brenwick?", "answer": "on the Wend", "paragraphs": [TOWN, SHIP]},
    {
        "id": "2",
        "question": "What is Corstowe?",
        "answer": "a tower",
        "paragraphs": [TOWER, {**TOWN, "supporting": False}],
    },
]


class Counting(HashingEmbedder):
    embedded = 0

    def embed_documents(self, texts: Sequence[str]) -> Any:
        self.embedded += len(texts)
        return super().embed_documents(texts)


@pytest.fixture
def embedder() -> Counting:
    return Counting(32)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "Hop_set (v1).jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    return path


def test_identical_paragraphs_are_one_document_and_others_are_not(file: Path, embedder: Counting) -> None:
    name = pool(load(file), Settings(), embedder)
    with closing(corpora().open(name, embedder)) as corpus:
        expected = {
            paragraph_id(Paragraph(one["title"], one["text"])): (one["title"], one["text"])
            for one in (TOWN, SHIP, TOWER)
        }
        documents = [corpus.document(entry.id) for entry in corpus.catalogue()]
        assert {one.id: (one.title, one.text) for one in documents} == expected
        assert len(expected) == 3


def test_it_is_embedded_once_wherever_the_file_lies(file: Path, embedder: Counting, tmp_path: Path) -> None:
    seen: list[Progress] = []
    first = pool(load(file), Settings(), embedder, progress=seen.append)
    assert embedder.embedded == 3
    assert (seen[-1].documents, seen[-1].total) == (3, 3)
    assert pool(load(file), Settings(), embedder) == first
    (tmp_path / "elsewhere").mkdir()
    moved = shutil.move(file, tmp_path / "elsewhere" / file.name)
    assert pool(load(Path(moved)), Settings(), embedder) == first
    assert embedder.embedded == 3
    assert corpora().info(first).documents == 3


def test_a_dataset_without_paragraphs(tmp_path: Path, embedder: Counting) -> None:
    path = tmp_path / "plain.jsonl"
    path.write_text('{"question": "Who?", "answer": "x"}', encoding="utf-8")
    with pytest.raises(UsageError, match="have no paragraphs") as raised:
        pool(load(path), Settings(), embedder)
    assert "--corpus NAME" in raised.value.hint
    assert corpora().names() == []
