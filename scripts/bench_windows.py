"""Measure how often the window of the right article holds the answer to a question, and with how much text; by hand.

    python scripts/bench_windows.py squad FILE [--cases 1000]      rows {title, question, context, answers}
    python scripts/bench_windows.py timeqa FILE                    rows {page, question, answers, paragraphs}
    python scripts/bench_windows.py questions FILE --corpus NAME   questions with links to articles of a corpus

The paragraphs of SQuAD and TimeQA are joined to the articles they come from, which are indexed in ITERATIVE_RAG_HOME at
the first run. A case is a question and an article that is longer than the smallest window, holds the answer and is
found for the question. SQuAD tells where the answer stands; elsewhere any place in the article counts. Articles are
split in two halves by their title: layouts were chosen on half A, `--half` chooses what is reported.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

from iterative_rag.app.factory import corpora, open_corpus
from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.evaluation.datasets.dataset_forms import load
from iterative_rag.evaluation.datasets.gold_articles import GoldIndex
from iterative_rag.index.corpora import IndexedCorpus
from iterative_rag.index.ingest import ingest
from iterative_rag.retrieval.windows import PACKED, WIDE, WindowLayout, window
from iterative_rag.settings import load_settings
from iterative_rag.types import Document, Hit, ShortlistedDocument

SIZES = (3000, 4000, 6000)
PASSAGES, AT_ONCE, SHORTEST_ARTICLE = 64, 32, 8000
LAYOUTS = {
    "one margin of 400 (built-in)": WIDE,
    "one margin of 120": WindowLayout((120,)),
    "one margin of 120, lead, sections": WindowLayout((120,), 400, sections=True, gap=100),
    "growing margins": WindowLayout(PACKED.margins),
    "growing margins, lead, sections (LLM)": PACKED,
}


@dataclass(frozen=True, slots=True)
class Case:
    """`place` is where the answer stands in the document; None where that is not known."""

    question: str
    answers: tuple[str, ...]
    document_id: str
    place: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Articles:
    """A source of documents."""

    root: str
    found: Sequence[Document]

    @property
    def total(self) -> int:
        return len(self.found)

    def documents(self) -> Iterator[Document]:
        yield from self.found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("form", choices=("squad", "timeqa", "questions"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--corpus", default="", help="where the articles of the questions are")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--half", choices=("A", "B", "both"), default="B")
    arguments = parser.parse_args()

    encoder = BuiltinEncoder()
    if arguments.form == "questions":
        corpus = open_corpus(load_settings({"corpus": arguments.corpus}), encoder)
        cases = linked(arguments.file, corpus)
    else:
        articles, cases = (squad if arguments.form == "squad" else timeqa)(rows(arguments.file))
        corpus = indexed(f"bench-windows-{arguments.form}", articles, encoder)
    measured = found(corpus, halved(corpus, cases, arguments.half), arguments.cases)
    print(f"{len(measured)} cases of half {arguments.half}")
    print(f"{'layout':40} {'size':>5} {'holds the answer':>17} {'characters':>11} {'per 1,000 characters':>21}")
    for size in SIZES:
        for name, layout in LAYOUTS.items():
            held, chars = 0, 0
            for case, document, entry in measured:
                read = window(document, entry, size, layout)
                held += holds(case, read.spans, read.text)
                chars += len(read.text)
            share, mean = held / len(measured), chars / len(measured)
            print(f"{name:40} {size:5} {share:17.1%} {mean:11.0f} {1000 * share / mean:21.1%}", flush=True)


def holds(case: Case, spans: Sequence[tuple[int, int]], text: str) -> bool:
    if case.place is None:
        return said(case.answers, text)
    return any(start <= case.place[0] and case.place[1] <= end for start, end in spans)


def said(answers: Iterable[str], text: str) -> bool:
    plain = " ".join(text.casefold().split())
    wanted = (re.escape(" ".join(answer.casefold().split())) for answer in answers)
    return any(re.search(rf"(?<!\w){answer}(?!\w)", plain) for answer in wanted if answer)


def found(corpus: IndexedCorpus, cases: Sequence[Case], most: int) -> list[tuple[Case, Document, ShortlistedDocument]]:
    """The cases whose article a search finds, at most `most`, with the hits in it."""
    chosen = random.Random(0).sample(cases, min(most, len(cases)))
    measured = []
    for start in range(0, len(chosen), AT_ONCE):
        part = chosen[start : start + AT_ONCE]
        for case, hits in zip(part, corpus.search([case.question for case in part], PASSAGES), strict=True):
            document, own = corpus.document(case.document_id), of(case.document_id, hits)
            if own and len(document.text) > SIZES[0] and (case.place or said(case.answers, document.text)):
                entry = ShortlistedDocument(document.id, document.title, document.source, own[0].score, own)
                measured.append((case, document, entry))
    return measured


def of(document_id: str, hits: Iterable[Hit]) -> tuple[Hit, ...]:
    return tuple(hit for hit in hits if hit.document_id == document_id)


def halved(corpus: IndexedCorpus, cases: Iterable[Case], half: str) -> list[Case]:
    titles = {entry.id: entry.title for entry in corpus.catalogue()}
    return [case for case in cases if half in ("both", "AB"[crc32(titles[case.document_id].encode()) % 2])]


def rows(file: Path) -> list[dict[str, Any]]:
    read = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return [json.loads(line) for line in read.splitlines()]


def identity(name: str) -> str:
    return sha256(name.encode()).hexdigest()[:32]


def squad(read: Iterable[dict[str, Any]]) -> tuple[list[Document], list[Case]]:
    held = [row for row in read if "squad" in row["source"].lower() and row.get("title") and row["answers"]]
    contexts: dict[str, dict[str, int]] = {}
    for row in held:
        contexts.setdefault(row["title"], {}).setdefault(row["context"], 0)
    articles = []
    for title, own in contexts.items():
        text = "\n\n".join(own)
        at = 0
        for context in own:
            own[context], at = at, at + len(context) + 2
        if len(text) >= SHORTEST_ARTICLE:
            articles.append(Document(identity(title), title.replace("_", " "), text, title))
    long, cases = {article.id for article in articles}, []
    for row in held:
        answer = row["answers"][0]
        start = contexts[row["title"]][row["context"]] + answer["start"]
        if identity(row["title"]) in long:
            place = start, start + len(answer["text"])
            cases.append(Case(row["question"], (answer["text"],), identity(row["title"]), place))
    return articles, cases


def timeqa(read: Iterable[dict[str, Any]]) -> tuple[list[Document], list[Case]]:
    articles: dict[str, Document] = {}
    cases = []
    for row in read:
        page = row["page"]
        if page not in articles:
            title, section, parts = page.removeprefix("/wiki/").replace("_", " "), row["paragraphs"][0]["title"], []
            for paragraph in row["paragraphs"]:
                if paragraph["title"] != section:
                    section = paragraph["title"]
                    parts.append(f"## {section}")
                parts.append(paragraph["text"])
            articles[page] = Document(identity(page), title, "\n\n".join(parts), page)
        if row["answers"]:
            cases.append(Case(row["question"], tuple(row["answers"]), identity(page)))
    return list(articles.values()), cases


def linked(file: Path, corpus: IndexedCorpus) -> list[Case]:
    """One case for each article of a question. A bare digit stands everywhere, so it shows nothing."""
    gold = GoldIndex(corpus)
    return [
        Case(question.text, question.answers, document_id)
        for question in load(file).questions
        if question.answers and not (question.answers[0].isdigit() and len(question.answers[0]) < 4)
        for document_id in gold.resolve(question)[0]
    ]


def indexed(name: str, articles: Sequence[Document], encoder: BuiltinEncoder) -> IndexedCorpus:
    settings = load_settings({"corpus": name})
    ingest(
        [Articles(name, articles)],
        corpora(settings.index),
        name,
        encoder,
        chunk_chars=settings.chunk_chars,
        chunk_overlap=settings.chunk_overlap,
    )
    return open_corpus(settings, encoder)


if __name__ == "__main__":
    main()
