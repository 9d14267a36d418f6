"""Kill indexing at random moments, again and again, and compare what comes out with an uninterrupted index.

    python scripts/bench_index_kills.py PATH.jsonl.gz [--sample 0.15] [--kills 50] [--seconds 4]

Each round is a process of its own that indexes a sample of the documents with the built-in encoder and gets SIGKILL
after a random time. After the last kill a run goes through. Printed: how often it was killed, points that differ (id,
payload or vector), and how many passages were embedded more than once, in all and for each kill. Run by hand.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.index import ingest
from iterative_rag.index.corpora import Corpora
from iterative_rag.protocols import Vectors
from scripts.bench_index import Sample

NAME = "killed"


class Counting(BuiltinEncoder):
    """Tells on stdout how many passages each call embedded; what was embedded for nothing shows there, too."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        vectors = super().embed_documents(texts)
        print(len(texts), flush=True)
        return vectors


def child(path: Path, share: float, root: Path) -> None:
    ingest.ingest([Sample(path, share)], Corpora(root), NAME, Counting())


def run(path: Path, share: float, root: Path, seconds: float | None) -> tuple[int, int]:
    """One round, killed after so many seconds (None: not at all). Returns the exit code and the passages embedded."""
    arguments = [sys.executable, __file__, str(path), "--sample", str(share), "--child", str(root)]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    if seconds is not None:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
    said, _ = process.communicate()
    return process.returncode, sum(int(line) for line in said.split())


def points(root: Path) -> dict[str, tuple[object, ...]]:
    """Every point of the index: payload, dense vector and BM25 weights."""
    from qdrant_edge import EdgeShard, ScrollRequest

    # Wherever the corpus keeps them; of several states the one written last.
    shards = [path.parent for path in (root / NAME).rglob("segments")]
    shard = EdgeShard.load(str(max(shards, key=lambda path: path.stat().st_mtime)))
    try:
        records, _ = shard.scroll(ScrollRequest(limit=10_000_000, with_payload=True, with_vector=True))
    finally:
        shard.close()
    found: dict[str, tuple[object, ...]] = {}
    for record in records:
        vector: Any = record.vector
        sparse = (tuple(vector["bm25"].indices), tuple(vector["bm25"].values))
        found[str(record.id)] = (json.dumps(record.payload, sort_keys=True), tuple(vector["dense"]), sparse)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--sample", type=float, default=0.15)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=4.0, help="a round is killed after at most so long")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.path, options.sample, options.child)
        return
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        killed, fresh = Path(folder) / "killed", Path(folder) / "fresh"
        embedded = kills = rounds = 0
        began = time.monotonic()
        while kills < options.kills:
            code, passages = run(options.path, options.sample, killed, chance.uniform(0.3, options.seconds))
            embedded, kills, rounds = embedded + passages, kills + (code == -signal.SIGKILL), rounds + 1
            if code == 0:
                print(f"finished after {kills} kills: take a larger sample")
                break
        _, passages = run(options.path, options.sample, killed, None)
        embedded += passages
        _, needed = run(options.path, options.sample, fresh, None)
        one, other = points(killed), points(fresh)
        differing = sum(one.get(key) != other.get(key) for key in one.keys() | other.keys())
        print(f"{kills} kills in {rounds} rounds, {time.monotonic() - began:.0f} s")
        print(f"{len(other)} points, {differing} differ")
        again = embedded - needed
        print(f"{again} passages embedded again, {again / max(kills, 1):.0f} a kill (a batch is {ingest.BATCH})")


if __name__ == "__main__":
    main()
