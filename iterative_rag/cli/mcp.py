"""`iterative-rag mcp`: the corpora as tools of an agent, over stdin and stdout."""

from __future__ import annotations

from typing import Annotated

from iterative_rag.cli.options import (
    AnswerLanguage,
    CorpusName,
    EmbedderSpec,
    FastLLMSpec,
    Guess,
    IndexAt,
    LLMSpec,
    MaxCalls,
    MaxHops,
    MaxSeconds,
    MaxTokens,
    PresetName,
    RerankSpec,
    UseCache,
    choice,
    settings_from,
)
from iterative_rag.registry import STRATEGIES

StrategyName = Annotated[str | None, choice(STRATEGIES, help="How questions are worked on, unless a request says.")]


def mcp(
    corpus: CorpusName = None,
    llm: LLMSpec = None,
    fast_llm: FastLLMSpec = None,
    embedder: EmbedderSpec = None,
    index: IndexAt = None,
    rerank: RerankSpec = None,
    strategy: StrategyName = None,
    preset: PresetName = None,
    max_hops: MaxHops = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_seconds: MaxSeconds = None,
    guess: Guess = None,
    answer_language: AnswerLanguage = None,
    cache: UseCache = None,
) -> None:
    """Serve the corpora to an agent by the Model Context Protocol, over stdin and stdout.

    Programs such as Claude Desktop or VS Code start this command themselves; docs/interfaces.md shows what to put into
    their settings. It ends when its stdin does. The tools only read.
    """
    settings = settings_from(
        corpus=corpus,
        llm=llm,
        fast_llm=fast_llm,
        embedder=embedder,
        index=index,
        rerank=rerank,
        strategy=strategy,
        preset=preset and preset.value,
        max_hops=max_hops,
        max_calls=max_calls,
        max_tokens=max_tokens,
        max_seconds=max_seconds,
        guess=guess,
        answer_language=answer_language,
        cache=cache,
    )
    from importlib.util import find_spec

    from iterative_rag.errors import MissingExtra

    if find_spec("mcp") is None:
        raise MissingExtra("serve")
    from iterative_rag.serve.mcp_door.stdio import serve_stdio

    serve_stdio(settings)
