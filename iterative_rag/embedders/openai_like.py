"""Embedding models of OpenAI-compatible servers, through LlamaIndex."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from iterative_rag.embedders.llama_index import LlamaIndexEmbedder
from iterative_rag.errors import EmbedderError
from iterative_rag.protocols import Cache
from iterative_rag.remote import Line, Server, api_key

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

BATCH = 64
EXTRA_HINT = "pip install 'iterative-rag[openai-like]'"


class OpenAILikeEmbedder(LlamaIndexEmbedder):
    """With the key that `remote.api_key` finds. `timeout` bounds each batch, in seconds."""

    def __init__(self, model: str, url: str, *, timeout: float = 120.0, cache: Cache | None = None) -> None:
        if find_spec("llama_index.embeddings.openai_like") is None:
            raise EmbedderError("OpenAI-compatible servers need an extra package.", hint=EXTRA_HINT)
        line = Line()

        def make() -> BaseEmbedding:
            import httpx
            from llama_index.embeddings.openai_like import OpenAILikeEmbedding

            return OpenAILikeEmbedding(
                model_name=model,
                api_base=url,
                api_key=api_key(url) or "none",
                embed_batch_size=BATCH,
                max_retries=0,
                timeout=timeout,
                http_client=httpx.Client(**line.http_options(url)),
            )

        server = Server("openai-like", url, model)
        super().__init__(make, f"openai-like/{model}@{url}", server, timeout=timeout, line=line, cache=cache)
