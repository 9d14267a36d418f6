"""Several processes on one corpus: a second writer, and many readers while one writes."""

from __future__ import annotations

import os
import time
from pathlib import Path

from scripts.bench.reliability import places
from scripts.bench.reliability.bench import CORPUS, Bench, Home, Result, Running


def second_writer(bench: Bench) -> Result:
    """Whoever wants to write while another process does is told so in one sentence; the first goes through."""
    home, articles = bench.home("second-writer"), bench.folder / "written"
    _write_books(articles, bench.small(1500, 600))
    first = home.start("index", str(articles), "--corpus", CORPUS, "-q")
    _wait_for_corpus(home, first)
    met, refused = 0, list[str]()
    for arguments in (("index", str(articles), "--corpus", CORPUS, "-q"), ("corpus", "remove", CORPUS, "--yes")):
        done = home.run(*arguments)
        if first.poll() is not None:
            refused.append(f"{arguments[0]}: the first was through before")
            continue
        met += 1
        if done.code != 4 or not done.one_sentence:
            refused.append(f"{arguments[0]}: exit {done.code}: {' '.join(done.err.split())[:160]}")
    whole = first.wait(240)
    again = home.run("index", str(articles), "--corpus", CORPUS)
    kept = "0 added, 0 changed" in again.out
    figures = (
        f"{met - len(refused)} of 2 refused in one sentence; first exit {whole.code}, nothing left to index: {kept}"
    )
    told = f": {'; '.join(refused)}" if refused else ""
    return Result(figures + told, met == 2 and not refused and whole.code == 0 and kept)


def readers(bench: Bench) -> Result:
    """Many processes open a corpus at once while another brings it up to date again and again."""
    count, home = bench.small(64, 16), bench.library("readers", 40)
    changing = bench.folder / "changing"
    places.write_articles(changing, 40)
    if (first := home.run("index", str(changing), "--corpus", CORPUS, "-q")).code:
        return Result(f"could not index: {first.err[-200:]}", False)
    alone = home.run("search", places.mayor_sentence(0), "--corpus", CORPUS, "--json")
    version, writer_failed, writes = 1, list[str](), 0
    writer = _rewrite(home, changing, version)
    began = time.monotonic()
    started = [(n % 20, home.start("search", places.mayor_sentence(n % 20), "--corpus", CORPUS, "--json", "-n", "5"))
               for n in range(count)]  # fmt: skip
    while any(one.poll() is None for _, one in started) and time.monotonic() - began < 300:
        if (done := writer.poll()) is not None:
            writes, version = writes + 1, version + 1
            writer_failed += [f"writer: {done.err[:100]}"] if done.code else []
            writer = _rewrite(home, changing, version)
        time.sleep(0.02)
    wall = time.monotonic() - began
    last = writer.wait(300)  # 64 processes leave it little of the cores: it may have written all the while
    writer_failed += [f"writer: {last.err[:100]}"] if last.code else []
    done_all = [(n, one.wait(1)) for n, one in started]
    failed = [
        f"exit {done.code}: {' '.join(done.err.split())[:120]}"
        for n, done in done_all
        if done.code or not any(f"mayor of {places.town(n)} is" in hit["text"] for hit in done.json["items"])
    ]
    cores = os.cpu_count() or 1
    used = sum(done.cpu for _, done in done_all) / count
    figures = (
        f"{len(failed)} of {count} failed during {writes + 1} writings; all in {wall:.0f} s on {cores} cores, "
        f"{used:.1f} s processor each ({alone.cpu:.1f} s alone)"
    )
    bad = [*failed, *writer_failed]
    return Result(figures + (f": {bad[0]}" if bad else ""), not bad and alone.code == 0)


def _rewrite(home: Home, folder: Path, version: int) -> Running:
    """Change the articles of the places 20 to 39 (the readers look for the others) and index them."""
    for n in range(20, 40):
        places.write_file(folder / f"{places.town(n)}.md", places.town_article(n, version % places.VERSIONS))
    return home.start("index", str(folder), "--corpus", CORPUS, "-q")


def _write_books(folder: Path, count: int) -> None:
    folder.mkdir()
    for n in range(count):
        text = " ".join(f"Line {line} of book {n} names {places.mayor(n, line)}." for line in range(30))
        places.write_file(folder / f"Book {n}.md", f"# Book {n}\n\n{text}\n")


def _wait_for_corpus(home: Home, writer: Running) -> None:
    """Until the first writer has begun: its corpus is on disk."""
    while writer.poll() is None and not list(home.folder.glob("corpora/*/documents*")):
        time.sleep(0.02)
    time.sleep(0.3)
