"""Measure what questions stored with the passages bring a search; run by hand.

    python scripts/bench_index_questions.py FILE [--source squad1_dev] [--paragraphs 1000]

FILE has rows {source, title, question, context, answers: [{start}]}, several questions a context. Of those of each
paragraph, every second stands in for what an LLM would write of it, and is indexed with the passage that holds its
answer; the others are searched with. They were written by people who saw the paragraph, about other facts of it. The
index is made in a temporary folder, with the questions and without; a passage is right if it is of the paragraph.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.evaluation.metrics.statistics import mean
from iterative_rag.index.corpora import Corpora
from iterative_rag.index.hypothetical_questions import PassageQuestions
from iterative_rag.index.ingest import ingest
from iterative_rag.types import Document, Hit, Passage

DEPTHS = (1, 5, 10)
FEWEST = 4
AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph and its questions, each with the offset of its answer."""

    document: Document
    questions: tuple[tuple[str, int], ...]

    @property
    def stored(self) -> tuple[tuple[str, int], ...]:
        return self.questions[::2]

    @property
    def asked(self) -> tuple[str, ...]:
        return tuple(question for question, _ in self.questions[1::2])


class KnownQuestions:
    """Implements protocols.QuestionWriter with questions that were written before."""

    def __init__(self, paragraphs: Iterable[Paragraph]) -> None:
        self._of = {one.document.id: one.stored for one in paragraphs}

    def write(self, passage: Passage, count: int) -> tuple[str, ...]:
        known = self._of[passage.document_id]
        return tuple(text for text, answer in known if passage.start <= answer < passage.end)[:count]


class Paragraphs:
    """Implements protocols.DocumentSource."""

    root = "paragraphs"

    def __init__(self, paragraphs: Sequence[Paragraph]) -> None:
        self._paragraphs = paragraphs
        self.total = len(paragraphs)

    def documents(self) -> Iterable[Document]:
        return (one.document for one in self._paragraphs)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--source", default="squad1_dev", help="the rows of this source")
    parser.add_argument("--paragraphs", type=int, default=1000)
    arguments = parser.parse_args()
    paragraphs = read(arguments.file, arguments.source)[: arguments.paragraphs]
    queries = [(question, one.document.id) for one in paragraphs for question in one.asked]
    print(f"{len(paragraphs):,} paragraphs, {len(queries):,} queries")
    print("| questions a passage | stored | recall@1 | recall@5 | recall@10 | MRR@10 |")
    print("|---|---|---|---|---|---|")
    for wanted in (0, 1, 2, 5):
        stored, ranks = measured(paragraphs, queries, wanted)
        recalls = [f"{mean([rank is not None and rank <= depth for rank in ranks]):.3f}" for depth in DEPTHS]
        reciprocal = mean([1 / rank if rank else 0.0 for rank in ranks])
        print(f"| {wanted} | {stored:,} | {' | '.join(recalls)} | {reciprocal:.3f} |", flush=True)


def read(path: Path, source: str) -> list[Paragraph]:
    """The paragraphs with enough questions, in the order of the file."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    found: dict[tuple[str, str], dict[str, int]] = {}
    for row in map(json.loads, text.splitlines()):
        if row["source"] == source and row["answers"]:
            questions = found.setdefault((row["title"], row["context"]), {})
            questions.setdefault(row["question"], row["answers"][0]["start"])
    kept = [(title, text, asked) for (title, text), asked in found.items() if len(asked) >= FEWEST]
    return [
        Paragraph(Document(str(number), title, text, source), tuple(asked.items()))
        for number, (title, text, asked) in enumerate(kept)
    ]


def measured(
    paragraphs: Sequence[Paragraph], queries: Sequence[tuple[str, str]], wanted: int
) -> tuple[int, list[int | None]]:
    """How many questions were stored, and the rank of the right paragraph for each query, None beyond the tenth."""
    encoder = BuiltinEncoder()
    questions = PassageQuestions(KnownQuestions(paragraphs), wanted) if wanted else None
    with tempfile.TemporaryDirectory() as folder:
        corpora = Corpora(Path(folder))
        report = ingest([Paragraphs(paragraphs)], corpora, "measured", encoder, questions=questions)
        with closing(corpora.open("measured", encoder)) as corpus:
            found: list[list[Hit]] = []
            for low in range(0, len(queries), AT_ONCE):
                found += corpus.search([query for query, _ in queries[low : low + AT_ONCE]], 3 * DEPTHS[-1])
    ranks = [rank_of(gold, hits) for (_, gold), hits in zip(queries, found, strict=True)]
    return report.questions.written if report.questions else 0, ranks


def rank_of(gold: str, hits: Sequence[Hit]) -> int | None:
    """The rank of the paragraph among the paragraphs found."""
    listed = list(dict.fromkeys(hit.document_id for hit in hits))[: DEPTHS[-1]]
    return listed.index(gold) + 1 if gold in listed else None


if __name__ == "__main__":
    main()
