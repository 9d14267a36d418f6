"""The examples of docs/llama_index.md run in their order, with models that need no server."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from fakes import two_article_corpus
from fakes.llama_index_models import ArticleLLM, word_embedding

PAGE = Path(__file__).resolve().parents[2] / "docs" / "llama_index.md"
QDRANT = "llama_index.vector_stores.qdrant"


def examples() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect")
def test_the_examples_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    two_article_corpus.write_articles(tmp_path / "articles")
    monkeypatch.chdir(tmp_path)
    models, *others = examples()
    names: dict[str, Any] = {}
    exec(models, names)
    assert (type(names["llm"]).__name__, type(names["embed_model"]).__name__) == ("Ollama", "OllamaEmbedding")
    names |= {"llm": ArticleLLM(), "embed_model": word_embedding()}
    printed = []
    for example in others:
        if QDRANT in example and not installed(QDRANT):
            continue
        exec(example, names)
        printed.append(capsys.readouterr().out)
    indexed, asked, piped, *collection = printed
    assert indexed.startswith("2 0 0\nEdda Holm [")
    assert asked.endswith("FinalStep\nEdda Holm\n")
    assert piped.count("Edda Holm") == 3
    assert collection in ([], ["Edda Holm\n"])


def installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def test_the_agent_of_the_page_asks_the_corpus(tmp_path: Path) -> None:
    import asyncio

    from llama_index.core.agent.workflow import ReActAgent

    from iterative_rag import IterativeRAG
    from iterative_rag.integrations.llama_index import as_tool

    two_article_corpus.write_articles(tmp_path / "articles")
    IterativeRAG.index([tmp_path / "articles"], corpus="towns", embed_model=word_embedding())
    with IterativeRAG.from_settings(corpus="towns", llm=ArticleLLM(), embed_model=word_embedding()) as rag:

        async def ask() -> str:
            return str(await ReActAgent(tools=[as_tool(rag)], llm=ArticleLLM()).run(two_article_corpus.QUESTION))

        assert asyncio.run(ask()) == "Edda Holm"
