"""Many at once and many one after another: cross-talk, latency, memory, readers while another process writes."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from scripts.bench.reliability import places
from scripts.bench.reliability.asking import Outcome, asked
from scripts.bench.reliability.bench import CORPUS, Bench, Home, Result, Running
from scripts.bench.reliability.servers import ModelServer

MOST_OVER_IDEAL = 1.10
MOST_GROWTH = 0.05
AT_ONCE = 128  # calls that a server must see at the same time where as many questions are asked


def cross_talk(bench: Bench) -> Result:
    """All at once on one object: each question gets its own answer, and no call waits for a connection."""
    count = bench.small(160, 32)
    with ModelServer(latency=1.0) as server:
        outcomes = asked(bench.library("cross-talk", count), server, range(count), threads=count)
    others = sum(one.wrong for one in outcomes)
    right = sum(one.right for one in outcomes)
    figures = f"{right} of {count} their own, {others} another's or none; {server.peak} calls at once"
    return Result(figures, right == count and server.peak >= min(AT_ONCE, count))


def latency(bench: Bench) -> Result:
    """A question's time without the client's own processor time (and the wait for one that others use), over the time
    in which the server worked for it."""
    count = bench.small(40, 20)
    with ModelServer(latency=0.3) as server:
        outcomes = asked(bench.library("latency", 60), server, range(count), threads=1)
    ratios = []
    for one in outcomes:
        names = {places.bridge(one.n), places.town(one.n)}
        ideal = _busy([(began, ended) for place, began, ended in server.spans if place in names])
        ratios.append(max(1.0, (one.seconds - one.cpu - one.queued) / ideal) if ideal else 99.0)
    p95 = statistics.quantiles(ratios, n=20)[-1]
    wall = statistics.median(one.seconds for one in outcomes)
    cpu = statistics.median(one.cpu for one in outcomes)
    figures = f"p95 {p95:.2f} times the ideal; median {wall:.1f} s, of which {cpu:.2f} s processor"
    return Result(figures, p95 <= MOST_OVER_IDEAL and all(one.right for one in outcomes))


def memory(bench: Bench) -> Result:
    count = bench.small(500, 60)
    with ModelServer() as server:
        outcomes = asked(bench.library("memory", 60), server, [n % 60 for n in range(count)], threads=4, seconds=580)
    early = statistics.median(_held(outcomes, count // 10))
    late = statistics.median(_held(outcomes, count))
    growth = late / early - 1
    right = sum(one.right for one in outcomes)
    figures = f"{early:.0f} MB after {count // 10}, {late:.0f} MB after {count} ({growth:+.1%}); {right} right"
    return Result(figures, growth <= MOST_GROWTH and right == count)


def _held(outcomes: Sequence[Outcome], upto: int) -> list[float]:
    """What the process held around the end of so many questions."""
    return [one.megabytes for one in outcomes[max(0, upto - 5) : upto]]


def _busy(spans: Sequence[tuple[float, float]]) -> float:
    """Seconds in which at least one of these calls was being answered."""
    total = end = 0.0
    for began, ended in sorted(spans):
        total += max(0.0, ended - max(end, began))
        end = max(end, ended)
    return total


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
