#!/usr/bin/env python3
"""How near indexing comes to what the encoder alone can do: each stage by itself, and all of them as they run.

    scripts/bench_ingest.py PATH.jsonl.gz [--sample 0.03] [--rounds 3]

"embed" gets the same passages in the same batches: its rate is the ceiling, and the share at the end says how much
of it the whole pipeline reaches. "write" is the pipeline with vectors that are there already. Stages take turns over
the rounds, and each one's fastest round counts: other work on the machine slows down whatever runs at that moment.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iterative_rag import ingest as ingesting
from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.embedders.local_engine import LocalEngine
from iterative_rag.index.corpora import Chunking, Corpora, CorpusWriter
from iterative_rag.ingest import ingest
from iterative_rag.protocols import Skipped, Vectors
from iterative_rag.retrieval import chunking
from iterative_rag.sources import open_source

CUT = Chunking()
WRITING = ("prepare", "announce", "write", "commit", "finish")


@dataclass
class Spent:
    """Seconds that passed, and seconds of processor time of all threads."""

    wall: float = 0.0
    cpu: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.wall + other.wall, self.cpu + other.cpu)


def main() -> None:
    options = arguments()
    with tempfile.TemporaryDirectory() as folder:
        sample = Path(folder) / "sample.jsonl.gz"
        documents = take_sample(options.path, sample, options.sample)
        measure(sample, documents, Path(folder), options.rounds)


def measure(sample: Path, documents: int, folder: Path, rounds: int) -> None:
    ingesting.COMMIT_SECONDS = math.inf  # the same batches in every round, whatever the machine does meanwhile
    encoder = BuiltinEncoder()
    encoder.embed_query("The weights are loaded before anything is timed.")
    recorded = Recording(encoder)
    ingest([open_source(sample)], Corpora(folder / "recorded"), "bench", encoder, engine=recorded)
    recorded.close()
    passages = sum(map(len, recorded.batches))
    size = sample.stat().st_size / 1e6
    print(f"{documents:,} documents ({size:.1f} MB packed), {passages:,} passages, {len(recorded.batches)} batches")
    stages: dict[str, Callable[[Corpora], Spent]] = {
        "read + cut": lambda _: timed(lambda: read_and_cut(sample)),
        "embed": lambda _: timed(lambda: embed(encoder, recorded.batches)),
        "write": lambda corpora: write(sample, corpora, encoder, recorded),
        "pipeline": lambda corpora: timed(lambda: ingest([open_source(sample)], corpora, "bench", encoder)),
    }
    best: dict[str, list[Spent]] = {name: [] for name in stages}
    for number in range(rounds):
        for name, run in stages.items():
            best[name].append(run(Corpora(folder / f"{number}-{name}")))
    print(f"{'stage':<12}{'wall s':>9}{'passages/s':>12}{'cpu s':>9}{'passages/cpu s':>16}")
    for name, spent in best.items():
        wall, cpu = min(one.wall for one in spent), min(one.cpu for one in spent)
        print(f"{name:<12}{wall:9.2f}{passages / wall:12,.0f}{cpu:9.2f}{passages / cpu:16,.0f}")
    for what in ("wall", "cpu"):
        ceiling, whole = (min(getattr(one, what) for one in best[name]) for name in ("embed", "pipeline"))
        pairs = [getattr(a, what) / getattr(b, what) for a, b in zip(best["embed"], best["pipeline"], strict=True)]
        each = ", ".join(f"{100 * share:.1f}" for share in pairs)
        print(f"pipeline / ceiling by {what} time: {100 * ceiling / whole:.1f} %  (round by round: {each})")


# --- the stages ------------------------------------------------------------------------------


def read_and_cut(sample: Path) -> int:
    count = 0
    for document in open_source(sample).documents():
        assert not isinstance(document, Skipped), document
        count += len(chunking.chunk(document, size=CUT.chars, overlap=CUT.overlap))
    return count


def embed(encoder: BuiltinEncoder, batches: Sequence[Sequence[str]]) -> None:
    with closing(LocalEngine(encoder)) as engine:
        for batch in batches:
            engine.submit(batch).result()


def write(sample: Path, corpora: Corpora, encoder: BuiltinEncoder, recorded: Recording) -> Spent:
    """What is spent in the writer's own methods, on the thread that indexing waits for."""
    spent = [Spent()]
    originals = {name: getattr(CorpusWriter, name) for name in WRITING}

    def counted(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            result: list[Any] = []
            spent[0] = spent[0] + timed(lambda: result.append(method(*arguments)))
            return result[0]

        return call

    for name, method in originals.items():
        setattr(CorpusWriter, name, counted(method))
    try:
        ingest([open_source(sample)], corpora, "bench", encoder, engine=Replay(recorded.vectors))
    finally:
        for name, method in originals.items():
            setattr(CorpusWriter, name, method)
    return spent[0]


def timed(work: Callable[[], object]) -> Spent:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Spent(time.perf_counter() - wall, time.process_time() - cpu)


# --- what was embedded once ------------------------------------------------------------------


class Recording(LocalEngine):
    """Keeps the batches as they come, and their vectors."""

    def __init__(self, encoder: BuiltinEncoder) -> None:
        super().__init__(encoder)
        self.batches: list[Sequence[str]] = []
        self.vectors: list[Future[Vectors]] = []

    def submit(self, texts: Sequence[str]) -> Future[Vectors]:
        self.batches.append(texts)
        self.vectors.append(super().submit(texts))
        return self.vectors[-1]


class Replay:
    """Gives back the vectors of a recording, in its order."""

    ahead = 1

    def __init__(self, vectors: Sequence[Future[Vectors]]) -> None:
        self._next: Iterator[Future[Vectors]] = iter(vectors)

    def submit(self, texts: Sequence[str]) -> Future[Vectors]:
        return next(self._next)

    def close(self) -> None:
        pass


def take_sample(path: Path, target: Path, share: float) -> int:
    """Writes a share of the documents, the same in every run, to a file of their own; returns how many."""
    count = 0
    with gzip.open(target, "wt", encoding="utf-8", compresslevel=6) as file:
        for document in open_source(path).documents():
            if not isinstance(document, Skipped) and int(document.id[:8], 16) / 2**32 < share:
                count += 1
                record = {"title": document.title, "text": document.text, "url": document.url}
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return count


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--sample", type=float, default=0.03, metavar="SHARE", help="of the documents")
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    main()
