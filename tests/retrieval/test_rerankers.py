"""Rerankers of every kind, through the public API: a corpus is searched again by what the reranker says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fakes.search_engine_server import CannedReply, answering, json_reply
from iterative_rag import IterativeRAG, Settings
from iterative_rag.app.factory import index_paths
from iterative_rag.errors import LLMError, LLMServerError, LLMUnreachable, UsageError
from iterative_rag.index import rank_fusion
from iterative_rag.registry import RERANKERS
from iterative_rag.remote.model_spec import parse_spec

QUERY = "Which harbour has the oldest crane?"
TITLES = tuple(f"Harbour {n}" for n in range(6))
LAST = "Harbour 5"


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(tmp_path / "home"))
    folder = tmp_path / "articles"
    folder.mkdir()
    for n, title in enumerate(TITLES):
        words = "old crane " * (6 - n)
        (folder / f"{title}.md").write_text(f"# {title}\n\nThe {words}stands in the harbour of town {n}.\n", "utf-8")
    index_paths([folder], settings=Settings(), corpus="harbours")


@pytest.fixture(autouse=True)
def decisive(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reranker's ranking counts for so much that it is the order of the hits."""
    monkeypatch.setattr(rank_fusion, "RERANK_WEIGHT", 100.0)


def found(rerank: object, **overrides: Any) -> list[str]:
    settings = Settings(corpus="harbours", llm="builtin", retries=0, **overrides)
    rag = IterativeRAG.from_settings(settings, rerank=rerank)
    try:
        return [hit.title for hit in rag.corpus.search([QUERY], 6)[0]]
    finally:
        rag.close()


class Backwards:
    """Likes the passages by their title, the last most."""

    name = "backwards"

    def __init__(self) -> None:
        self.read: list[int] = []

    def relevance(self, query: str, passages: Sequence[tuple[str, str]]) -> list[float]:
        self.read.append(len(passages))
        return [int(title.split()[-1]) / 10 for title, _ in passages]


def ranked_by(score: Callable[[str], float], *, name: str = "relevance_score") -> CannedReply:
    """The reply of a rerank server to six documents, best first. Documents arrive in the order of the index."""
    return json_reply({"results": [{"index": n, name: score(str(n))} for n in reversed(range(6))], "usage": {}})


@pytest.mark.usefixtures("corpus")
def test_an_object_that_ranks_passages_is_a_reranker() -> None:
    plain, backwards = found(None), Backwards()
    assert plain[0] != LAST
    assert found(backwards) == list(reversed(TITLES))
    with pytest.raises(UsageError, match="A object is not a reranker") as refused:
        found(object())
    assert "a LlamaIndex node postprocessor" in refused.value.hint


@pytest.mark.usefixtures("corpus")
@pytest.mark.parametrize("name", ["relevance_score", "score"])
def test_a_rerank_server_is_asked_once_for_all_passages_and_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ITERATIVE_RAG_API_KEY", "rerank-secret")
    monkeypatch.setenv("ITERATIVE_RAG_API_KEY_HOST", "127.0.0.1")
    plain = found(None)
    with answering(ranked_by(lambda n: 12.0 * int(n) - 30, name=name)) as server:
        spec = f"openai-like/bge@{server.url}/v1"
        assert found(spec) == list(reversed(plain))
        assert found(spec) == list(reversed(plain))  # from the cache
    (asked,) = server.asked
    assert (asked.path, asked.body["model"], asked.body["query"], asked.body["top_n"]) == (
        "/v1/rerank",
        "bge",
        QUERY,
        6,
    )
    assert all("stands in the harbour" in text for text in asked.body["documents"])
    assert asked.headers["Authorization"] == "Bearer rerank-secret"


@pytest.mark.usefixtures("corpus")
@pytest.mark.parametrize(
    ("reply", "error", "told"),
    [
        (json_reply({"results": [{"index": 0, "relevance_score": 0.5}]}), LLMServerError, "1 scores for 6"),
        (json_reply({"detail": "no"}), LLMServerError, "0 scores for 6"),
        (json_reply([]), LLMServerError, "0 scores for 6"),
        (json_reply({"results": [{"index": "0", "relevance_score": "x"}, 3]}), LLMServerError, "0 scores for 6"),
        (json_reply({}, status=401), LLMServerError, "401"),
        (CannedReply(b"<html>"), LLMError, "127.0.0.1"),
    ],
)
def test_a_fault_of_a_rerank_server_is_no_ranking(reply: CannedReply, error: type[LLMError], told: str) -> None:
    with answering(reply) as server, pytest.raises(error, match=told) as raised:
        found(f"openai-like/bge@{server.url}", cache=False)
    assert raised.value.hint
    with pytest.raises(LLMUnreachable):
        found("openai-like/bge@http://127.0.0.1:9", cache=False)


@pytest.fixture
def postprocessors() -> Any:
    from llama_index.core import postprocessor

    return postprocessor


@pytest.mark.usefixtures("corpus")
def test_any_node_postprocessor_of_llama_index(postprocessors: Any) -> None:
    from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
    from llama_index.core.llms.callbacks import llm_completion_callback

    plain = found(None)

    class Choosing(CustomLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata()

        @llm_completion_callback()
        def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
            shown = prompt[: prompt.rindex(LAST)].rsplit("Document ", 1)[1].split(":")[0]
            return CompletionResponse(text=f"Doc: {shown}, Relevance: 9\n")

        def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
            raise NotImplementedError

    chosen = found(postprocessors.LLMRerank(llm=Choosing(), top_n=3))
    assert chosen == [LAST, *(title for title in plain if title != LAST)]
    kept = found(postprocessors.SimilarityPostprocessor(similarity_cutoff=0.4))
    assert kept == plain  # the nodes' scores are 1, 1/2, 1/3 ...: only the first two pass, in their order

    class Broken(Choosing):
        def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
            raise RuntimeError("out of memory")

    with pytest.raises(LLMError, match=r"LLMRerank failed: RuntimeError: out of memory"):
        found(postprocessors.LLMRerank(llm=Broken()))


@pytest.mark.parametrize("rerank", ["magic", "ollama", "ollama/", "reader/x", ""])
def test_a_setting_that_names_no_reranker_is_refused(rerank: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_spec(rerank, RERANKERS)
    assert "openai-like/MODEL@URL" in refused.value.hint
