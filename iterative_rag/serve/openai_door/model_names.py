"""The models: `iterative-rag:CORPUS`, or `iterative-rag:CORPUS:STRATEGY` for another strategy than the server's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from iterative_rag.errors import CorpusNotFound
from iterative_rag.registry import STRATEGIES
from iterative_rag.serve.openai_door.protocol_errors import ModelUnknown
from iterative_rag.serve.rag_pool import RagPool

FAMILY = "iterative-rag"


@dataclass(frozen=True, slots=True)
class ModelName:
    """`strategy` is "" for the server's."""

    corpus: str
    strategy: str = ""

    def __str__(self) -> str:
        return ":".join(filter(None, (FAMILY, self.corpus, self.strategy)))


def offered(pool: RagPool) -> list[ModelName]:
    """The models that are listed: each corpus, and then with each strategy that the backend can follow."""
    corpora = list(dict.fromkeys([pool.default_corpus, *pool.corpora()]))
    strategies = STRATEGIES.offered_with(pool.backends[0])
    with_strategy = [ModelName(corpus, strategy) for corpus in corpora for strategy in strategies]
    return [*(ModelName(corpus) for corpus in corpora), *with_strategy]


def parsed(model: str, pool: RagPool) -> ModelName:
    """The name alone stands for the default corpus; several stand between commas. Raises ModelUnknown."""
    family, _, rest = model.partition(":")
    corpus, _, strategy = rest.partition(":")
    if family != FAMILY or (strategy and strategy not in STRATEGIES.offered):
        raise ModelUnknown(model)
    try:
        return ModelName(pool.served(corpus), strategy)
    except CorpusNotFound as error:
        raise ModelUnknown(model) from error


def model_json(name: ModelName, created: int) -> dict[str, Any]:
    return {"id": str(name), "object": "model", "created": created, "owned_by": FAMILY}
