"""A small reply that holds a large one, from every kind of server: it is not unpacked beyond the limit."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pytest

from fakes.web_sites import sending, serving
from iterative_rag.app.factory import make_embedder
from iterative_rag.errors import IterativeRAGError
from iterative_rag.index.server.server_address import ServerAddress
from iterative_rag.index.server.server_store import ServerPlace
from iterative_rag.llm.providers.ollama import probe
from iterative_rag.remote.model_spec import Spec
from iterative_rag.retrieval.rerankers import RerankServer
from iterative_rag.settings import Settings
from iterative_rag.sources.search_engines import SearXNG

BOMB = gzip.compress(b'{"results": [' + b"[0]," * 20_000_000)
pytestmark = pytest.mark.usefixtures("short_pauses")


def probed(url: str) -> None:
    raise IterativeRAGError(probe(url, seconds=60.0).problem)


CALLS: dict[str, Callable[[str], object]] = {
    "an embedder": lambda url: make_embedder(f"openai-like/m@{url}/v1", Settings()).embed_query("a"),
    "a reranker": lambda url: RerankServer(Spec("openai-like", "m", url), Settings()).relevance("a", [("b", "c")]),
    "a search engine": lambda url: SearXNG(url, "agent").search("lamp", 3),
    "the list of models": probed,
    "Qdrant": lambda url: ServerPlace(ServerAddress("127.0.0.1", int(url.rpartition(":")[2])), "small").remove(""),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_bomb_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(sending(BOMB, Content_Type="application/json", Content_Encoding="gzip")) as (host, _):
        monkeypatch.setenv("OLLAMA_HOST", f"http://{host}")
        with pytest.raises(IterativeRAGError) as raised:
            CALLS[name](f"http://{host}")
    said = str(raised.value)
    assert "larger than the limit" in said
    assert "ollama serve" not in getattr(raised.value, "hint", "")
