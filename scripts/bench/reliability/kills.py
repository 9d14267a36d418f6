"""Processes that are killed, and a disk that is full: nothing acknowledged is lost, and the same command goes on."""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from scripts.bench.reliability import places
from scripts.bench.reliability.bench import CORPUS, LLM, Bench, Done, Home, Result, Running
from scripts.bench.reliability.servers import ModelServer

DISK_MEGABYTES = 320
WORDS_OF_DAMAGE = ("damaged", "anew", "corrupt", "malformed")
WORDS_OF_SPACE = ("is full: ", "no space", "space left", "free space", "disk full", "out of space", "quota")


def index_kills(bench: Bench) -> Result:
    """Indexing that was killed again and again comes to the points of an uninterrupted one: ids, payloads, vectors."""
    wanted, texts, chance = bench.small(50, 6), bench.folder / "texts.jsonl", random.Random(bench.seed)
    with texts.open("w", encoding="utf-8") as file:
        for n in range(bench.small(6000, 1500)):
            text = places.town_article(n % 400, n // 400 % 2) + f" Entry {n} of the harbour book. " * 8
            file.write(json.dumps({"title": f"Entry {n}", "text": text}) + "\n")
    command = ("index", str(texts), "--corpus", CORPUS, "-q")
    fresh, home, kills = bench.home("fresh"), bench.home("killed"), 0
    while kills < wanted:
        running = home.start(*command)
        if _ends_within(running, chance.uniform(0.3, 4.0)):
            return Result(f"finished after {kills} kills: it takes more texts", False)
        running.kill()
        kills += 1
    for done in (home.run(*command, seconds=900), fresh.run(*command, seconds=900)):
        if done.code:
            return Result(f"exit {done.code}: {done.err[-200:]}", False)
    killed, whole = _points(home), _points(fresh)
    differing = sum(killed.get(key) != whole.get(key) for key in killed.keys() | whole.keys())
    return Result(f"{kills} kills, {len(whole)} points, {differing} differ", not differing and bool(whole))


def _points(home: Home) -> dict[str, tuple[object, ...]]:
    """Every point of the newest state of the index: payload, dense vector and BM25 weights."""
    from qdrant_edge import EdgeShard, ScrollRequest

    shards = [path.parent for path in (home.folder / "corpora" / CORPUS).rglob("segments")]
    shard = EdgeShard.load(str(max(shards, key=lambda path: path.stat().st_mtime)))
    with closing(shard):
        records, _ = shard.scroll(ScrollRequest(limit=10_000_000, with_payload=True, with_vector=True))
    found: dict[str, tuple[object, ...]] = {}
    for record in records:
        vector: Any = record.vector
        sparse = (tuple(vector["bm25"].indices), tuple(vector["bm25"].values))
        found[str(record.id)] = (json.dumps(record.payload, sort_keys=True), tuple(vector["dense"]), sparse)
    return found


def evaluate_kills(bench: Bench) -> Result:
    """No finished question of a killed run is asked again, none is lost, and the scores are those of a whole run."""
    wanted, chance, home = bench.small(20, 3), random.Random(bench.seed), bench.library("evaluate-kills", 40)
    places.write_questions(home.working / "questions.jsonl", 6)
    base = ("evaluate", "run", "--dataset", "questions.jsonl", "--corpus", CORPUS, "--llm", LLM, "--no-cache", "-q")
    kills = again = lost = unlike = runs = 0
    with ModelServer(latency=0.05) as server:
        if (done := home.run(*base, "--out", "whole", server=server)).code:
            return Result(f"exit {done.code}: {done.err[-200:]}", False)
        whole = _records(home, "whole")
        while kills < wanted:
            runs, finished, killed = runs + 1, dict[str, int](), True
            while killed:
                running = home.start(*base, "--out", f"run{runs}", "-c", "2", server=server)
                killed = kills < wanted and not _ends_within(running, chance.uniform(1.0, 4.0))
                if killed:
                    running.kill()
                running.wait(120)
                kills, kept, worked = kills + killed, _records(home, f"run{runs}"), _worked(home)
                again += sum(worked[question] - times for question, times in finished.items())
                lost += len(finished.keys() - kept.keys())
                finished = {question: worked[question] for question in kept}
            unlike += kept != whole
    figures = (
        f"{kills} kills in {runs} runs of {len(whole)} questions: {again} finished ones asked again, {lost} lost, "
    )
    return Result(f"{figures}{unlike} runs with other scores", not (again or lost or unlike))


def _ends_within(running: Running, seconds: float) -> bool:
    ends = time.monotonic() + seconds
    while running.poll() is None and time.monotonic() < ends:
        time.sleep(0.01)
    return running.poll() is not None


def _records(home: Home, out: str) -> dict[str, object]:
    """What the run holds of each question."""
    from iterative_rag.evaluation.running.run_folder import read_manifest, read_run

    folder = home.working / out
    records = read_run(folder).records if read_manifest(folder) else ()
    return {one.question: (one.short_answer, one.outcome, one.scores) for one in records}


def _worked(home: Home) -> Counter[str]:
    """How often each question was worked on to its end, by the traces."""
    counts: Counter[str] = Counter()
    for trace in (home.folder / "traces" / "evaluation").glob("*.jsonl"):
        lines = trace.read_text(encoding="utf-8").splitlines()
        if lines and lines[-1].endswith("}") and json.loads(lines[-1])["event"] == "final":
            counts[json.loads(lines[0])["question"]] += 1
    return counts


def full_disk(bench: Bench) -> Result:
    """A small disk is full before a command begins, and fills up while one indexes; then there is room again."""
    with _small_disk(bench.folder / "disk") as disk:
        if disk is None:
            return Result("no file system can be mounted here", None)
        wrong: list[str] = []
        home = Home(disk / "home", bench)
        articles, more = bench.articles(40), _many_articles(bench)
        indexed = home.run("index", str(articles), "--corpus", CORPUS, "-q")
        if indexed.code:
            return Result(f"could not index at all: {indexed.err[-200:]}", False)
        before = _asked(home)
        places.write_questions(bench.folder / "disk-questions.jsonl", 3)
        base = ("evaluate", "run", "--dataset", "disk-questions.jsonl", "--corpus", CORPUS)
        evaluate = (*base, "--llm", "builtin", "-q")
        _fill(disk)
        full = home.run(*evaluate, "--out", "disk-full", cwd=bench.folder)
        _check(wrong, "evaluate while full", full, full=True)
        _check(wrong, "ask while full", _asked(home), same_as=before)
        _check(wrong, "search while full", _searched(home), ok=True)
        _check(wrong, "index while full", home.run("index", str(more), "--corpus", "second", "-q"), full=True)
        _check(wrong, "index more while full", home.run("index", str(more), "--corpus", CORPUS, "-q"), full=True)
        _free(disk, 150)
        _check(wrong, "index until full", home.run("index", str(more), "--corpus", CORPUS, "-q"), may_be_full=True)
        _free(disk)
        _check(wrong, "ask with room again", _asked(home), same_as=before)
        resumed = home.run("index", str(more), "--corpus", CORPUS, "-q", seconds=900.0)
        _check(wrong, "index with room again", resumed, ok=True)
        _check(wrong, "index second with room", home.run("index", str(articles), "--corpus", "second", "-q"), ok=True)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        writing = (
            ("index", str(articles), "--corpus", CORPUS),
            ("corpus", "remove", CORPUS, "--yes"),
            (*evaluate, "--out", "ro"),
        )
        for line in writing:
            done = home.run(*line, cwd=bench.folder)
            if done.code != 4 or not done.one_sentence or "Read-only" not in done.err:
                wrong.append(f"{line[0]} read only: exit {done.code} {' '.join(done.err.split())[:150]}")
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        _check(wrong, "ask after all", _asked(home), same_as=before)
    told = f": {'; '.join(wrong[:4])}" if wrong else ""
    return Result(f"{14 - len(wrong)} of 14 steps as they should be{told}", not wrong)


def _asked(home: Home) -> Done:
    with ModelServer() as server:
        return home.ask(places.direct_question(3), server=server)


def _searched(home: Home) -> Done:
    return home.run("search", places.direct_question(3), "--corpus", CORPUS, "--json")


def _check(
    wrong: list[str],
    step: str,
    done: Done,
    *,
    ok: bool = False,
    full: bool = False,
    may_be_full: bool = False,
    same_as: Done | None = None,
) -> None:
    """`full`: the command must refuse, naming the full disk and no damage; `may_be_full`: or go through."""
    said = done.err.casefold()
    names_disk = any(words in said for words in WORDS_OF_SPACE)
    names_damage = any(word in said for word in WORDS_OF_DAMAGE)
    if same_as is not None:
        good = (done.code, done.json.get("answer")) == (0, same_as.json.get("answer")) and not names_damage
    elif full or (may_be_full and done.code):
        good = done.code != 0 and names_disk and not names_damage and done.one_sentence
    else:
        good = done.code == 0 or not (ok or may_be_full)
    if not good:
        wrong.append(f"{step}: exit {done.code} {' '.join(done.err.split())[:150]}")


def _many_articles(bench: Bench) -> Path:
    folder = bench.folder / "many-articles"
    if not folder.exists():
        folder.mkdir()
        for n in range(bench.small(600, 300)):
            text = " ".join(f"Line {line} of the harbour book {n} names {places.mayor(n, line)}." for line in range(60))
            places.write_file(folder / f"Book {n}.md", f"# Book {n}\n\n{text}\n")
    return folder


@contextmanager
def _small_disk(place: Path) -> Iterator[Path | None]:
    """A file system in memory of a few hundred megabytes; None where none may be mounted."""
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    try:
        yield place if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(place)], capture_output=True)


def _fill(disk: Path) -> None:
    """Take all the room that is left, to the last block."""
    with (disk / "ballast").open("ab", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                continue


def _free(disk: Path, megabytes: int | None = None) -> None:
    """Give so much room back, or all of it."""
    ballast = disk / "ballast"
    if megabytes is None:
        ballast.unlink()
    else:
        os.truncate(ballast, max(0, ballast.stat().st_size - megabytes * (1 << 20)))
