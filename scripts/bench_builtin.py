"""What each trained part of the built-in backend adds: the same questions with parts left out.

    python scripts/bench_builtin.py FILE [FILE ...] [--first N] [--variants grammar all guess]

Each file's paragraphs are pooled into one corpus (indexed once), every variant answers every question with the cache
off, and F1 with its 95 % interval, exact match, share answered and seconds are printed. `grammar` plans without the
trained splitter, `all` is the product, `guess` gives every answer.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean, median

from iterative_rag.builtin.builtin_backend import BuiltinBackend
from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.builtin.question.question_planner import QuestionPlanner
from iterative_rag.builtin.question.splitter import Splitter
from iterative_rag.builtin.reasoning.thresholds import GUESSING
from iterative_rag.cache import NoCache
from iterative_rag.evaluation.datasets.dataset_forms import load
from iterative_rag.evaluation.datasets.paragraph_pools import pool
from iterative_rag.evaluation.metrics.statistics import mean_interval
from iterative_rag.evaluation.questions import Question
from iterative_rag.evaluation.scoring.answer_match import score
from iterative_rag.factory import IterativeRAG, open_corpus
from iterative_rag.settings import load_settings

IN_FLIGHT = 2


def variants(encoder: BuiltinEncoder) -> dict[str, Callable[[], BuiltinBackend]]:
    plain, split = QuestionPlanner(None), QuestionPlanner(Splitter())
    return {
        "grammar": lambda: BuiltinBackend(encoder, planner=plain),
        "all": lambda: BuiltinBackend(encoder, planner=split),
        "guess": lambda: BuiltinBackend(encoder, planner=split, caution=GUESSING),
    }


def measure(engine: IterativeRAG, questions: Sequence[Question]) -> str:
    def ask(question: Question) -> tuple[float, float, bool, float]:
        began = time.monotonic()
        answer = engine.ask(question.text)
        scores = score(answer.short_answer, question.answers)
        return scores.f1, scores.em, bool(answer.short_answer), time.monotonic() - began

    with ThreadPoolExecutor(IN_FLIGHT) as threads:
        rows = list(threads.map(ask, questions))
    f1 = [row[0] for row in rows]
    low, high = mean_interval(f1)
    return (
        f"F1 {mean(f1):.3f} ({low:.3f}-{high:.3f})  EM {mean(row[1] for row in rows):.3f}  "
        f"answered {mean(row[2] for row in rows):.2f}  {median(row[3] for row in rows):.2f} s a question"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+", help="question files with paragraphs")
    parser.add_argument("--first", type=int, help="only so many questions of each file")
    parser.add_argument("--variants", nargs="+", choices=["grammar", "all", "guess"])
    arguments = parser.parse_args()

    settings = load_settings({"llm": "builtin", "cache": False})
    encoder = BuiltinEncoder()
    for file in arguments.files:
        dataset = load(file)
        name = pool(dataset, settings, encoder)
        corpus = open_corpus(settings.model_copy(update={"corpus": name}), encoder)
        for variant, backend in variants(encoder).items():
            if arguments.variants and variant not in arguments.variants:
                continue
            engine = IterativeRAG(settings, corpus=corpus, backend=backend(), cache=NoCache())
            print(f"{dataset.name} {variant:8} {measure(engine, dataset.questions[: arguments.first])}", flush=True)
        corpus.close()


if __name__ == "__main__":
    main()
