"""Embedding models of Ollama and of OpenAI-compatible servers, through LlamaIndex."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from iterative_rag.errors import EmbedderError, install_command
from iterative_rag.index.embedders.llama_index import LlamaIndexEmbedder
from iterative_rag.protocols import Cache, Embedder
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


def build_ollama(spec: Spec, *, timeout: float, cache: Cache | None) -> Embedder:
    """`timeout` bounds each batch, in seconds."""
    url, call = ollama_url(), CallState()
    key = key_to_send(url, "ollama")

    def make() -> BaseEmbedding:
        from llama_index.embeddings.ollama import OllamaEmbedding

        return OllamaEmbedding(
            model_name=spec.model,
            base_url=url,
            embed_batch_size=BATCH,
            client_kwargs=call.http_options(url, key=key),
        )

    name, server = f"ollama/{spec.model}", Server("ollama", url, spec.model)
    prefixes = PREFIXES.get(spec.model.split(":")[0].split("/")[-1], ("", ""))
    return LlamaIndexEmbedder(make, name, server, timeout=timeout, call=call, cache=cache, prefixes=prefixes)


def build_openai_like(spec: Spec, *, timeout: float, cache: Cache | None) -> Embedder:
    """Sends only the key that belongs to the server's host. `timeout` bounds each batch, in seconds."""
    if find_spec("llama_index.embeddings.openai_like") is None:
        raise EmbedderError("OpenAI-compatible servers need an extra package.", hint=install_command("openai-like"))
    url, call = spec.url, CallState()
    key = key_to_send(url, "openai-like")

    def make() -> BaseEmbedding:
        import httpx
        from llama_index.embeddings.openai_like import OpenAILikeEmbedding

        return OpenAILikeEmbedding(
            model_name=spec.model,
            api_base=url,
            api_key="none",  # the HTTP client signs
            embed_batch_size=BATCH,
            max_retries=0,
            timeout=timeout,
            http_client=httpx.Client(**call.http_options(url, key=key, own_headers=is_openai(url))),
        )

    name, server = f"openai-like/{spec.model}@{url}", Server("openai-like", url, spec.model)
    return LlamaIndexEmbedder(make, name, server, timeout=timeout, call=call, cache=cache)
