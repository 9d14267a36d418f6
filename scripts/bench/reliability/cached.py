"""The cache as input: bytes that flipped, rows of the wrong kind, pickles and file names that somebody planted.

Run as a module it is the process that asks again and again, each time with another damage.
"""

from __future__ import annotations

import contextlib
import json
import pickle
import random
import shutil
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from scripts.bench.reliability import asking, places
from scripts.bench.reliability.bench import CORPUS, LLM, Bench, Home, Result
from scripts.bench.reliability.servers import ModelServer

FLIPS = 50  # of one round
QUESTIONS = 5
WRONG_VALUES = (
    None,
    5,
    "text",
    "[]",
    "{}",
    "null",
    '"text"',
    "[" * 2000,
    '{"facts": "none"}',
    '{"facts": [{"quote": 7}]}',
    '{"status": "answered", "short_answer": "Nobody", "answer": 3}',
    b"\x00\xff\x80",
    "x" * 100_000,
)


def cache_damage(bench: Bench) -> Result:
    """Random flips and rows of the wrong kind: the same answers and exit codes as without a cache."""
    home = _with_cache(bench, "cache-damage")
    rounds = bench.small(200, 20)
    with ModelServer() as server:
        spec = (str(home.folder / "cache"), str(rounds), str(bench.seed))
        done = home.run(*spec, module="scripts.bench.reliability.cached", server=server, seconds=500)
        rows = [json.loads(line) for line in done.out.splitlines() if line.startswith("{")]
        codes = Counter[int]()
        for number in range(bench.small(10, 3)):
            _flip(home.folder / "cache", random.Random(number), FLIPS)
            codes[home.ask(places.direct_question(number % QUESTIONS), server=server).code] += 1
    other = Counter(row["ended"] for row in rows if not row["right"])
    shown = "".join(f", {count} {ended}" for ended, count in other.most_common(4))
    whole = len(rows) == rounds + len(WRONG_VALUES)
    figures = (
        f"{rounds * FLIPS:,} flips and {len(WRONG_VALUES)} kinds of wrong rows in {len(rows)} rounds: "
        f"{sum(other.values())} answers changed{shown}; exit codes {dict(codes)}"
    )
    died = "" if whole else f"; the process ended with exit {done.code}: {done.err[-150:]}"
    return Result(figures + died, whole and not other and set(codes) == {0})


