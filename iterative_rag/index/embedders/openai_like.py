"""Embedding models of OpenAI-compatible servers, through LlamaIndex."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from iterative_rag.errors import EmbedderError
from iterative_rag.index.embedders.llama_index import LlamaIndexEmbedder
from iterative_rag.protocols import Cache, Embedder
from iterative_rag.remote.api_keys import key_to_send
from iterative_rag.remote.hosts import is_openai
from iterative_rag.remote.model_spec import Spec
from iterative_rag.remote.server_calls import CallState, Server
from iterative_rag.system.installation import install_command

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

BATCH = 64


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


def build(spec: Spec, *, timeout: float, cache: Cache | None) -> Embedder:
    return OpenAILikeEmbedder(spec.model, spec.url, timeout=timeout, cache=cache)
