"""Processes that are killed, and a disk that is full: nothing acknowledged is lost, and the same command goes on."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.reliability import places
from scripts.reliability.bench import CORPUS, Bench, Done, Home, Result
from scripts.reliability.servers import ModelServer

DISK_MEGABYTES = 320
WORDS_OF_DAMAGE = ("damaged", "anew", "corrupt", "malformed")
WORDS_OF_SPACE = ("is full: ", "no space", "space left", "free space", "disk full", "out of space", "quota")


def index_kills(bench: Bench) -> Result:
    """scripts/bench_index_kills.py: an index that was killed again and again holds what an uninterrupted one holds."""
    kills, texts = bench.small(50, 6), bench.folder / "texts.jsonl.gz"
    with gzip.open(texts, "wt", encoding="utf-8") as file:
        for n in range(bench.small(6000, 1500)):
            text = places.town_article(n % 400, n // 400 % 2) + f" Entry {n} of the harbour book. " * 8
            file.write(json.dumps({"title": f"Entry {n}", "text": text}) + "\n")
    options = ("--sample", "1", "--kills", str(kills), "--seconds", "4")
    done = bench.script("bench_index_kills", str(texts), *options, seconds=1500)
    killed = re.search(r"^(\d+) kills", done.out, re.MULTILINE)
    found = re.search(r"(\d+) points, (\d+) differ", done.out)
    if done.code or not found or not killed:
        return Result(f"exit {done.code}: {(done.out + done.err)[-200:]}", False)
    again = re.search(r"(\d+) passages embedded again, (-?\d+) a kill", done.out)
    figures = (
        f"{killed[1]} kills, {found[1]} points, {found[2]} differ, {again[2] if again else '?'} passages again a kill"
    )
    return Result(figures, found[2] == "0" and int(killed[1]) >= kills)


def evaluate_kills(bench: Bench) -> Result:
    """scripts/bench_evaluate.py kills: no finished question runs again, none is lost, the scores are the same."""
    done = bench.script("bench_evaluate", "kills", "--kills", str(bench.small(20, 3)), seconds=1500)
    last = (done.out.split("\n")[-2:] or [""])[0].strip()  # each kill is told on a line of its own before
    return Result(last or f"exit {done.code}: {done.err[-200:]}", done.code == 0 and " kills in " in last)


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
        evaluate = (
            "evaluate",
            "run",
            "--dataset",
            "disk-questions.jsonl",
            "--corpus",
            CORPUS,
            "--llm",
            "builtin",
            "-q",
        )
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
