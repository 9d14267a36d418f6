"""Chooses the reranker, and keeps what it said about the passages of a query: a repeated question calls no model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from iterative_rag.errors import UsageError
from iterative_rag.protocols import Cache, Reranker
from iterative_rag.registry import RERANKERS
from iterative_rag.remote.model_spec import parse_spec
from iterative_rag.remote.server_calls import Server, as_llm_error
from iterative_rag.settings import Settings
from iterative_rag.storage.cache import cache_key
from iterative_rag.system.threads import llama_index_import

if TYPE_CHECKING:
    from llama_index.core.postprocessor.types import BaseNodePostprocessor


def reranker(wanted: object, settings: Settings, cache: Cache | None = None) -> Reranker | None:
    """None leaves passages as the index ranks them. Raises UsageError for what is not a reranker."""
    if isinstance(wanted, str):
        if wanted == "none":
            return None
        spec = parse_spec(wanted, RERANKERS)
        build: Callable[..., Reranker] = RERANKERS.load(spec.kind)
        return build(spec, settings, cache=cache) if spec.model else build(cache=cache)
    if callable(getattr(wanted, "postprocess_nodes", None)):
        return PostprocessorReranker(wanted)
    if callable(getattr(wanted, "relevance", None)) and isinstance(getattr(wanted, "name", None), str):
        return cast(Reranker, wanted)
    hint = f"Use {RERANKERS.forms}, a LlamaIndex node postprocessor, or a Reranker."
    raise UsageError(f"A {type(wanted).__name__} is not a reranker.", hint=hint)


def cached_relevance(
    cache: Cache | None, name: str, query: str, passages: Sequence[tuple[str, str]], score: Callable[[], list[float]]
) -> list[float]:
    """The scores that `score` gives, or those that the cache has, each from 0 to 1."""

    def checked(value: Any) -> list[float]:
        fits = isinstance(value, list) and len(value) == len(passages)
        if not fits or not all(isinstance(number, float) and 0 <= number <= 1 for number in value):
            raise ValueError("no scores of these passages")
        return list(value)

    if not passages:
        return []
    key = cache_key("rerank", name, query, [list(passage) for passage in passages])
    if cache is not None and (kept := cache.get(key, checked)) is not None:
        return kept
    scores = _within_bounds(score())
    if cache is not None:
        cache.put(key, scores)
    return scores


def _within_bounds(scores: Sequence[float]) -> list[float]:
    """Scores from 0 to 1 in the same order. Logits, which some models give, are squeezed by a function that, other than
    the logistic one, still tells large ones apart."""
    if all(0 <= score <= 1 for score in scores):
        return [float(score) for score in scores]
    return [0.5 + 0.5 * score / (1 + abs(score)) for score in scores]


class PostprocessorReranker:
    """Implements protocols.Reranker: the order in which the nodes come back counts, and what is left out comes last.

    A node holds the title and the text of a passage; its score is 1 divided by its rank in the index. `relevance`
    raises LLMError. Nothing is cached: the settings of the object cannot be known.
    """

    def __init__(self, postprocessor: object) -> None:
        self._postprocessor = cast("BaseNodePostprocessor", postprocessor)
        self.name = f"llama-index/{type(postprocessor).__name__}"

    def relevance(self, query: str, passages: Sequence[tuple[str, str]]) -> list[float]:
        with llama_index_import:
            from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

        nodes = [
            NodeWithScore(node=TextNode(id_=str(index), text=f"{title}\n{text}"), score=1 / (index + 1))
            for index, (title, text) in enumerate(passages)
        ]
        try:
            ranked = self._postprocessor.postprocess_nodes(nodes, query_bundle=QueryBundle(query))
        except Exception as error:  # the caller's object may raise anything
            raise as_llm_error(error, Server(type(self._postprocessor).__name__, "", ""), begun=False) from error
        scores = dict.fromkeys((str(index) for index in range(len(passages))), 0.0)
        for rank, node in enumerate(ranked):
            scores[node.node.node_id] = 1 - rank / (len(passages) + 1)
        return [scores[str(index)] for index in range(len(passages))]
