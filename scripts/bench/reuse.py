"""Which needs are taken for the same, so that what was extracted for one is reused for the other.

python -m scripts.bench.reuse [--thresholds]
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping

from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.retrieval.same_need import THRESHOLD, shape
from scripts.bench import harness


def reuse(thresholds: bool = False) -> None:
    """Which needs are taken for the same: 100 pairs that ask for one fact in other words, and 100 near misses.

    The pairs of evaluation/reuse/need_pairs.tsv are invented. Half A was tuned on (`--thresholds` shows how); B is held
    out.
    """
    encoder, pairs = BuiltinEncoder(), list[tuple[str, bool, bool, float]]()
    with (harness.EVALUATION / "reuse" / "need_pairs.tsv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            need, other = row["need"], row["other need"]
            similarity = float(encoder.embed_query(need) @ encoder.embed_query(other))
            allowed = shape(need).allows(shape(other))
            pairs.append((harness.half_of(row["group"]), row["kind"] == "same", allowed, similarity))

    def rows() -> Iterator[Mapping[str, object]]:
        for half in "A" if thresholds else "AB":
            for threshold in (0.0, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95) if thresholds else (THRESHOLD,):
                for rule in ("words and vectors", "vectors alone"):
                    own = [
                        (same, similarity >= threshold and (allowed or rule == "vectors alone"))
                        for part, same, allowed, similarity in pairs
                        if part == half
                    ]
                    reused = {name: [taken for same, taken in own if same is name] for name in (True, False)}
                    told = {"same: reused": harness.share(reused[True]), "not the same": harness.share(reused[False])}
                    yield {"half": half, "threshold": threshold, "rule": rule, **told}

    harness.show(rows())


if __name__ == "__main__":
    harness.run(reuse)
