"""Invented articles about a fire and two bridges, and a model that writes texts about them: it finds the sentences that
share a word with a need, and writes what a test gives it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fakes.hashing_embedder import HashingEmbedder
from fakes.in_memory import DictCache, MemoryCorpus
from fakes.numbered_sentences import unnumbered
from fakes.scripted_llm import Scripted, ScriptedLLM
from iterative_rag.app.factory import IterativeRAG
from iterative_rag.llm.llm_backend import LLMBackend
from iterative_rag.protocols import ChatRequest
from iterative_rag.settings import Settings
from iterative_rag.text.sentences import sentences

WHY = "Why did the harbour of Karsa burn?"
COMPARE = "Compare the Orra Bridge and the Sunday Bridge."
TEXTS = {
    "Fire of Karsa": "The Fire of Karsa began on 3 May 1904 in the tar store of the harbour. A watchman had left a"
    " lamp burning in the tar store. The wind carried sparks to the timber yards. The fire destroyed 212 houses and"
    " killed 14 people. The town rebuilt the harbour in stone by 1911.",
    "Orra Bridge": "The Orra Bridge is 40 m long. The Orra Bridge was opened in 1921.",
    "Sunday Bridge": "The Sunday Bridge is 98 m long. The Sunday Bridge was opened in 1310.",
}
CAUSE, COURSE = "What caused the Fire of Karsa?", "What did the Fire of Karsa destroy?"
ASPECTS: Mapping[str, tuple[str, ...]] = {
    CAUSE: ("began on 3 May 1904", "left a lamp", "carried sparks"),
    COURSE: ("destroyed 212 houses", "rebuilt the harbour"),
    "How long is the Orra Bridge?": ("Orra Bridge is 40 m",),
    "When was the Orra Bridge opened?": ("Orra Bridge was opened",),
    "How long is the Sunday Bridge?": ("Sunday Bridge is 98 m",),
    "When was the Sunday Bridge opened?": ("Sunday Bridge was opened",),
}


def extraction(request: ChatRequest) -> dict[str, Any]:
    """A fact for each sentence of the documents that serves one of the questions asked."""
    asked = re.findall(r"^QUESTION (\d+): (.*?)(?: \(note every.*)?$", request.user, re.MULTILINE)
    facts = []
    for number, question in asked:
        parts = ASPECTS.get(f"{question}?", ())
        for sentence in sentences(unnumbered(request.user).partition("QUESTION 1")[0]):
            if any(part in sentence for part in parts):
                facts.append({"statement": sentence, "quote": sentence, "need": [int(number)], "value": ""})
    return {"facts": facts}


def numbered(request: ChatRequest) -> dict[str, int]:
    """The number of each fact that a writer is shown, by its statement."""
    lines = re.findall(r"^\[(\d+)\] (.*?) \(", request.user, re.MULTILINE)
    return {statement: int(n) for n, statement in lines}


def cited(request: ChatRequest, *parts: str) -> str:
    """The sentences of the facts that hold these parts, each with its marker."""
    facts = numbered(request)
    said = [(text, n) for part in parts for text, n in facts.items() if part in text]
    return " ".join(f"{text.rstrip('.')} [{n}]." for text, n in said)


Writing = Callable[[ChatRequest], Scripted]


class Author:
    """A question asked over these articles, of a model with these replies."""

    def __init__(self, write: Writing | Sequence[Scripted | Writing], **replies: Any) -> None:
        plan = {"form": "explanation", "status": "needs", "needs": [CAUSE, COURSE], "last": True}
        script = {"analyse": lambda request: plan, "extract": extraction, "write": write, **replies}
        self.llm = ScriptedLLM(script)

    def rag(self, texts: Mapping[str, str] = TEXTS, **settings: Any) -> IterativeRAG:
        chosen = Settings.model_validate({"shortlist": 2, "retries": 0, **settings})
        cache = DictCache()
        backend = LLMBackend(self.llm, None, cache, chosen)
        corpus = MemoryCorpus(dict(texts))
        return IterativeRAG(chosen, corpus=corpus, backend=backend, cache=cache, embedder=HashingEmbedder())

    @property
    def calls(self) -> dict[str, int]:
        return {role: len(self.llm.asked(role)) for role in dict.fromkeys(one.role for one in self.llm.requests)}


def text_reply(answer: str, **fields: Any) -> dict[str, Any]:
    return {"status": "answered", "answer": answer, "missing": "", "confidence": 0.8, **fields}


def fenced(reply: Mapping[str, Any]) -> str:
    """As chat models wrap JSON."""
    return f"Sure! Here is the text you asked for:\n```json\n{json.dumps(reply)}\n```\nLet me know if you need more."