class _Mark:
    """Unpickled, it makes a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str, str]]:
        return open, (str(self._path), "w")


def planted_cache(bench: Bench) -> Result:
    """Pickles in every row and names of files outside: nothing runs, nothing outside is read or removed."""
    home = _with_cache(bench, "planted-cache")
    mark, victim = bench.folder / "unpickled", home.folder / "victim.txt"
    victim.write_text("precious", encoding="utf-8")
    rows, wrong = 0, list[str]()
    outside = (str(victim), "../victim.txt", "../../" + victim.parent.name + "/victim.txt")
    plans: list[tuple[str, dict[str, object]]] = [
        ("a pickle", {"mode": 4, "raw": 1, "value": pickle.dumps(_Mark(mark)), "filename": None}),
        ("a pickled key", {"key": pickle.dumps(_Mark(mark)), "raw": 0}),
    ]
    for mode in (2, 3, 4):
        plans.append((f"mode {mode} with a file name", {"mode": mode, "value": None, "filename": outside[0]}))
    for name in outside:
        plans.append((f"the file {name}", {"mode": 1, "value": None, "filename": name}))
    pristine = home.folder.with_name(f"{home.folder.name}-pristine")
    shutil.copytree(home.folder / "cache", pristine)
    with ModelServer() as server:
        for name, columns in plans:
            _restore(pristine, home.folder / "cache")
            rows += _rewrite(home.folder / "cache", columns)
            done = home.ask(places.direct_question(0), server=server)
            if done.code or done.json.get("short_answer") != places.mayor(0):
                wrong.append(f"{name}: ask exit {done.code} {' '.join(done.err.split())[:100]}")
            home.run("cache", "stats")
            cleared = home.run("cache", "clear")
            wrong += [f"{name}: cache clear exit {cleared.code}"] if cleared.code else []
            if mark.exists():
                wrong.append(f"{name}: it ran")
                mark.unlink()
            if not victim.exists():
                wrong.append(f"{name}: a file outside the cache was removed")
                victim.write_text("precious", encoding="utf-8")
    told = f": {'; '.join(wrong[:4])}" if wrong else ""
    return Result(f"{len(plans)} kinds in {rows} rows, {len(wrong)} wrong{told}", not wrong and rows > 0)


def _with_cache(bench: Bench, name: str) -> Home:
    """A data folder whose cache holds what a few questions brought."""
    home = bench.library(name, 40)
    with ModelServer() as server:
        outcomes = asking.asked(home, server, range(QUESTIONS), direct=True, threads=1, cache=True)
    if not all(one.right for one in outcomes) or not list(_databases(home.folder / "cache")):
        raise RuntimeError("the questions were not answered, or left no cache")
    return home


def _databases(cache: Path) -> Iterator[Path]:
    for path in sorted(cache.rglob("*")):
        if path.is_file() and path.read_bytes()[:15] == b"SQLite format 3":
            yield path


def _rewrite(cache: Path, columns: dict[str, object]) -> int:
    """Set these columns, where a table has all of them or the one that holds values. Returns the rows changed."""
    changed = 0
    for path in _databases(cache):
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                there = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
                wanted = {name: value for name, value in columns.items() if name in there}
                if "value" not in there or table == "Settings" or not wanted:
                    continue
                names = ", ".join(f"{name} = ?" for name in wanted)
                # A key is unique: only one row can have it.
                where = " WHERE rowid = (SELECT max(rowid) FROM " + table + ")" if "key" in wanted else ""
                with contextlib.suppress(sqlite3.IntegrityError):  # a table may refuse what it does not know
                    changed += connection.execute(f"UPDATE {table} SET {names}{where}", [*wanted.values()]).rowcount
    return changed


def _flip(cache: Path, chance: random.Random, count: int) -> None:
    """Flip bits at random places of the cache's files."""
    files = [path for path in sorted(cache.rglob("*")) if path.is_file() and path.stat().st_size]
    for path in chance.choices(files, [one.stat().st_size for one in files], k=count) if files else ():
        with path.open("r+b") as file:
            place = chance.randrange(path.stat().st_size)
            file.seek(place)
            (old,) = file.read(1)
            file.seek(place)
            file.write(bytes([old ^ 1 << chance.randrange(8)]))


def _restore(pristine: Path, cache: Path) -> None:
    shutil.rmtree(cache, ignore_errors=True)
    shutil.copytree(pristine, cache)


# --- inside the process ----------------------------------------------------------------------


def main() -> None:
    from iterative_rag import IterativeRAG

    cache, rounds, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    pristine = cache.with_name("cache-pristine")
    shutil.copytree(cache, pristine)
    damages: list[Callable[[], object]] = [
        lambda number=number: _flip(cache, random.Random(seed * 100_000 + number), FLIPS)  # type: ignore[misc]
        for number in range(rounds)
    ]
    damages += [lambda value=value: _rewrite(cache, {"value": value}) for value in WRONG_VALUES]  # type: ignore[misc]
    for number, damage in enumerate(damages):
        _restore(pristine, cache)
        damage()
        n = number % QUESTIONS
        try:
            rag = IterativeRAG.from_settings(llm=LLM, corpus=CORPUS, max_seconds=30.0)
            outcome = asking.ask(rag, n, direct=True)
            rag.close()
            right, ended = outcome.right, outcome.status
        except Exception as error:  # noqa: BLE001 - whatever it is: an answer was due
            right, ended = False, type(error).__name__
        print(json.dumps({"right": right, "ended": ended}), flush=True)
    _restore(pristine, cache)


if __name__ == "__main__":
    main()
