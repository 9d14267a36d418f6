"""Rerankers: what is set or given becomes one. Rerank endpoints of servers, and node postprocessors of LlamaIndex."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from iterative_rag.errors import LLMServerError, UsageError
from iterative_rag.protocols import Cache, Reranker
from iterative_rag.registry import RERANKERS
from iterative_rag.remote.api_keys import key_to_send
from iterative_rag.remote.model_spec import Spec, parse_spec
from iterative_rag.remote.server_calls import CallState, Server, as_llm_error, with_retries
from iterative_rag.settings import Settings
from iterative_rag.storage.cache import NoCache, cache_key
from iterative_rag.system.files import json_value
from iterative_rag.system.threads import llama_index_import

if TYPE_CHECKING:
    from llama_index.core.postprocessor.types import BaseNodePostprocessor


def reranker(wanted: object, settings: Settings, cache: Cache | None = None) -> Reranker:
    """Raises UsageError for what is not a reranker."""
    if isinstance(wanted, str):
        spec = parse_spec(wanted, RERANKERS)
        build: Callable[..., Reranker] = RERANKERS.load(spec.kind)
        return build(spec, settings, cache=cache) if spec.model else build(cache=cache)
    if callable(getattr(wanted, "postprocess_nodes", None)):
        return PostprocessorReranker(wanted)
    if callable(getattr(wanted, "relevance", None)) and isinstance(getattr(wanted, "name", None), str):
        return cast(Reranker, wanted)
    hint = f"Use {RERANKERS.forms}, a LlamaIndex node postprocessor, or a Reranker."
    raise UsageError(f"A {type(wanted).__name__} is not a reranker.", hint=hint)


class RerankServer:
    """Implements protocols.Reranker by the endpoint of vLLM, llama.cpp, Jina, Cohere and others that share this form:

    POST URL/rerank {model, query, documents, top_n} -> {"results": [{"index": 0, "relevance_score": 0.9}, ...]}

    What it said about the passages of a query is kept: a repeated question calls no model. `relevance` raises LLMError.
    Sends only the key of the server's own host.
    """

    def __init__(self, spec: Spec, settings: Settings, cache: Cache | None = None) -> None:
        self.name = f"openai-like/{spec.model}@{spec.url}"
        self._server, self._settings = Server("openai-like", spec.url, spec.model), settings
        self._state, self._key, self._cache = CallState(), key_to_send(spec.url, "openai-like"), cache or NoCache()

    def relevance(self, query: str, passages: Sequence[tuple[str, str]]) -> list[float]:
        def checked(value: Any) -> list[float]:
            fits = isinstance(value, list) and len(value) == len(passages)
            if not fits or not all(isinstance(number, float) and 0 <= number <= 1 for number in value):
                raise ValueError("no scores of these passages")
            return list(value)

        if not passages:
            return []
        key = cache_key("rerank", self.name, query, [list(passage) for passage in passages])
        if (kept := self._cache.get(key, checked)) is not None:
            return kept
        documents, settings = [f"{title}\n{text}" for title, text in passages], self._settings
        scores = with_retries(lambda: self._once(query, documents), settings.timeout, self._state, settings.retries)
        if not all(0 <= score <= 1 for score in scores):
            # Logits. Other than the logistic function, this one still tells large ones apart.
            scores = [0.5 + 0.5 * score / (1 + abs(score)) for score in scores]
        self._cache.put(key, scores)
        return scores

    def _once(self, query: str, documents: Sequence[str]) -> list[float]:
        """The scores in the order of the documents. Raises LLMError, also where one has none."""
        import httpx

        url = self._server.url
        body = {"model": self._server.model, "query": query, "documents": documents, "top_n": len(documents)}
        try:
            with httpx.Client(**self._state.http_options(url, key=self._key)) as client:
                reply = json_value(client.post(f"{url}/rerank", json=body).raise_for_status().content)
        except (httpx.HTTPError, ValueError) as error:
            raise as_llm_error(error, self._server, begun=False) from error
        rows = reply.get("results") if isinstance(reply, dict) else None
        scores: dict[int, float] = {}
        for row in rows if isinstance(rows, list) else []:
            if isinstance(row, dict) and type(row.get("index")) is int:
                score = row.get("relevance_score", row.get("score"))
                if isinstance(score, int | float) and math.isfinite(score):
                    scores[row["index"]] = float(score)
        if scores.keys() != set(range(len(documents))):
            hint = "The URL of a rerank server is that before /rerank, such as http://127.0.0.1:8000/v1."
            told = f"{self._server} did not score the passages: {len(scores)} scores for {len(documents)}."
            raise LLMServerError(told, status=200, hint=hint)
        return [scores[index] for index in range(len(documents))]


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
