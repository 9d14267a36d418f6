"""Two articles that are indexed once, and a home of its own over them for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes import two_article_corpus
from iterative_rag import Settings


@pytest.fixture(scope="session")
def indexed_towns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_article_corpus.indexed_home(tmp_path_factory.mktemp("towns"), "towns")


@pytest.fixture
def towns(indexed_towns: Path, tmp_path: Path) -> Settings:
    """Settings that ask the two articles without a cache; runs are kept in the home of the test."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "corpora").symlink_to(indexed_towns / "corpora")
    return Settings(corpus="towns", cache=False)
