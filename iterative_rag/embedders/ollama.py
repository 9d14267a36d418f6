"""Embedding models of an Ollama server, through LlamaIndex."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iterative_rag.embedders.llama_index import LlamaIndexEmbedder
from iterative_rag.protocols import Cache, Embedder
from iterative_rag.remote.api_keys import key_to_send
from iterative_rag.remote.model_spec import Spec
from iterative_rag.remote.server_calls import CallState, Server, ollama_url

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

BATCH = 64
# What these models were trained to see before a query and before a passage (their model cards).
INSTRUCTIONS = {
    "nomic-embed-text": ("search_query:", "search_document:"),
    "mxbai-embed-large": ("Represent this sentence for searching relevant passages:", None),
    "snowflake-arctic-embed": ("Represent this sentence for searching relevant passages:", None),
}


class OllamaEmbedder(LlamaIndexEmbedder):
    """`timeout` bounds each batch, in seconds."""

    def __init__(self, model: str, *, url: str = "", timeout: float = 120.0, cache: Cache | None = None) -> None:
        url = url or ollama_url()
        call = CallState()
        key = key_to_send(url, "ollama")

        def make() -> BaseEmbedding:
            from llama_index.embeddings.ollama import OllamaEmbedding

            for_query, for_text = INSTRUCTIONS.get(model.split(":")[0], (None, None))
            return OllamaEmbedding(
                model_name=model,
                base_url=url,
                embed_batch_size=BATCH,
                query_instruction=for_query,
                text_instruction=for_text,
                client_kwargs=call.http_options(url, key=key),
            )

        server = Server("ollama", url, model)
        super().__init__(make, f"ollama/{model}", server, timeout=timeout, call=call, cache=cache)


def build(spec: Spec, *, timeout: float, cache: Cache | None) -> Embedder:
    return OllamaEmbedder(spec.model, timeout=timeout, cache=cache)
