"""A part of a corpus: it finds nothing outside, and ranks as an index of its documents alone."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from contextlib import closing

import numpy as np
import pytest

from fakes.hashing_embedder import HashingEmbedder
from fakes.in_memory import index_documents
from iterative_rag.errors import CorpusError
from iterative_rag.index.corpora import Corpora, IndexedCorpus
from iterative_rag.index.filters import CorpusPart
from iterative_rag.protocols import Corpus, Vectors
from iterative_rag.types import Document

QUERIES = [
    "Which river has a castle, a bridge, a market and a canal?",
    "the painter of the harbour, the king, the monk and the school",
    "queen battle treaty monk organ valley",
]
WORDS = sorted({word.strip("?,") for query in QUERIES for word in query.split()})


class Scattered(HashingEmbedder):
    """A direction of its own for every text: no two passages are equally near to a query."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") for text in texts]
        vectors = np.array([np.random.default_rng(seed).standard_normal(self.dimensions) for seed in seeds])
        unit: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        return unit


@pytest.fixture
def embedder() -> HashingEmbedder:
    return Scattered(64)


def invented(count: int) -> list[Document]:
    """Documents of several passages; each passage has words and a length of its own, so that no two tie."""
    draw = random.Random(7)
    made = []
    for number in range(count):
        sentences = [" ".join(draw.choices(WORDS, k=draw.randint(9, 30))) + f" n{number}." for _ in range(8)]
        made.append(Document(f"d{number:02}", f"Place {number}", " ".join(sentences), "memory"))
    return made


@pytest.fixture
def whole(corpora: Corpora, embedder: HashingEmbedder) -> Iterator[IndexedCorpus]:
    index_documents(corpora, "whole", invented(40), embedder)
    with closing(corpora.open("whole", embedder)) as opened:
        yield opened


@pytest.mark.parametrize("size", [1, 5, 20])
def test_it_ranks_as_an_index_of_these_documents_alone(
    whole: IndexedCorpus, corpora: Corpora, embedder: HashingEmbedder, size: int
) -> None:
    documents = random.Random(size).sample(invented(40), size)
    index_documents(corpora, "alone", documents, embedder)
    part: Corpus = CorpusPart(whole, [document.id for document in documents])
    with closing(corpora.open("alone", embedder)) as alone:
        expected = alone.search(QUERIES, 200)
        found = part.search(QUERIES, 200)
    # Ranks of both halves, scores and order: BM25 too must not know how often a word stands outside.
    assert found == expected
    assert {hit.document_id for hits in found for hit in hits} == {document.id for document in documents}
    assert any(hit.sparse_rank for hits in found for hit in hits)


def test_only_current_versions_are_found(whole: IndexedCorpus, corpora: Corpora, embedder: HashingEmbedder) -> None:
    part = CorpusPart(whole, ["d00", "d01"])
    part.search(QUERIES, 5)
    before = part.fingerprint
    changed = [Document("d00", "Place 0", "A zeppelin landed here.", "memory"), *invented(40)[1:]]
    index_documents(corpora, "whole", changed, embedder)
    [hits] = part.search(["zeppelin"], 100)
    assert hits[0].document_id == "d00"
    assert [(hit.start, hit.end) for hit in hits if hit.document_id == "d00"] == [(0, len("A zeppelin landed here."))]
    assert part.fingerprint != before


def test_documents_outside_cannot_be_read(whole: IndexedCorpus) -> None:
    part = CorpusPart(whole, ["d00"])
    assert part.document("d00") == whole.document("d00")
    part.close()
    assert whole.search(QUERIES, 1)[0]
    with pytest.raises(CorpusError, match="does not belong to the part"):
        part.document("d01")
