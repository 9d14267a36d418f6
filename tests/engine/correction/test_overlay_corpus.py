"""What is gathered during a run stands beside the corpus, and nowhere else."""

from __future__ import annotations

import pytest

from fakes.in_memory import MemoryCorpus
from iterative_rag.engine.correction.web_search import OverlayCorpus
from iterative_rag.errors import CorpusError
from iterative_rag.types import Document


class Corpus(MemoryCorpus):
    closed = False

    def close(self) -> None:
        self.closed = True


def page(n: int, text: str = "Lit in 1857.") -> Document:
    return Document(f"web{n}", f"Page {n}", text, f"https://a.example/{n}", f"https://a.example/{n}", (), "2025-02-01")


def test_fetched_documents_are_read_and_the_corpus_is_searched() -> None:
    inner = Corpus({"Gull Point": "Gull Point has a lamp."})
    corpus = OverlayCorpus(inner)
    corpus.add([page(1)])
    assert corpus.document("web1") == page(1)
    assert corpus.document("Gull Point").text == "Gull Point has a lamp."
    assert corpus.search(["lamp", "1857"], 5) == inner.search(["lamp", "1857"], 5)
    assert (corpus.name, corpus.fingerprint) == (inner.name, inner.fingerprint)


def test_what_neither_has_is_the_corpuss_own_error() -> None:
    with pytest.raises(CorpusError):
        OverlayCorpus(Corpus({})).document("web1")


def test_each_run_fetches_for_itself_and_leaves_the_corpus_open() -> None:
    inner = Corpus({"Gull Point": "Gull Point has a lamp."})
    first, second = OverlayCorpus(inner), OverlayCorpus(inner)
    first.add([page(1)])
    with pytest.raises(CorpusError):
        second.document("web1")
    first.close()
    with pytest.raises(CorpusError):
        first.document("web1")
    assert not inner.closed
