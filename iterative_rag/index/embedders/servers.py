"""Embedding models of Ollama and of OpenAI-compatible servers, through LlamaIndex."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from iterative_rag.errors import EmbedderError
from iterative_rag.errors.installation import install_command
from iterative_rag.index.embedders.llama_index import LlamaIndexEmbedder
from iterative_rag.protocols import Cache, Embedder, Vectors
from iterative_rag.remote.api_keys import key_to_send
from iterative_rag.remote.hosts import is_openai
from iterative_rag.remote.model_spec import Spec
from iterative_rag.remote.server_calls import CallState, Server, ollama_url

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

BATCH = 64  # texts of a request
_REPRESENT = "Represent this sentence for searching relevant passages: "
# What these models were trained to see before a query and before a passage (their model cards), as it stands there:
# Qwen's has no space at its end. Ollama adds none of it. bge-m3 wants nothing, as every other model gets.
PREFIXES = {
    "embeddinggemma": ("task: search result | query: ", "title: none | text: "),
    "mxbai-embed-large": (_REPRESENT, ""),
    "nomic-embed-text": ("search_query: ", "search_document: "),
    "qwen3-embedding": (
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
        "",
    ),
    "snowflake-arctic-embed": (_REPRESENT, ""),
    "snowflake-arctic-embed2": ("query: ", ""),
}


class OllamaEmbedder(LlamaIndexEmbedder):
    """`timeout` bounds each batch, in seconds."""

    def __init__(self, model: str, *, url: str = "", timeout: float = 120.0, cache: Cache | None = None) -> None:
        url = url or ollama_url()
        call = CallState()
        key = key_to_send(url, "ollama")

        def make() -> BaseEmbedding:
            from llama_index.embeddings.ollama import OllamaEmbedding

            return OllamaEmbedding(
                model_name=model,
                base_url=url,
                embed_batch_size=BATCH,
                client_kwargs=call.http_options(url, key=key),
            )

        server = Server("ollama", url, model)
        super().__init__(make, f"ollama/{model}", server, timeout=timeout, call=call, cache=cache)
        self._for_query, self._for_document = PREFIXES.get(model.split(":")[0].split("/")[-1], ("", ""))

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimensions). Raises EmbedderError."""
        return super().embed_documents([self._for_document + text for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """Shape (dimensions,). Raises EmbedderError."""
        return super().embed_query(self._for_query + text)


def build_ollama(spec: Spec, *, timeout: float, cache: Cache | None) -> Embedder:
    return OllamaEmbedder(spec.model, timeout=timeout, cache=cache)


class OpenAILikeEmbedder(LlamaIndexEmbedder):
    """Sends only the key that belongs to the server's host. `timeout` bounds each batch, in seconds."""

    def __init__(self, model: str, url: str, *, timeout: float = 120.0, cache: Cache | None = None) -> None:
        if find_spec("llama_index.embeddings.openai_like") is None:
            raise EmbedderError("OpenAI-compatible servers need an extra package.", hint=install_command("openai-like"))
        call = CallState()
        key = key_to_send(url, "openai-like")

        def make() -> BaseEmbedding:
            import httpx
            from llama_index.embeddings.openai_like import OpenAILikeEmbedding

            return OpenAILikeEmbedding(
                model_name=model,
                api_base=url,
                api_key="none",  # the HTTP client signs
                embed_batch_size=BATCH,
                max_retries=0,
                timeout=timeout,
                http_client=httpx.Client(**call.http_options(url, key=key, own_headers=is_openai(url))),
            )

        server = Server("openai-like", url, model)
        super().__init__(make, f"openai-like/{model}@{url}", server, timeout=timeout, call=call, cache=cache)


def build_openai_like(spec: Spec, *, timeout: float, cache: Cache | None) -> Embedder:
    return OpenAILikeEmbedder(spec.model, spec.url, timeout=timeout, cache=cache)
