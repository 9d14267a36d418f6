"""From the setting `rerank`, a LlamaIndex postprocessor or a reranker of the caller's own to a Reranker."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from iterative_rag.errors import UsageError
from iterative_rag.protocols import Cache, Reranker
from iterative_rag.registry import RERANKERS
from iterative_rag.remote.model_spec import parse_spec
from iterative_rag.settings import Settings


def reranker(wanted: object, settings: Settings, cache: Cache | None = None) -> Reranker | None:
    """None leaves passages as the index ranks them. Raises UsageError for what is not a reranker."""
    if isinstance(wanted, str):
        if wanted == "none":
            return None
        spec = parse_spec(wanted, RERANKERS)
        build: Callable[..., Reranker] = RERANKERS.load(spec.kind)
        return build(spec, settings, cache=cache) if spec.model else build(cache=cache)
    if callable(getattr(wanted, "postprocess_nodes", None)):
        from iterative_rag.retrieval.rerankers.llama_index import PostprocessorReranker

        return PostprocessorReranker(wanted)
    if callable(getattr(wanted, "relevance", None)) and isinstance(getattr(wanted, "name", None), str):
        return cast(Reranker, wanted)
    raise UsageError(
        f"A {type(wanted).__name__} is not a reranker.",
        hint=f"Use {RERANKERS.forms}, a LlamaIndex node postprocessor, or a Reranker.",
    )
