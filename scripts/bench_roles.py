"""Measure the built-in backend: how fast it reads and embeds, how long a question takes, and its memory; run by hand.

    python scripts/bench_roles.py FILE [--questions 40]

FILE is a question file with paragraphs (HotpotQA dev: 433 questions, about 5,000 passages), pooled into one corpus in
ITERATIVE_RAG_HOME and indexed once. Questions are asked one after another with the cache off. Other work on the machine
slows all of it: the best of three rounds counts for the rates.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles

from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.builtin.networks import usable_cores
from iterative_rag.builtin.reading.evidence_reader import EvidenceReader, PassageText
from iterative_rag.cache import NoCache
from iterative_rag.evaluation.datasets.dataset_forms import load
from iterative_rag.evaluation.datasets.paragraph_pools import pool
from iterative_rag.factory import IterativeRAG, corpora, make_backend, open_corpus
from iterative_rag.settings import load_settings

TOKENS, CHARS, PASSAGES, ROUNDS = 128, 500, 400, 3


def best(work: Callable[[], int]) -> float:
    """Passages a second of the fastest round."""
    rates = []
    for _ in range(ROUNDS):
        began = time.monotonic()
        done = work()
        rates.append(done / (time.monotonic() - began))
    return max(rates)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--questions", type=int, default=40)
    arguments = parser.parse_args()

    settings = load_settings({"llm": "builtin", "cache": False})
    encoder, reader, dataset = BuiltinEncoder(), EvidenceReader(threads=1), load(arguments.file)
    corpus = open_corpus(settings.model_copy(update={"corpus": pool(dataset, settings, encoder)}), encoder)
    text = " ".join(corpus.document(entry.id).text for entry in corpus.catalogue()[: 2 * PASSAGES])
    cut = [text[start : start + CHARS] for start in range(0, CHARS * PASSAGES, CHARS)]
    need = "Who was the first director of the museum?"
    room = TOKENS - encoder.count_tokens(need)
    pieces: list[str] = []
    while len(pieces) < PASSAGES:
        piece = text[:700].rsplit(" ", 1)[0]
        while encoder.count_tokens(piece) > room:
            piece = piece.rsplit(" ", 1)[0]
        pieces.append(piece)
        text = text[len(piece) :].lstrip()

    def read() -> int:
        with ThreadPoolExecutor(usable_cores()) as threads:
            return len(list(threads.map(lambda piece: reader.read(need, [PassageText("", "", piece)]), pieces)))

    print(f"reader   {best(read):.0f} passages/s of {TOKENS} tokens with the need, {usable_cores()} threads")
    print(f"encoder  {best(lambda: len(encoder.embed_documents(cut))):.0f} passages/s of {CHARS} characters")

    backend, _ = make_backend(settings, NoCache(), encoder)
    engine, seconds = IterativeRAG(settings, corpus=corpus, backend=backend, cache=NoCache()), []
    for question in dataset.questions[: arguments.questions]:
        began = time.monotonic()
        engine.ask(question.text)
        seconds.append(time.monotonic() - began)
    passages = corpora().info(corpus.name).passages
    print(
        f"question {median(seconds):.2f} s median, {quantiles(seconds, n=20)[-1]:.2f} s 95th percentile, "
        f"{max(seconds):.2f} s at most, of {len(seconds)} over {passages:,} passages"
    )
    print(f"memory   {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at most")
    corpus.close()


if __name__ == "__main__":
    main()
