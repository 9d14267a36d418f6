"""Measure how encoders retrieve supporting paragraphs of questions that they were not trained on.

    python -m scripts.train.evaluate_encoder --data FOLDER [--weights FOLDER ...] [--threads 2]

Half B of 2WikiMultihopQA and MuSiQue, each with the pooled paragraphs of all its questions in an index of the package's
own: whole questions (all supporting paragraphs) and one-hop needs (the paragraph that answers). Share of supporting
paragraphs in the first 1, 5 and 10 by vectors alone, BM25 alone, and both fused as the package searches. Each folder of
weights (default: the package's; `scripts/export_encoder.py` writes others) is measured on the same questions.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from tokenizers import Tokenizer

from iterative_rag.index.corpora import Corpora
from iterative_rag.index.indexed_corpus import IndexedCorpus
from iterative_rag.index.ingest import ingest
from iterative_rag.types import Document, Hit
from scripts.export_encoder import HIDDEN, MAX_TOKENS, OUT, session, token_ids
from scripts.train import data, relations
from scripts.train.data import MultiHop, Passage

FILES = ("2wiki_train", "musique_train")
CUTS = (1, 5, 10)
SHORTLIST, DEEP = 50, 400  # passages asked of a search: for the fused order, and to see either half's own
WAYS = ("dense", "bm25", "hybrid")


class FolderEncoder:
    """Implements protocols.Embedder with the `encoder.onnx` and `tokenizer.json` of a folder."""

    def __init__(self, folder: Path, threads: int) -> None:
        content = (folder / "encoder.onnx").read_bytes()
        self.name = f"{folder}@{hashlib.sha256(content).hexdigest()[:8]}"
        self.dimensions = HIDDEN
        self._session: Any = session(onnx.load_from_string(content))
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._threads = threads

    def embed_documents(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        with ThreadPoolExecutor(self._threads) as pool:
            return np.stack(list(pool.map(self.embed_query, texts)))

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        vector: npt.NDArray[np.float32] = self._session.run(None, token_ids(self._tokenizer, text))[0]
        return vector


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the ids of the paragraphs that support it."""

    text: str
    gold: frozenset[str]


class Pool:
    """A source of documents: the paragraphs of some questions, each once."""

    def __init__(self, name: str, rows: Sequence[MultiHop]) -> None:
        self.root = name
        self._passages = {identity(p.passage): p.passage for row in rows for p in row.paragraphs}
        self.total = len(self._passages)

    def documents(self) -> Iterator[Document]:
        for known, passage in self._passages.items():
            yield Document(known, passage.title, passage.text, f"{self.root}#{known}")


def identity(passage: Passage) -> str:
    return hashlib.sha256(f"{passage.title}\0{passage.text}".encode()).hexdigest()[:32]


def questions(rows: Sequence[MultiHop]) -> dict[str, list[Asked]]:
    """Whole questions and one-hop needs; the wording of a need is the first of those that are trained on."""
    whole = [
        Asked(row.question, frozenset(identity(p.passage) for p in row.paragraphs if p.supporting)) for row in rows
    ]
    hops = [q for row in rows for q in (*relations.triple_questions(row), *relations.hop_questions(row))]
    needs = {(q.needs[0], identity(q.gold[0].passage)) for q in hops}
    return {"whole": whole, "needs": [Asked(text, frozenset([gold])) for text, gold in sorted(needs)]}


def orders(corpus: IndexedCorpus, text: str) -> dict[str, list[str]]:
    """The ids of the paragraphs found, best first, in each way of searching."""
    [deep], [fused] = corpus.search([text], DEEP), corpus.search([text], SHORTLIST)
    dense = sorted((hit for hit in deep if hit.dense_rank), key=lambda hit: hit.dense_rank or 0)
    sparse = sorted((hit for hit in deep if hit.sparse_rank), key=lambda hit: hit.sparse_rank or 0)
    return {way: _paragraphs(hits) for way, hits in zip(WAYS, (dense, sparse, fused), strict=True)}


def _paragraphs(hits: Sequence[Hit]) -> list[str]:
    return list(dict.fromkeys(hit.document_id for hit in hits))


def recalls(corpus: IndexedCorpus, asked: Sequence[Asked]) -> dict[str, list[float]]:
    """For each way, in hundredths: the share of gold paragraphs in the first 1, 5 and 10, and that of questions with
    all of theirs in the first 10."""
    found = [(one.gold, orders(corpus, one.text)) for one in asked]
    golds = sum(len(gold) for gold, _ in found)
    table = {}
    for way in WAYS:
        shares = [sum(len(gold & set(order[way][:cut])) for gold, order in found) / golds for cut in CUTS]
        whole = sum(gold <= set(order[way][: CUTS[-1]]) for gold, order in found) / len(found)
        table[way] = [100 * share for share in (*shares, whole)]
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with multihop/")
    parser.add_argument("--weights", type=Path, nargs="+", default=[OUT], help="folders of encoder.onnx")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]

    print("file           asked  n    way        @1    @5   @10  all@10    weights")
    for name in FILES:
        rows = [row for row in data.multi_hop(arguments.data, name) if data.half(row.id) == "B"]
        for folder in arguments.weights:
            encoder = FolderEncoder(folder, arguments.threads)
            with tempfile.TemporaryDirectory() as home:
                corpora = Corpora(Path(home))
                ingest([Pool(name, rows)], corpora, "pool", encoder)
                corpus = corpora.open("pool", encoder)
                for sort, asked in questions(rows).items():
                    for way, (*shares, every) in recalls(corpus, asked).items():
                        figures = " ".join(f"{share:5.1f}" for share in shares) + f" {every:7.1f}"
                        print(f"{name:14} {sort:6} {len(asked):<4} {way:7} {figures}    {folder}")
                corpus.close()


if __name__ == "__main__":
    main()
