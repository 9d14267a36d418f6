"""The disk cache: kept, shared, bounded, and never in the way."""

from __future__ import annotations

import json
import logging
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from iterative_rag.cache import CacheStats, DiskCache, NoCache

VALUE = {"text": "ünïcode", "list": [1, 2.5, None, True], "nested": {"a": "b"}}


def test_values_outlive_the_process(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache", 10)
    assert cache.get("k") is None
    cache.put("k", VALUE)
    cache.close()
    code = (
        "import json, sys; from pathlib import Path; from iterative_rag.cache import DiskCache;"
        "print(json.dumps(DiskCache(Path(sys.argv[1]), 10).get('k')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "cache")], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == VALUE


def test_stats_and_clear(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache", 10)
    cache.put("a", 1)
    cache.put("b", "x" * 100_000)
    assert [cache.get("a"), cache.get("a"), cache.get("missing")] == [1, 1, None]
    stats = cache.stats()
    assert (stats.entries, stats.hits, stats.misses) == (2, 2, 1)
    assert stats.bytes > 0
    cache.clear()
    assert cache.get("a") is None
    assert (cache.stats().entries, cache.stats().hits) == (0, 0)


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
    assert cache.get("k0") is None
    assert cache.get("k59") is not None
    assert cache.stats().bytes < 3 * 1024 * 1024


def test_threads_share_it(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache", 10)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: cache.put(f"k{n}", n), range(100)))
        assert list(pool.map(lambda n: cache.get(f"k{n}"), range(100))) == list(range(100))


def test_processes_share_it(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    code = """
import sys
from pathlib import Path
from iterative_rag.cache import DiskCache
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
        assert cache.get(f"a-{n}") == {"by": "a", "n": n}
        assert cache.get(f"b-{n}") == {"by": "b", "n": n}
        assert cache.get(f"both-{n}") == {"by": "anyone", "n": n}


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
        assert cache.get(f"k{n}") in (None, "v" * 500)
        cache.put(f"k{n}", "new")
    assert [cache.get(f"k{n}") for n in range(200)] == ["new"] * 200


def overwrite(database: Path) -> None:
    """Spoil the middle of the file in its place."""
    with database.open("r+b") as file:
        file.seek(2048)
        file.write(b"\xff" * (database.stat().st_size - 4096))


@pytest.mark.parametrize("damage", ["garbage", "middle", "half"])
def test_a_damaged_cache_is_set_aside_and_begun_anew(
    filled: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    database = filled / "cache.db"
    if damage == "garbage":
        database.write_bytes(b"this is no database" * 1000)
    elif damage == "middle":
        overwrite(database)
    else:
        database.write_bytes(database.read_bytes()[: database.stat().st_size // 2])
    with caplog.at_level(logging.WARNING):
        use_all(DiskCache(filled, 10))
    assert (filled.parent / "cache.damaged-1" / "cache.db").exists()
    assert "set aside" in caplog.text


def test_an_emptied_database_is_begun_anew(filled: Path) -> None:
    (filled / "cache.db").write_bytes(b"")
    use_all(DiskCache(filled, 10))


def test_damage_while_it_is_open_never_changes_a_value(filled: Path) -> None:
    cache = DiskCache(filled, 10)
    assert cache.get("k0") == "v" * 500
    overwrite(filled / "cache.db")
    use_all(cache)


def test_processes_agree_on_setting_it_aside(filled: Path) -> None:
    overwrite(filled / "cache.db")
    one, two = DiskCache(filled, 10), DiskCache(filled, 10)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda cache: cache.get("k1"), [one, two]))
    one.put("k", "kept")
    assert two.get("k") == "kept"
    assert not (filled.parent / "cache.damaged-2").exists()


def test_a_folder_that_cannot_be_made_is_a_warning_and_a_miss(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = DiskCache(tmp_path / "file" / "cache", 10)
    with caplog.at_level(logging.WARNING):
        cache.put("k", 1)
        assert cache.get("k") is None
        assert cache.stats() == CacheStats(0, 0, 0, 0)
    assert len(caplog.records) == 1


def test_a_value_file_that_is_gone_or_wrong_is_a_miss(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache", 10)
    cache.put("gone", os.urandom(60_000).hex())
    (file,) = (tmp_path / "cache").rglob("*.val")
    file.write_bytes(b"not what was written")
    assert cache.get("gone") is None
    file.unlink()
    assert cache.get("gone") is None
    cache.put("gone", "again")
    assert cache.get("gone") == "again"


def test_no_cache_keeps_nothing() -> None:
    cache = NoCache()
    cache.put("k", 1)
    assert cache.get("k") is None
