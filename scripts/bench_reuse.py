#!/usr/bin/env python3
"""Which needs are taken for the same: 100 pairs that ask for one fact in other words, and 100 near misses.

    scripts/bench_reuse.py [--show] [--thresholds]

The pairs of evaluation/reuse/need_pairs.tsv are invented. Their groups are parted into two halves by a hash: on one the
threshold is tuned (--thresholds shows how), the other is held out. Nothing outside this machine is asked.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.retrieval.same_need import THRESHOLD, shape

PAIRS = Path(__file__).resolve().parent.parent / "evaluation" / "reuse" / "need_pairs.tsv"


@dataclass(frozen=True)
class Pair:
    """Two needs: whether they ask for the same fact, whether the words allow that, and how alike their vectors are."""

    same: bool
    held_out: bool
    need: str
    other: str
    allowed: bool
    similarity: float


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--show", action="store_true", help="list wrong reuses and missed ones")
    parser.add_argument("--thresholds", action="store_true", help="the tuning half at several thresholds")
    options = parser.parse_args()
    pairs = read()
    if options.thresholds:
        for threshold in (0.0, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95):
            report(f"tuning, {threshold}", [pair for pair in pairs if not pair.held_out], threshold)
        return
    for name, held_out in (("tuning half", False), ("held-out half", True)):
        half = [pair for pair in pairs if pair.held_out == held_out]
        report(name, half, THRESHOLD)
        report(f"{name}, vectors alone", [Pair(**{**vars(pair), "allowed": True}) for pair in half], THRESHOLD)
        for pair in half if options.show else ():
            if (pair.allowed and pair.similarity >= THRESHOLD) != pair.same:
                print(f"    {'missed' if pair.same else 'WRONG'} {pair.similarity:.2f} {pair.need} | {pair.other}")


def read() -> list[Pair]:
    encoder = BuiltinEncoder()
    pairs = []
    with PAIRS.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            need, other = row["need"], row["other need"]
            similarity = float(encoder.embed_query(need) @ encoder.embed_query(other))
            held_out = crc32(row["group"].encode()) % 2 == 1
            allowed = shape(need).allows(shape(other))
            pairs.append(Pair(row["kind"] == "same", held_out, need, other, allowed, similarity))
    return pairs


def report(name: str, pairs: Sequence[Pair], threshold: float) -> None:
    reused = [pair for pair in pairs if pair.allowed and pair.similarity >= threshold]
    right, wrong = sum(pair.same for pair in reused), sum(not pair.same for pair in reused)
    same = sum(pair.same for pair in pairs)
    print(f"{name:<30} {right} of {same} reused ({100 * right / same:.0f} %), {wrong} of {len(pairs) - same} wrongly")


if __name__ == "__main__":
    main()
