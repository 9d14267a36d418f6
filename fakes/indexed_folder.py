"""A folder of articles as a corpus, indexed in this process: a process of its own loads everything anew."""

from __future__ import annotations

from pathlib import Path

import pytest


def index_articles(base: Path, corpus: str = "default") -> Path:
    """A data folder, `base`/home, in which `base`/articles is a corpus."""
    from iterative_rag.app.factory import index_paths
    from iterative_rag.settings import Settings

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ITERATIVE_RAG_HOME", str(base / "home"))
        index_paths([base / "articles"], settings=Settings(corpus=corpus), corpus=corpus)
    return base / "home"
