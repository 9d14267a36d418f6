"""Random bits of the cache's files are turned over: no answer and no status changes."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.hashing_embedder import HashingEmbedder
from fakes.running_server import PlayingLLM
from fakes.two_article_corpus import QUESTION, write_articles
from iterative_rag.app.factory import IterativeRAG, index_paths
from iterative_rag.settings import home, load_settings
from iterative_rag.storage.cache import DiskCache
from iterative_rag.types import Answer

# The whole with --nightly, else a slice.
FLIPS, FEW_FLIPS = 200, 16


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[IterativeRAG]:
    write_articles(tmp_path / "articles")
    embedder = HashingEmbedder(64)
    index_paths([tmp_path / "articles"], settings=load_settings(), embedder=embedder)
    rag = IterativeRAG.from_settings(llm=PlayingLLM(), embed_model=embedder)
    yield rag
    rag.close()


def said(answer: Answer) -> tuple[object, ...]:
    return answer.status, answer.text, answer.short_answer, answer.citations, answer.reason


def flip(path: Path, chance: random.Random, bits: int) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(bits):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def test_flipped_bits_never_change_an_answer(engine: IterativeRAG, request: pytest.FixtureRequest) -> None:
    flips = FLIPS if request.config.getoption("nightly") else FEW_FLIPS
    chance = random.Random(13)
    expected = said(engine.ask(QUESTION))
    engine.store.close()
    assert isinstance(engine.store, DiskCache)
    whole = home() / "whole"
    shutil.copytree(engine.store.folder, whole)
    again = engine.ask(QUESTION)
    assert (said(again), again.usage.llm_calls) == (expected, 0), "it does not come from the cache"
    misses = 0
    for number in range(flips):
        engine.store.close()
        shutil.rmtree(engine.store.folder)
        shutil.copytree(whole, engine.store.folder)
        flip(engine.store.folder / "cache.sqlite", chance, 1 if number % 4 else 200)
        answer = engine.ask(QUESTION)
        assert said(answer) == expected
        misses += answer.usage.llm_calls > 0
    assert misses > flips // 10, "the bits were not those of entries"
