"""Embedding models of OpenAI-compatible servers, through LlamaIndex."""

from __future__ import annotations

from iterative_rag.embedders.llama_index import LlamaIndexEmbedder
from iterative_rag.errors import EmbedderError
from iterative_rag.remote import Line, api_key

BATCH = 64
EXTRA_HINT = "pip install 'iterative-rag[openai-like]'"


class OpenAILikeEmbedder(LlamaIndexEmbedder):
    """With the key that `remote.api_key` finds. `timeout` bounds each batch, in seconds."""

    def __init__(self, model: str, url: str, *, timeout: float = 120.0) -> None:
        import httpx

        try:
            from llama_index.embeddings.openai_like import OpenAILikeEmbedding
        except ImportError as error:
            raise EmbedderError("OpenAI-compatible servers need an extra package.", hint=EXTRA_HINT) from error
        line = Line()
        embedding = OpenAILikeEmbedding(
            model_name=model,
            api_base=url,
            api_key=api_key(url) or "none",
            embed_batch_size=BATCH,
            max_retries=0,
            timeout=timeout,
            http_client=httpx.Client(**line.http_options(url)),
        )
        super().__init__(embedding, name=f"openai-like/{model}@{url}", kind="openai-like", timeout=timeout, line=line)
