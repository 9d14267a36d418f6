"""Rerank endpoints of servers: vLLM, llama.cpp, Jina, Cohere and others that share this form.

POST URL/rerank {model, query, documents, top_n} -> {"results": [{"index": 0, "relevance_score": 0.9}, ...]}
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from iterative_rag.errors import LLMServerError
from iterative_rag.protocols import Cache
from iterative_rag.remote.api_keys import key_to_send
from iterative_rag.remote.model_spec import Spec
from iterative_rag.remote.server_calls import CallState, Server, as_llm_error, with_retries
from iterative_rag.retrieval.rerankers import cached_relevance
from iterative_rag.settings import Settings


class RerankServer:
    """Implements protocols.Reranker. `relevance` raises LLMError. Sends only the key of the server's own host."""

    def __init__(self, spec: Spec, settings: Settings, cache: Cache | None = None) -> None:
        self.name = f"openai-like/{spec.model}@{spec.url}"
        self._server, self._settings, self._cache = Server("openai-like", spec.url, spec.model), settings, cache
        self._state, self._key = CallState(), key_to_send(spec.url, "openai-like")

    def relevance(self, query: str, passages: Sequence[tuple[str, str]]) -> list[float]:
        def score() -> list[float]:
            documents = [f"{title}\n{text}" for title, text in passages]
            settings = self._settings
            return with_retries(lambda: self._once(query, documents), settings.timeout, self._state, settings.retries)

        return cached_relevance(self._cache, self.name, query, passages, score)

    def _once(self, query: str, documents: Sequence[str]) -> list[float]:
        import httpx

        from iterative_rag.remote.reply_limits import read_json

        url = self._server.url
        body = {"model": self._server.model, "query": query, "documents": documents, "top_n": len(documents)}
        try:
            with httpx.Client(**self._state.http_options(url, key=self._key)) as client:
                reply = read_json(client.post(f"{url}/rerank", json=body).raise_for_status().content)
        except (httpx.HTTPError, ValueError) as error:
            raise as_llm_error(error, self._server, begun=False) from error
        return self._read(reply, len(documents))

    def _read(self, reply: Any, count: int) -> list[float]:
        """The scores in the order of the documents. Raises LLMServerError where one has none."""
        rows = reply.get("results") if isinstance(reply, dict) else None
        scores: dict[int, float] = {}
        for row in rows if isinstance(rows, list) else []:
            if isinstance(row, dict) and type(row.get("index")) is int:
                score = row.get("relevance_score", row.get("score"))
                if isinstance(score, int | float) and math.isfinite(score):
                    scores[row["index"]] = float(score)
        if scores.keys() != set(range(count)):
            hint = "The URL of a rerank server is that before /rerank, such as http://127.0.0.1:8000/v1."
            told = f"{self._server} did not score the passages: {len(scores)} scores for {count}."
            raise LLMServerError(told, status=200, hint=hint)
        return [scores[index] for index in range(count)]
