"""From a spec, a LlamaIndex object or an embedder of the caller's own to an Embedder."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from iterative_rag.errors import UsageError
from iterative_rag.protocols import Cache, Embedder
from iterative_rag.registry import EMBEDDERS
from iterative_rag.remote.model_spec import parse_spec


def embedder(wanted: object, *, timeout: float = 120.0, cache: Cache | None = None) -> Embedder:
    """`timeout` bounds a batch, in seconds; `cache` keeps the dimensions of a server's model. Raises UsageError for
    what is not an embedder, EmbedderError where a package is missing."""
    if isinstance(wanted, str):
        spec = parse_spec(wanted, EMBEDDERS)
        build: Callable[..., Embedder] = EMBEDDERS.load(spec.kind)
        return build(spec, timeout=timeout, cache=cache)
    if callable(getattr(wanted, "get_query_embedding", None)):
        from llama_index.core.base.embeddings.base import BaseEmbedding

        from iterative_rag.index.embedders.llama_index import wrapped

        return wrapped(cast(BaseEmbedding, wanted), timeout=timeout)
    if callable(getattr(wanted, "embed_query", None)) and isinstance(getattr(wanted, "name", None), str):
        return cast(Embedder, wanted)
    message = f"A {type(wanted).__name__} is not an embedder."
    raise UsageError(message, hint=f"Use {EMBEDDERS.forms}, a LlamaIndex BaseEmbedding, or an Embedder.")
