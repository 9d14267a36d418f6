"""An embedding object of LlamaIndex that needs no model, and a run over the two articles with a scripted LLM."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding

from fakes import two_article_corpus
from iterative_rag.embedders.hashing import HashingEmbedder
from iterative_rag.llm.providers.scripted import ScriptedLLM
from iterative_rag.protocols import ChatRequest

ROLES = ("analyse", "extract", "rephrase", "rephrase_and_analyse", "answer")


class WordEmbedding(BaseEmbedding):
    """Texts that share words are near each other."""

    dimensions: int = 64

    @classmethod
    def class_name(cls) -> str:
        return "WordEmbedding"

    @cached_property
    def _hashing(self) -> HashingEmbedder:
        return HashingEmbedder(self.dimensions)

    def _get_text_embedding(self, text: str) -> list[float]:
        vector: list[float] = self._hashing.embed_query(text).tolist()
        return vector

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def word_embedding(dimensions: int = 64, name: str = "words") -> WordEmbedding:
    return WordEmbedding(model_name=name, dimensions=dimensions)


def two_article_llm(**roles: Any) -> ScriptedLLM:
    """Plays every role for the two articles, by what stands in its prompts; `roles` play theirs otherwise."""

    def reply(request: ChatRequest) -> str:
        assert request.schema is not None
        return two_article_corpus.play(request.schema, request.user)

    return ScriptedLLM({**dict.fromkeys(ROLES, reply), **roles})
