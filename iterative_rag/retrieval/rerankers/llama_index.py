"""Any node postprocessor of LlamaIndex as a reranker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from iterative_rag.remote.server_calls import Server, as_llm_error
from iterative_rag.system.threads import llama_index_import

if TYPE_CHECKING:
    from llama_index.core.postprocessor.types import BaseNodePostprocessor


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
            NodeWithScore(node=TextNode(id_=str(place), text=f"{title}\n{text}"), score=1 / (place + 1))
            for place, (title, text) in enumerate(passages)
        ]
        try:
            ranked = self._postprocessor.postprocess_nodes(nodes, query_bundle=QueryBundle(query))
        except Exception as error:  # the caller's object may raise anything
            raise as_llm_error(error, Server(type(self._postprocessor).__name__, "", ""), begun=False) from error
        scores = dict.fromkeys((str(place) for place in range(len(passages))), 0.0)
        for rank, node in enumerate(ranked):
            scores[node.node.node_id] = 1 - rank / (len(passages) + 1)
        return [scores[str(place)] for place in range(len(passages))]
