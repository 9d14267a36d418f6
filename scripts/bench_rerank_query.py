"""Measure what a reranker should be asked: the need alone, or with the question that it came from; run by hand.

    python scripts/bench_rerank_query.py FILE --rows 60     steps of MuSiQue; later steps hold the value found before

The paragraphs are indexed in ITERATIVE_RAG_HOME at the first run. Steps are split in two halves by the title of their
article: choose on half A, report B. The built-in reader reranks the best 20 passages.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.builtin.reranker import ReaderReranker
from iterative_rag.evaluation.metrics.statistics import mean
from iterative_rag.index.corpora import IndexedCorpus
from iterative_rag.index.rank_fusion import reranked
from iterative_rag.types import Hit
from scripts import bench_shortlist, bench_windows

PASSAGES, K, DEPTHS = 20, 60, (1, 2, 5)
FORMS: dict[str, Callable[[str, str], str]] = {
    "need": lambda need, question: need,
    "question | need": lambda need, question: f"{question} | {need}",
    "need | question": lambda need, question: f"{need} | {question}",
    "need (question)": lambda need, question: f"{need} ({question})",
    "question": lambda need, question: question,
}


@dataclass(frozen=True, slots=True)
class QuestionStep:
    """A need, the question that it is a step of, and the ids of the documents that answer it."""

    need: str
    question: str
    gold: frozenset[str]
    half: str


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", type=int, default=60)
    arguments = parser.parse_args()
    rows = list(bench_windows.rows(arguments.file))[: arguments.rows]
    articles, _ = bench_shortlist.musique(rows)
    corpus = bench_windows.indexed("bench-rerank-query", articles, BuiltinEncoder())
    steps = [step for row in rows for step in steps_of(row)]
    reranker = ReaderReranker()
    placed = {(step, form): found for step in steps for form, found in places(corpus, step, reranker).items()}
    for half in "AB":
        of_half = [step for step in steps if step.half == half]
        for form in ("index alone", *FORMS):
            found = [placed[step, form] for step in of_half]
            recalls = "".join(f"{mean([place < depth for place in found]):9.1%}" for depth in DEPTHS)
            print(f"{half}  {form:18}{len(of_half):5}{recalls}{mean([1 / (1 + place) for place in found]):9.3f}")


def steps_of(row: dict[str, Any]) -> list[QuestionStep]:
    gold: dict[str, set[str]] = {}
    for paragraph in row["paragraphs"]:
        if paragraph["supporting"]:
            gold.setdefault(paragraph["title"], set()).add(bench_shortlist.article(paragraph).id)
    steps, found = row["decomposition"], []
    for step in steps:
        need = re.sub(r"#(\d+)", lambda mark: str(steps[int(mark[1]) - 1]["answer"]), step["question"])
        if ids := gold.get(step["paragraph"]):
            half = "AB"[crc32(step["paragraph"].encode()) % 2]
            found.append(QuestionStep(need, row["question"], frozenset(ids), half))
    return found


def places(corpus: IndexedCorpus, step: QuestionStep, reranker: ReaderReranker) -> dict[str, int]:
    """At which place a right document stands for each form of the query; far down where it is not found."""
    (hits,) = corpus.search([step.need], PASSAGES)
    texts = [corpus.document(hit.document_id).text[hit.start : hit.end] for hit in hits]
    found = {"index alone": place(hits, step.gold)}
    for form, query in FORMS.items():
        found[form] = place(reranked(hits, query(step.need, step.question), texts, reranker, K), step.gold)
    return found


def place(hits: list[Hit], gold: frozenset[str]) -> int:
    documents = list(dict.fromkeys(hit.document_id for hit in hits))
    return next((n for n, document in enumerate(documents) if document in gold), 1000)


if __name__ == "__main__":
    main()
