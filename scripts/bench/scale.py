"""Measure how query time, memory and disk of the embedded index grow with the number of points.

    python -m scripts.bench.scale [--sizes 10000,100000,500000] [--graph POINTS] [--folder DIR] [--json]

The points are random but clustered, as passages of articles are: 30 around each of many centres. Their sparse vectors
are text-like: 40 terms each, drawn by Zipf's law. Each size is opened by a fresh process, whose memory is measured.
The cpu figures sum the work of its threads, which does not depend on what else the machine is doing: a whole query,
and its dense half alone. Recall is that of the dense half against a comparison of all whole vectors. `--graph` sets
from how many points on a graph is built.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from iterative_rag.index import edge_place
from iterative_rag.index.edge_place import EdgePlace
from iterative_rag.index.edge_store import EdgeStore
from iterative_rag.index.vector_store import VectorPoint
from iterative_rag.protocols import Vectors
from scripts.bench import harness

DIMENSIONS = 384
PER_CENTRE = 30
SPREAD = 0.6
VOCABULARY = 300_000
TERMS, QUERY_TERMS = 40, 8
BATCH = 2000
QUERIES, WARM_UP = 60, 5
RECALLS = (10, 50, 100)
DEPTH = 100  # each half of a query, as the corpus asks


def scale(
    sizes: str = "10000,100000", graph: int = edge_place.GRAPH_POINTS, folder: Path | None = None, json: bool = False
) -> None:
    """`sizes` are numbers of points, rising; the index is made in `folder` and removed again (2.5 KB a point)."""
    edge_place.GRAPH_POINTS = graph
    with tempfile.TemporaryDirectory(dir=folder) as made_in:
        rows = grown(Path(made_in) / "vectors", [int(size) for size in sizes.split(",")])
        harness.show(rows, as_json=json)


def grown(path: Path, sizes: Sequence[int]) -> Iterator[Mapping[str, float]]:
    """One index that grows; a row of figures at each size."""
    place = EdgePlace(path)
    place.create(DIMENSIONS, "")
    held = 0
    for published, size in enumerate(sizes):
        store = place.work(published)
        writing = 0.0
        for low in range(held, size, BATCH):
            points, vectors = made(low, min(low + BATCH, size))
            before = time.monotonic()
            store.write(points, vectors)
            writing += time.monotonic() - before
        before = cpu()
        place.publish(published, DIMENSIONS, last=True)
        publishing = cpu() - before
        place.retire(published + 1)
        print(f"{size:,} points written in {writing:.0f} s, published in {publishing:.0f} s CPU", file=sys.stderr)
        with ProcessPoolExecutor(1, get_context("spawn")) as child:  # a fresh process: its memory is measured
            figures = child.submit(measured, path, published + 1, size).result()
        disk = sum(file.stat().st_blocks * 512 for file in path.rglob("*") if file.is_file())
        yield {
            "points": size,
            "written_per_second": round((size - held) / writing),
            "publish_cpu_s": round(publishing, 1),
            "disk_bytes_per_point": round(disk / size),
            **figures,
        }
        held = size


def cpu() -> float:
    """Seconds of this process and those it has started."""
    return sum(os.times()[:4])


def made(low: int, high: int) -> tuple[list[VectorPoint], Vectors]:
    """The points `low` to `high`: always the same ones."""
    numbers = np.arange(low, high)
    draw = np.random.default_rng(low)
    points = [
        VectorPoint(f"{number // PER_CENTRE:040x}", "0" * 32, place, 420 * place, 420 * place + 500, text)
        for number, place, text in zip(
            numbers.tolist(), (numbers % PER_CENTRE).tolist(), texts(draw, len(numbers), TERMS), strict=True
        )
    ]
    return points, near(numbers // PER_CENTRE, draw)


def near(centres: Any, draw: np.random.Generator) -> Vectors:
    """Unit vectors around the centres of these numbers."""
    each = {int(one): unit(np.random.default_rng([7, int(one)]).standard_normal(DIMENSIONS)) for one in set(centres)}
    noise = unit(draw.standard_normal((len(centres), DIMENSIONS)))
    return unit(np.stack([each[int(one)] for one in centres]) + SPREAD * noise)


def unit(vectors: Any) -> Vectors:
    scaled: Vectors = (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)
    return scaled


def texts(draw: np.random.Generator, rows: int, terms: int) -> list[str]:
    """Words by Zipf's law with exponent 1: the inverse of its distribution, as far as it is continuous. The thirty
    most frequent are stop words, which no index holds."""
    numbers = 30 * (VOCABULARY / 30) ** draw.random((rows, terms))
    return [" ".join(f"w{int(number)}" for number in row) for row in numbers]


def measured(path: Path, generation: int, points: int) -> dict[str, float]:
    """In a process of its own: opening, queries, memory."""
    begun, worked = time.perf_counter(), time.process_time()
    store = EdgePlace(path).load(generation, points=points)
    opened, opened_cpu = time.perf_counter() - begun, time.process_time() - worked
    draw = np.random.default_rng(99)
    vectors = near(draw.integers(0, points // PER_CENTRE, QUERIES + WARM_UP), draw)
    queries = list(zip(texts(draw, len(vectors), QUERY_TERMS), vectors.tolist(), strict=True))
    times, busy = timed(store, queries)
    _, dense_busy = timed(store, [("", vector) for _, vector in queries])
    memory = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in status() if "Rss" in line}
    recalled = recall(store, vectors[:QUERIES])
    store.close()
    return {
        "open_s": round(opened, 2),
        "open_cpu_s": round(opened_cpu, 2),
        "first_query_ms": round(times[0], 1),
        "query_ms": round(statistics.median(times[WARM_UP:]), 1),
        "query_p95_ms": round(sorted(times[WARM_UP:])[int(0.95 * QUERIES)], 1),
        "query_cpu_ms": round(busy, 1),
        "dense_cpu_ms": round(dense_busy, 1),
        "own_memory_mb": round(memory["RssAnon"]),
        "mapped_memory_mb": round(memory["RssFile"]),
        **recalled,
    }


def recall(store: EdgeStore, vectors: Vectors) -> dict[str, float]:
    """What share of the truly nearest the dense half finds."""
    from qdrant_edge import QuantizationSearchParams, Query, QueryRequest, SearchParams

    whole = SearchParams(exact=True, quantization=QuantizationSearchParams(ignore=True))
    shares: dict[int, list[float]] = {depth: [] for depth in RECALLS}
    for vector in vectors.tolist():
        request = QueryRequest(limit=max(RECALLS), query=Query.Nearest(vector, using="dense"), params=whole)
        nearest = [one.id for one in store._shard.query(request)]
        [(dense, _)] = store.search([("", vector)], DEPTH)
        for depth, found in shares.items():
            found.append(len({*nearest[:depth]} & {*dense[:depth]}) / depth)
    return {f"recall_{depth}": round(statistics.mean(found), 4) for depth, found in shares.items()}


def timed(store: EdgeStore, queries: Sequence[tuple[str, list[float]]]) -> tuple[list[float], float]:
    """Milliseconds of every query, and the mean of its threads' work after the first few."""
    times, busy = [], 0.0
    for turn, query in enumerate(queries):
        begun, worked = time.perf_counter(), time.process_time()
        [halves] = store.search([query], DEPTH)
        store.passages([*halves[0][:10], *halves[1][:10]])
        times.append(1000 * (time.perf_counter() - begun))
        busy += 1000 * (time.process_time() - worked) if turn >= WARM_UP else 0.0
    return times, busy / QUERIES


def status() -> list[str]:
    return Path("/proc/self/status").read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    harness.run(scale)
