"""The disk cache: kept, shared, bounded, and never in the way, whatever happens to its files."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.hashing_embedder import HashingEmbedder
from fakes.running_server import PlayingLLM
from fakes.two_article_corpus import QUESTION, write_articles
from iterative_rag.app.factory import IterativeRAG, index_paths
from iterative_rag.protocols import Cache
from iterative_rag.settings import home, load_settings
from iterative_rag.storage.cache import DiskCache, _checksum, _name
from iterative_rag.types import Answer


def kept(cache: Cache, key: str) -> Any:
    """What is kept under the key, whatever its form."""
    return cache.get(key, lambda value: value)


VALUE = {"text": "ünïcode", "list": [1, 2.5, None, True], "nested": {"a": "b"}}


def test_values_outlive_the_process(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache", 10)
    assert kept(cache, "k") is None
    cache.put("k", VALUE)
    cache.close()
    code = (
        "import json, sys; from pathlib import Path; from iterative_rag.storage.cache import DiskCache;"
        "print(json.dumps(DiskCache(Path(sys.argv[1]), 10).get('k', dict)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "cache")], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == VALUE


def test_the_folder_is_the_users_own_and_holds_no_pickle(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "cache"
    cache = DiskCache(folder, 10)
    cache.put("k", VALUE)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    with pytest.raises(TypeError):
        cache.put("k", {1, 2})


def test_the_oldest_go_when_it_is_full(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache", 1)
    for n in range(60):
        cache.put(f"k{n}", os.urandom(50_000).hex())
    assert kept(cache, "k0") is None
    assert kept(cache, "k59") is not None
    assert cache.size()[1] < 3 * 1024 * 1024


def test_processes_share_it(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    code = """
import sys
from pathlib import Path
from iterative_rag.storage.cache import DiskCache
cache, mine = DiskCache(Path(sys.argv[1]), 10), sys.argv[2]
for n in range(100):
    cache.put(f"{mine}-{n}", {"by": mine, "n": n})
    cache.put(f"both-{n}", {"by": "anyone", "n": n})
"""
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(folder), name], stderr=subprocess.PIPE) for name in "ab"
    ]
    for process in running:
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, b"")
    cache = DiskCache(folder, 10)
    for n in range(100):
        assert kept(cache, f"a-{n}") == {"by": "a", "n": n}
        assert kept(cache, f"b-{n}") == {"by": "b", "n": n}
        assert kept(cache, f"both-{n}") == {"by": "anyone", "n": n}


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """The folder of a closed cache of 200 entries."""
    cache = DiskCache(tmp_path / "cache", 10)
    for n in range(200):
        cache.put(f"k{n}", "v" * 500)
    cache.close()
    return tmp_path / "cache"


def use_all(cache: DiskCache) -> None:
    """Every value is what was written or a miss, and can be written again."""
    for n in range(200):
        assert kept(cache, f"k{n}") in (None, "v" * 500)
        cache.put(f"k{n}", "new")
    assert [kept(cache, f"k{n}") for n in range(200)] == ["new"] * 200


def overwrite(database: Path) -> None:
    """Spoil the middle of the file in its place."""
    with database.open("r+b") as file:
        file.seek(2048)
        file.write(b"\xff" * (database.stat().st_size - 4096))


@pytest.mark.parametrize("damage", ["garbage", "middle", "half"])
def test_a_damaged_cache_is_set_aside_and_begun_anew(
    filled: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    database = filled / "cache.sqlite"
    if damage == "garbage":
        database.write_bytes(b"this is no database" * 1000)
    elif damage == "middle":
        overwrite(database)
    else:
        database.write_bytes(database.read_bytes()[: database.stat().st_size // 2])
    with caplog.at_level(logging.WARNING):
        use_all(DiskCache(filled, 10))
    assert (filled.parent / "cache.damaged" / "cache.sqlite").exists()
    assert "a new one is used" in caplog.text


def test_damage_while_it_is_open_never_changes_a_value(filled: Path) -> None:
    cache = DiskCache(filled, 10)
    assert kept(cache, "k0") == "v" * 500
    overwrite(filled / "cache.sqlite")
    use_all(cache)


def tamper(folder: Path, statement: str, *values: object) -> None:
    """Change the file as somebody with SQLite would."""
    with contextlib.closing(sqlite3.connect(folder / "cache.sqlite")) as database, database:
        database.execute(statement, values)


@pytest.mark.parametrize(
    "change",
    [
        "value = 'other'",
        "value = CAST(value AS BLOB) || x'ff'",
        "value = '', checksum = x''",
        "value = zeroblob(20000000) WHERE id = 7",
        "checksum = 'text'",
    ],
)
def test_a_row_of_another_hand_is_dropped(filled: Path, change: str) -> None:
    tamper(filled, f"UPDATE entries SET {change}")
    use_all(DiskCache(filled, 50))
    assert not (filled.parent / "cache.damaged").exists()


@pytest.mark.parametrize("text", ["{", "NaN", "[" * 100_000, '{"status": 1}'])
def test_a_forged_row_of_another_shape_is_dropped(filled: Path, text: str) -> None:
    def read(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError("no text")
        return value

    name, cache = _name("k7"), DiskCache(filled, 10)
    change = "UPDATE entries SET value = ?, checksum = ? WHERE key = ?"
    tamper(filled, change, text, _checksum(name, text.encode()), name)
    assert cache.get("k7", read) is None
    assert cache.get("k8", read) == "v" * 500
    assert cache.size()[0] == 199


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER planted AFTER INSERT ON entries BEGIN UPDATE entries SET value = 'theirs'; END",
        "ALTER TABLE entries ADD COLUMN planted TEXT DEFAULT 'theirs'",
    ],
)
def test_a_file_with_another_schema_is_not_used(filled: Path, statement: str) -> None:
    tamper(filled, statement)
    use_all(DiskCache(filled, 10))
    assert (filled.parent / "cache.damaged").exists()


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    folder, precious = tmp_path / "cache", tmp_path / "precious"
    folder.mkdir()
    precious.write_bytes(b"")
    (folder / "cache.sqlite").symlink_to(precious)
    cache = DiskCache(folder, 10)
    cache.put("k", VALUE)
    assert kept(cache, "k") == VALUE
    assert precious.read_bytes() == b""


# --- random bits of its files are turned over ------------------------------------------------------

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
