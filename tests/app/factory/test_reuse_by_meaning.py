"""A question in other words reads nothing again: what was extracted is reused, verified in the document of today."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from fakes.in_memory import DictCache, MemoryCorpus
from iterative_rag.app.factory import IterativeRAG
from iterative_rag.llm.llm_backend import LLMBackend
from iterative_rag.llm.providers.scripted import ScriptedLLM
from iterative_rag.protocols import ChatRequest, Vectors
from iterative_rag.settings import Settings
from iterative_rag.types import Answer, Status

TEXT = "Quill Hall is a concert hall. It was designed by Maren Tove."


class Alike:
    """An embedder for which all texts are alike: the words alone keep needs apart."""

    name, dimensions = "alike", 2

    def embed_query(self, text: str) -> Vectors:
        return np.array([1.0, 0.0], np.float32)

    def embed_documents(self, texts: object) -> Vectors:
        raise AssertionError("no document is embedded here")


def mind() -> ScriptedLLM:
    """Looks up the question itself, quotes who designed the hall, and answers with that."""

    def analyse(request: ChatRequest) -> Mapping[str, Any]:
        question = re.findall(r"^ORIGINAL QUESTION: (.*)$", request.user, re.MULTILINE)[-1]
        return {"status": "needs", "needs": [question]}

    def extract(request: ChatRequest) -> Mapping[str, Any]:
        fact = {
            "statement": "Maren Tove designed Quill Hall.",
            "quote": "designed by Maren Tove",
            "value": "Maren Tove",
        }
        return {"facts": [{**fact, "need": [1]}] if fact["quote"] in request.user else []}

    def answer(request: ChatRequest) -> Mapping[str, Any]:
        told = {"answer": "Maren Tove designed Quill Hall [1].", "short_answer": "Maren Tove", "confidence": 0.9}
        return {"status": "answered", **told}

    return ScriptedLLM({"analyse": analyse, "extract": extract, "answer": answer})


def asked(llm: ScriptedLLM, cache: DictCache, question: str, text: str = TEXT, **settings: Any) -> tuple[Answer, int]:
    """The answer, and how many extractions it took."""
    chosen = Settings(**settings)
    before = len(llm.asked("extract"))
    backend = LLMBackend(llm, None, cache, chosen)
    corpus = MemoryCorpus({"Quill Hall": text})
    rag = IterativeRAG(chosen, corpus=corpus, backend=backend, cache=cache, embedder=Alike())
    return rag.ask(question), len(llm.asked("extract")) - before


def test_the_same_question_in_other_words_costs_no_extraction() -> None:
    llm, cache = mind(), DictCache()
    assert asked(llm, cache, "Who designed Quill Hall?")[1] == 1
    answer, calls = asked(llm, cache, "Who was the architect of Quill Hall?")
    assert (answer.status, answer.short_answer, calls) == (Status.ANSWERED, "Maren Tove", 0)
    assert answer.citations[0].quote == "designed by Maren Tove"
    assert answer.hops[0].needs == ("Who was the architect of Quill Hall?",)


def test_a_changed_document_and_another_fact_are_read() -> None:
    llm, cache = mind(), DictCache()
    asked(llm, cache, "Who designed Quill Hall?")
    assert asked(llm, cache, "Who was the architect of Quill Hall?", f"{TEXT} It was sold in 1950.")[1] == 1
    assert asked(llm, cache, "Who owned Quill Hall?")[1] > 0
