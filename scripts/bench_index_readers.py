#!/usr/bin/env python3
"""Open one corpus by many processes at once while another writes it, and count what fails.

    python scripts/bench_index_readers.py [--readers 64] [--documents 400] [--json]

The corpus is made of generated texts by the embedder that needs no model. Each reader is a process of its own that
opens it, searches, and reads the text of what it found; the writer changes an article and indexes again, over and over,
until the last reader is done. Printed: readers that failed, generations published meanwhile, seconds of processor time
of a reader among the others and alone, and how long all of them took by the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from iterative_rag.index.corpora import Corpora
from iterative_rag.index.embedders.hashing import HashingEmbedder
from iterative_rag.index.ingest import ingest
from iterative_rag.sources import open_source

NAME = "bench"
TOLD = "river castle bridge market canal king queen painter harbour monk school battle treaty organ valley"
WORDS = TOLD.split()


def main() -> None:
    options = arguments()
    if options.read:
        read(options.read)
        return
    with tempfile.TemporaryDirectory() as folder:
        figures = measured(Path(folder), options.readers, options.documents)
    print(json.dumps(figures) if options.json else "\n".join(f"{name:<28}{value}" for name, value in figures.items()))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readers", type=int, default=64)
    parser.add_argument("--documents", type=int, default=400, help="of about 75 passages each")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def measured(folder: Path, readers: int, documents: int) -> dict[str, float]:
    articles = folder / "articles"
    articles.mkdir()
    for number in range(documents):
        write(articles / f"{number}.txt", seed=number)
    corpora = Corpora(folder / "corpora")
    passages = index(corpora, articles)
    alone = [float(started(corpora.root).communicate()[0].split()[0]) for _ in range(5)]
    begun = time.monotonic()
    running = [started(corpora.root) for _ in range(readers)]
    published = 0
    while any(one.poll() is None for one in running):
        write(articles / "0.txt", seed=10**6 + published)
        index(corpora, articles)
        published += 1
    seconds = time.monotonic() - begun
    said = [one.communicate() for one in running]
    for _, error in said:
        sys.stderr.write(error[-1000:])
    worked = [float(out.split()[0]) for out, _ in said if out]
    return {
        "readers": readers,
        "passages": passages,
        "failed": sum(one.returncode != 0 for one in running),
        "published meanwhile": published,
        "seconds for all": round(seconds, 1),
        "CPU of one alone, s": round(statistics.median(alone), 2),
        "CPU of one, median, s": round(statistics.median(worked), 2),
        "CPU of one, most, s": round(max(worked), 2),
    }


def write(path: Path, seed: int) -> None:
    draw = random.Random(seed)
    path.write_text(" ".join(" ".join(draw.choices(WORDS, k=12)) + f" n{seed}." for _ in range(400)), encoding="utf-8")


def index(corpora: Corpora, articles: Path) -> int:
    ingest([open_source(articles)], corpora, NAME, HashingEmbedder())
    return corpora.info(NAME).passages


def started(root: Path) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, "--read", str(root)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def read(root: Path) -> None:
    """What one reader does; it prints its processor time in seconds."""
    with closing(Corpora(root).open(NAME, HashingEmbedder())) as corpus, closing(corpus.pinned()) as run:
        [hits] = run.search([f"the castle of n{os.getpid() % 300}"], 10)
        for hit in hits:
            text = run.document(hit.document_id).text[hit.start : hit.end]
            assert text.strip(), hit
    print(time.process_time())


if __name__ == "__main__":
    main()
