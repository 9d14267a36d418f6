"""Measure how often the right articles stand first in the shortlist, plain and sharpened as for an LLM; run by hand.

    python scripts/bench_shortlist.py musique FILE                   decompositions: a look-up for every step
    python scripts/bench_shortlist.py popqa FILE                     rows {question, subject, paragraphs}
    python scripts/bench_shortlist.py timeqa FILE                    rows {page, question, answers, paragraphs}
    python scripts/bench_shortlist.py questions FILE --corpus NAME   questions with links to articles of a corpus

The paragraphs of the first three are indexed in ITERATIVE_RAG_HOME at the first run. Cases are split in two halves by
the title of the article (the question where it needs several): weights were chosen on half A, B is reported.
`documents` is the mean length of a list of at most eight.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from iterative_rag.app.factory import open_corpus
from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.evaluation.datasets.dataset_forms import load
from iterative_rag.evaluation.datasets.gold_articles import GoldIndex
from iterative_rag.evaluation.metrics.statistics import mean
from iterative_rag.index.corpora import IndexedCorpus
from iterative_rag.retrieval.shortlist import shortlist
from iterative_rag.settings import load_settings
from iterative_rag.types import Document, Need
from scripts import bench_windows

DEPTHS = (1, 2, 5, 10)
PASSAGES, LISTED, AT_ONCE = 64, 8, 32


@dataclass(frozen=True, slots=True)
class Lookup:
    """A need, and for each article that it needs the documents that count as this article. `key` decides its half."""

    question: str
    gold: tuple[frozenset[str], ...]
    key: str


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("form", choices=("musique", "popqa", "timeqa", "questions"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--corpus", default="", help="where the articles of the questions are")
    arguments = parser.parse_args()

    encoder = BuiltinEncoder()
    if arguments.form == "questions":
        corpus = open_corpus(load_settings({"corpus": arguments.corpus}), encoder)
        lookups = linked(arguments.file, corpus)
    else:
        make = {"musique": musique, "popqa": popqa, "timeqa": timeqa}[arguments.form]
        articles, lookups = make(bench_windows.rows(arguments.file))
        corpus = bench_windows.indexed(f"bench-shortlist-{arguments.form}", articles, encoder)
    heads = "".join(f"{f'recall@{depth}':>11}" for depth in DEPTHS)
    print(f"{'half':5} {'shortlist':10} {'needs':>6}{heads}{'documents':>11}")
    for half in "AB":
        part = [one for one in lookups if "AB"[crc32(one.key.encode()) % 2] == half]
        for name, sharpen in (("plain", False), ("sharpened", True)):
            long, listed = ranked(corpus, part, sharpen), ranked(corpus, part, sharpen, listing=True)
            recalls = "".join(f"{mean([recall(*one, depth) for one in long]):11.1%}" for depth in DEPTHS)
            print(f"{half:5} {name:10} {len(part):6}{recalls}{mean([len(found) for _, found in listed]):11.1f}")


def ranked(
    corpus: IndexedCorpus, lookups: Sequence[Lookup], sharpen: bool, *, listing: bool = False
) -> list[tuple[Lookup, list[str]]]:
    """The ids of the documents listed for each look-up: as they are read, or without an end of the list."""
    found = []
    for start in range(0, len(lookups), AT_ONCE):
        part = lookups[start : start + AT_ONCE]
        lists = shortlist(
            corpus,
            [Need(one.question) for one in part],
            documents=LISTED if listing else PASSAGES,
            passages=PASSAGES,
            sharpen=sharpen,
            keep_tail=not listing,
        )
        found += [(one, [entry.document_id for entry in own]) for one, own in zip(part, lists, strict=True)]
    return found


def recall(lookup: Lookup, found: Sequence[str], depth: int) -> float:
    return mean([bool(documents & set(found[:depth])) for documents in lookup.gold])


def musique(read: Iterable[dict[str, Any]]) -> tuple[list[Document], list[Lookup]]:
    articles: dict[str, Document] = {}
    lookups = []
    for row in read:
        gold: dict[str, set[str]] = {}
        for paragraph in row["paragraphs"]:
            document = article(paragraph)
            articles[document.id] = document
            if paragraph["supporting"]:
                gold.setdefault(document.title, set()).add(document.id)
        steps = row["decomposition"]
        for step in steps:
            asked = step["question"]
            for mark in re.findall(r"#(\d+)", asked):
                asked = asked.replace(f"#{mark}", steps[int(mark) - 1]["answer"])
            if ids := gold.get(step["paragraph"]):
                lookups.append(Lookup(asked, (frozenset(ids),), step["paragraph"]))
    return list(articles.values()), lookups


def popqa(read: Iterable[dict[str, Any]]) -> tuple[list[Document], list[Lookup]]:
    articles: dict[str, Document] = {}
    lookups = []
    for row in read:
        documents = [article(paragraph) for paragraph in row["paragraphs"]]
        articles |= {document.id: document for document in documents}
        gold = [one.id for one, paragraph in zip(documents, row["paragraphs"], strict=True) if paragraph["supporting"]]
        if gold:
            lookups.append(Lookup(row["question"], (frozenset(gold),), row["subject"]))
    return list(articles.values()), lookups


def article(paragraph: dict[str, Any]) -> Document:
    title, text = paragraph["title"], paragraph["text"]
    return Document(bench_windows.identity(f"{title}\0{text}"), title, text, title)


def timeqa(read: Iterable[dict[str, Any]]) -> tuple[list[Document], list[Lookup]]:
    articles, cases = bench_windows.timeqa(read)
    titles = {one.id: one.title for one in articles}
    return articles, [Lookup(one.question, (frozenset({one.document_id}),), titles[one.document_id]) for one in cases]


def linked(file: Path, corpus: IndexedCorpus) -> list[Lookup]:
    gold = GoldIndex(corpus)
    found = [(question.text, gold.resolve(question)[0]) for question in load(file).questions]
    return [Lookup(text, tuple(frozenset({one}) for one in ids), text) for text, ids in found if ids]


if __name__ == "__main__":
    main()
