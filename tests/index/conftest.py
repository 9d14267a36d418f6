"""A small corpus of files, the folder of corpora, and an embedder that needs no model."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.hashing_embedder import HashingEmbedder
from iterative_rag.index.corpora import Corpora

ARTICLES = {
    "James_Buchanan.md": "# James Buchanan\n\nJames Buchanan was the fifteenth president. He never married.",
    "Harriet_Lane.md": "# Harriet Lane\n\nHarriet Lane was the niece of James Buchanan and acted as his first lady.",
    "Vltava.txt": "The Vltava is the longest river of the Czech Republic. It flows through Prague.",
    "rivers/Elbe.md": "---\ntitle: River Elbe\n---\nThe Elbe takes up the Vltava at Mělník and flows to the sea.",
}


@pytest.fixture
def embedder() -> HashingEmbedder:
    return HashingEmbedder(64)


@pytest.fixture
def corpora(tmp_path: Path) -> Corpora:
    return Corpora(tmp_path / "corpora")


@pytest.fixture
def articles(tmp_path: Path) -> Path:
    folder = tmp_path / "articles"
    for name, text in ARTICLES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
