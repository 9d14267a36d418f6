"""From a spec, a LlamaIndex object or an embedder of our own to an Embedder. (The factory builds `builtin`.)"""

from __future__ import annotations

from typing import cast

from iterative_rag.errors import UsageError
from iterative_rag.protocols import Cache, Embedder
from iterative_rag.remote.server_calls import parse_spec

FORMS = "Use builtin, ollama/MODEL or openai-like/MODEL@URL, a LlamaIndex BaseEmbedding, or an Embedder."


def embedder(wanted: object, *, timeout: float = 120.0, cache: Cache | None = None) -> Embedder:
    """`timeout` bounds a batch, in seconds; `cache` keeps the dimensions of a server's model.

    Raises UsageError for anything else, EmbedderError where a package is missing.
    """
    if isinstance(wanted, str):
        spec = parse_spec(wanted)
        if spec.kind == "ollama":
            from iterative_rag.embedders.ollama import OllamaEmbedder

            return OllamaEmbedder(spec.model, timeout=timeout, cache=cache)
        if spec.kind == "openai-like":
            from iterative_rag.embedders.openai_like import OpenAILikeEmbedder

            return OpenAILikeEmbedder(spec.model, spec.url, timeout=timeout, cache=cache)
        raise UsageError(f"{wanted!r} names no embedding model.", hint=FORMS)
    if callable(getattr(wanted, "get_query_embedding", None)):
        from llama_index.core.base.embeddings.base import BaseEmbedding

        from iterative_rag.embedders.llama_index import wrapped

        return wrapped(cast(BaseEmbedding, wanted), timeout=timeout)
    if callable(getattr(wanted, "embed_query", None)) and isinstance(getattr(wanted, "name", None), str):
        return cast(Embedder, wanted)
    raise UsageError(f"A {type(wanted).__name__} is not an embedder.", hint=FORMS)
