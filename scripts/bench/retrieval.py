"""What search and the reuse of needs rest on: stored questions, the query of a reranker, needs taken for the same.

python -m scripts.bench.retrieval index-questions FILE [--source squad1_dev] [--paragraphs 1000]
python -m scripts.bench.retrieval rerank-query MUSIQUE.jsonl --rows 60
python -m scripts.bench.retrieval reuse [--thresholds]
"""

from __future__ import annotations

import csv
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.builtin.reasoning.reader_roles import ReaderRoles
from iterative_rag.evaluation.metrics.statistics import mean
from iterative_rag.index.corpora import Corpora, IndexedCorpus
from iterative_rag.index.hypothetical_questions import PassageQuestions
from iterative_rag.index.ingest import IngestReport, ingest
from iterative_rag.index.rank_fusion import reranked
from iterative_rag.retrieval.same_need import THRESHOLD, shape
from iterative_rag.types import Document, Hit, Passage
from scripts.bench import harness

DEPTHS = (1, 2, 5, 10)
AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class Articles:
    """Implements protocols.DocumentSource."""

    articles: Sequence[Document]
    root: str = "bench"

    @property
    def total(self) -> int:
        return len(self.articles)

    def documents(self) -> Iterable[Document]:
        return self.articles


def ranks_of(gold: Sequence[frozenset[str]], hits: Sequence[Sequence[Hit]]) -> list[int]:
    """The rank from 0 of the first right document of each search; far down where none was found."""
    listed = [list(dict.fromkeys(hit.document_id for hit in of_search)) for of_search in hits]
    return [
        next((n for n, document in enumerate(found) if document in right), 1000)
        for right, found in zip(gold, listed, strict=True)
    ]


def figures(ranks: Sequence[int]) -> Mapping[str, object]:
    recalls = {f"recall@{depth}": mean([rank < depth for rank in ranks]) for depth in DEPTHS}
    return {**recalls, "MRR": mean([1 / (1 + rank) for rank in ranks])}


# --- questions stored with the passages ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KnownQuestions:
    """Implements protocols.QuestionWriter with questions that were written before, by the id of the document, each with
    the offset of its answer."""

    known: Mapping[str, Sequence[tuple[str, int]]]

    def write(self, passage: Passage, count: int) -> tuple[str, ...]:
        own = self.known[passage.document_id]
        return tuple(text for text, answer in own if passage.start <= answer < passage.end)[:count]


def index_questions(file: Path, source: str = "squad1_dev", paragraphs: int = 1000) -> None:
    """What questions stored with the passages bring a search.

    FILE has rows {source, title, question, context, answers: [{start}]}, several questions a context. Of those of each
    paragraph, every second stands in for what an LLM would write of it, and is indexed with the passage that holds its
    answer; the others are searched with. They were written by people who saw the paragraph, about other facts of it.
    """
    contexts: dict[tuple[str, str], dict[str, int]] = {}
    for row in harness.rows_of(file):
        if row["source"] == source and row["answers"]:
            contexts.setdefault((row["title"], row["context"]), {})[row["question"]] = row["answers"][0]["start"]
    kept = [(title, text, [*asked.items()]) for (title, text), asked in contexts.items() if len(asked) >= 4]
    kept = kept[:paragraphs]
    articles = [Document(str(n), title, text, source) for n, (title, text, _) in enumerate(kept)]
    stored = KnownQuestions({str(n): asked[::2] for n, (_, _, asked) in enumerate(kept)})
    queries = [(question, str(n)) for n, (_, _, asked) in enumerate(kept) for question, _ in asked[1::2]]
    print(f"{len(kept):,} paragraphs, {len(queries):,} queries")

    def measured(wanted: int) -> Mapping[str, object]:
        with tempfile.TemporaryDirectory() as folder:
            questions = PassageQuestions(stored, wanted) if wanted else None
            report, corpus = indexed(Path(folder), articles, questions)
            with closing(corpus):
                hits: list[list[Hit]] = []
                for low in range(0, len(queries), AT_ONCE):
                    hits += corpus.search([query for query, _ in queries[low : low + AT_ONCE]], 3 * DEPTHS[-1])
        ranks = ranks_of([frozenset({gold}) for _, gold in queries], hits)
        written = report.questions.written if report.questions else 0
        return {"questions a passage": wanted, "stored": written, **figures(ranks)}

    harness.show(measured(wanted) for wanted in (0, 1, 2, 5))


def indexed(
    folder: Path, articles: Sequence[Document], questions: PassageQuestions | None = None
) -> tuple[IngestReport, IndexedCorpus]:
    corpora, encoder = Corpora(folder), BuiltinEncoder()
    report = ingest([Articles(articles)], corpora, "bench", encoder, questions=questions)
    return report, corpora.open("bench", encoder)


# --- what a reranker is asked --------------------------------------------------------------------

PASSAGES, K = 20, 60
FORMS: Mapping[str, Callable[[str, str], str]] = {
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


def rerank_query(file: Path, rows: int = 60) -> None:
    """What a reranker should be asked: the need alone, or with the question that it came from.

    FILE has the rows of MuSiQue with their decompositions; later steps hold the value found before. The built-in reader
    reranks the best 20 passages. Steps are split in two halves by the title of their article: choose on A, report B.
    """
    read = harness.rows_of(file)[:rows]
    articles = {one.id: one for row in read for one in map(article, row["paragraphs"])}
    steps = [step for row in read for step in steps_of(row)]
    reranker, ranks = ReaderRoles(), dict[tuple[str, str], list[int]]()
    with tempfile.TemporaryDirectory() as folder, closing(indexed(Path(folder), [*articles.values()])[1]) as corpus:
        for step in steps:
            (hits,) = corpus.search([step.need], PASSAGES)
            texts = [corpus.document(hit.document_id).text[hit.start : hit.end] for hit in hits]
            ordered: dict[str, Sequence[Hit]] = {"index alone": hits}
            for form, query in FORMS.items():
                ordered[form] = reranked(hits, query(step.need, step.question), texts, reranker, K)
            for form, found in ordered.items():
                ranks.setdefault((step.half, form), []).extend(ranks_of([step.gold], [found]))
    harness.show(
        {"half": half, "form": form, "steps": len(own), **figures(own)} for (half, form), own in sorted(ranks.items())
    )


def article(paragraph: Mapping[str, Any]) -> Document:
    title, text = paragraph["title"], paragraph["text"]
    return Document(sha256(f"{title}\0{text}".encode()).hexdigest()[:32], title, text, title)


def steps_of(row: Mapping[str, Any]) -> Iterator[QuestionStep]:
    gold: dict[str, set[str]] = {}
    for paragraph in row["paragraphs"]:
        if paragraph["supporting"]:
            gold.setdefault(paragraph["title"], set()).add(article(paragraph).id)
    steps = row["decomposition"]
    for step in steps:
        need = re.sub(r"#(\d+)", lambda mark: str(steps[int(mark[1]) - 1]["answer"]), step["question"])
        if ids := gold.get(step["paragraph"]):
            yield QuestionStep(need, row["question"], frozenset(ids), harness.half_of(step["paragraph"]))


# --- needs taken for the same --------------------------------------------------------------------


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
    harness.run(index_questions, rerank_query, reuse)
