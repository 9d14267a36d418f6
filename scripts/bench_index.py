#!/usr/bin/env python3
"""Measure indexing and searching: passages/s, peak memory, an unchanged run, load and query times.

    scripts/bench_index.py PATH.jsonl.gz --corpus frames [--sample 0.05] [--embedder hashing]

It writes into ITERATIVE_RAG_HOME, like the command line does, and goes on where an earlier run stopped.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from iterative_rag.index.corpora import Corpora, IndexedCorpus
from iterative_rag.index.embedders.hashing import HashingEmbedder
from iterative_rag.index.indexing_progress import Progress
from iterative_rag.index.ingest import IngestReport, ingest
from iterative_rag.protocols import Embedder, Skipped
from iterative_rag.settings import home
from iterative_rag.sources import open_source
from iterative_rag.types import Document

QUERIES = 40


class Sample:
    """A share of a source's documents, the same in every run."""

    def __init__(self, path: Path, share: float) -> None:
        self._source = open_source(path)
        self._share = share
        self.root = self._source.root
        self.total = None

    def documents(self) -> Iterator[Document | Skipped]:
        for item in self._source.documents():
            if self._share >= 1 or (isinstance(item, Document) and int(item.id[:8], 16) / 2**32 < self._share):
                yield item


def main() -> None:
    options = arguments()
    embedder = make_embedder(options.embedder)
    if options.sample < 1 and not options.keep:
        with tempfile.TemporaryDirectory() as folder:
            measure(options, Corpora(Path(folder)), embedder)
    else:
        measure(options, Corpora(home() / "corpora"), embedder)


def measure(options: argparse.Namespace, corpora: Corpora, embedder: Embedder) -> None:
    sources = [Sample(options.path, options.sample)]
    first = ingest(sources, corpora, options.corpus, embedder, progress=report_progress)
    print(f"\nindexed    {described(first)}, {first.passages / first.seconds:.0f} passages/s")
    usage = resource.getrusage(resource.RUSAGE_SELF)
    busy = usage.ru_utime + usage.ru_stime
    print(f"processor  {busy:.0f} s, {1000 * busy / max(first.passages, 1):.1f} ms a passage")
    print(f"peak       {usage.ru_maxrss / 1024:.0f} MB resident")
    second = ingest(sources, corpora, options.corpus, embedder)
    print(f"unchanged  {described(second)}, {100 * second.seconds / first.seconds:.2f} % of the first run")
    info = corpora.info(options.corpus)
    print(f"corpus     {info.documents} documents, {info.passages} passages, {info.bytes / 1e6:.0f} MB on disk")
    corpus = corpora.open(options.corpus, embedder)
    try:
        search(corpus)
    finally:
        corpus.close()


def search(corpus: IndexedCorpus) -> None:
    titles = random.Random(0).choices(corpus.titles(), k=QUERIES)
    corpus._embedder.embed_query("load the model")
    print(f"first      query incl. load {timed(corpus, [titles[0]]):.0f} ms")
    single = [timed(corpus, [f"When was {title} founded or born?"]) for title in titles]
    print(f"query      {statistics.median(single):.0f} ms median, {max(single):.0f} ms at most (one, incl. embedding)")
    batches = [timed(corpus, [f"What is {title} known for?" for title in titles[i : i + 4]]) for i in range(0, 40, 4)]
    print(f"query x 4  {statistics.median(batches):.0f} ms median")


def timed(corpus: IndexedCorpus, queries: list[str]) -> float:
    began = time.perf_counter()
    corpus.search(queries, 24)
    return 1000 * (time.perf_counter() - began)


def described(report: IngestReport) -> str:
    return (
        f"+{report.added} ~{report.changed} ={report.unchanged} -{report.removed} documents, "
        f"{len(report.skipped)} skipped, {report.passages} passages in {report.seconds:.1f} s"
    )


def report_progress(progress: Progress) -> None:
    sys.stderr.write(
        f"\r{progress.documents} documents, {progress.passages} passages, {progress.passages_per_second:.0f}/s"
    )


def make_embedder(name: str) -> Embedder:
    if name == "hashing":
        return HashingEmbedder()
    from iterative_rag.builtin.encoder import BuiltinEncoder

    return BuiltinEncoder()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--corpus", default="bench")
    parser.add_argument("--sample", type=float, default=1.0, help="share of the documents (kept only with --keep)")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--embedder", choices=("builtin", "hashing"), default="builtin")
    return parser.parse_args()


if __name__ == "__main__":
    main()
