"""Any LlamaIndex embedding object as an Embedder: batches, unit vectors, errors of our own; and with it the embedding
models of Ollama and of OpenAI-compatible servers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import EmbedderError, LLMError, install_command
from iterative_rag.protocols import Cache, Embedder, Vectors
from iterative_rag.remote.api_keys import key_to_send
from iterative_rag.remote.hosts import is_openai
from iterative_rag.remote.model_spec import Spec
from iterative_rag.remote.server_calls import CallState, Server, as_llm_error, ollama_url, with_retries
from iterative_rag.storage.cache import cache_key
from iterative_rag.system.threads import llama_index_import
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

# Embedded once to find out the dimensions.
PROBE = "dimensions"


class LlamaIndexEmbedder:
    """An embedding object of LlamaIndex, made by `make` with the first call: LlamaIndex takes a second to import.

    `timeout` bounds each batch, in seconds, where the object obeys `call`. What `cache` knows of the dimensions need
    not be asked again. `prefixes` stand before each query and each document.
    """

    def __init__(
        self,
        make: Callable[[], BaseEmbedding],
        name: str,
        server: Server,
        *,
        timeout: float = 120.0,
        call: CallState | None = None,
        cache: Cache | None = None,
        prefixes: tuple[str, str] = ("", ""),
    ) -> None:
        self.name, self._server, self._make = name, server, make
        self._timeout, self._call, self._cache = timeout, call or CallState(), cache
        self._for_query, self._for_document = prefixes
        self._lock = threading.RLock()
        self._made: BaseEmbedding | None = None
        self._dimensions = 0

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @property
    def _model(self) -> BaseEmbedding:
        with self._lock, llama_index_import:
            if self._made is None:
                self._made = self._make()
            return self._made

    @property
    def dimensions(self) -> int:
        """Asked of the model once, by embedding a word. Raises EmbedderError."""
        with self._lock:
            if not self._dimensions and self._cache:
                self._dimensions = self._cache.get(self._key, _count) or 0
            if not self._dimensions:
                self._dimensions = len(self._called(lambda: self._model.get_query_embedding(PROBE)))
                if self._cache:
                    self._cache.put(self._key, self._dimensions)
            return self._dimensions

    @property
    def _key(self) -> str:
        return cache_key("dimensions", self.name, self._server.url)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimensions). Raises EmbedderError."""
        size = self._model.embed_batch_size
        rows: list[list[float]] = []
        for start in range(0, len(texts), size):
            batch = [self._for_document + text for text in texts[start : start + size]]
            got = self._called(partial(self._model.get_text_embedding_batch, batch))
            if len(got) != len(batch):
                message = f"{self._server} returned {counted(len(got), 'vector')} for {counted(len(batch), 'text')}."
                raise EmbedderError(message)
            rows.extend(got)
        return self._unit(rows)

    def embed_query(self, text: str) -> Vectors:
        """Shape (dimensions,). Raises EmbedderError."""
        row: Vectors = self._unit([self._called(lambda: self._model.get_query_embedding(self._for_query + text))])[0]
        return row

    def _called(self, call: Callable[[], Any]) -> Any:
        def attempt() -> Any:
            try:
                return call()
            except Exception as error:  # noqa: BLE001 - the boundary to foreign code: whatever it raises becomes ours
                # Not chained: the library's own error holds the request, whose headers hold the key.
                raise as_llm_error(error, self._server, begun=False) from None

        try:
            return with_retries(attempt, self._timeout, self._call)
        except LLMError as error:
            raise EmbedderError(str(error), hint=error.hint) from error

    def _unit(self, rows: Sequence[Sequence[float]]) -> Vectors:
        import numpy as np

        if not rows:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        if (sizes := {len(row) for row in rows}) != {self.dimensions}:
            if self._cache and len(sizes) == 1:  # another model has taken the name since the dimensions were cached
                self._cache.put(self._key, sizes.pop())
            raise EmbedderError(f"{self._server} returned vectors of other than {self.dimensions} dimensions.")
        vectors = np.asarray(rows, dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            message = f"{self._server} returned a vector of length zero or with a value that is not a number."
            raise EmbedderError(message)
        unit: Vectors = vectors / lengths
        return unit


def wrapped(model: BaseEmbedding, *, timeout: float = 120.0) -> LlamaIndexEmbedder:
    """Wrap an embedding object of the caller."""
    url = getattr(model, "base_url", None) or getattr(model, "api_base", None) or ""
    server = Server(model.class_name(), str(url), model.model_name)
    return LlamaIndexEmbedder(lambda: model, f"{model.class_name()}/{model.model_name}", server, timeout=timeout)


def _count(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ValueError("not a number of dimensions")
    return value


BATCH = 64  # texts of a request
_REPRESENT = "Represent this sentence for searching relevant passages: "
# What these models were trained to see before a query and before a passage (their model cards), as it stands there:
# Qwen's has no space at its end. Ollama adds none of it. bge-m3 wants nothing, as every other model gets.
PREFIXES = {
    "embeddinggemma": ("task: search result | query: ", "title: none | text: "),
    "mxbai-embed-large": (_REPRESENT, ""),
    "nomic-embed-text": ("search_query: ", "search_document: "),
    "qwen3-embedding": (
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
        "",
    ),
    "snowflake-arctic-embed": (_REPRESENT, ""),
    "snowflake-arctic-embed2": ("query: ", ""),
}


def build_ollama(spec: Spec, *, timeout: float, cache: Cache | None) -> Embedder:
    """`timeout` bounds each batch, in seconds."""
    url, call = ollama_url(), CallState()
    key = key_to_send(url, "ollama")

    def make() -> BaseEmbedding:
        from llama_index.embeddings.ollama import OllamaEmbedding

        return OllamaEmbedding(
            model_name=spec.model, base_url=url, embed_batch_size=BATCH, client_kwargs=call.http_options(url, key=key)
        )

    name, server = f"ollama/{spec.model}", Server("ollama", url, spec.model)
    prefixes = PREFIXES.get(spec.model.split(":")[0].split("/")[-1], ("", ""))
    return LlamaIndexEmbedder(make, name, server, timeout=timeout, call=call, cache=cache, prefixes=prefixes)


def build_openai_like(spec: Spec, *, timeout: float, cache: Cache | None) -> Embedder:
    """Sends only the key that belongs to the server's host. `timeout` bounds each batch, in seconds."""
    if find_spec("llama_index.embeddings.openai_like") is None:
        raise EmbedderError("OpenAI-compatible servers need an extra package.", hint=install_command("openai-like"))
    url, call = spec.url, CallState()
    key = key_to_send(url, "openai-like")

    def make() -> BaseEmbedding:
        import httpx
        from llama_index.embeddings.openai_like import OpenAILikeEmbedding

        return OpenAILikeEmbedding(
            model_name=spec.model,
            api_base=url,
            api_key="none",  # the HTTP client signs
            embed_batch_size=BATCH,
            max_retries=0,
            timeout=timeout,
            http_client=httpx.Client(**call.http_options(url, key=key, own_headers=is_openai(url))),
        )

    name, server = f"openai-like/{spec.model}@{url}", Server("openai-like", url, spec.model)
    return LlamaIndexEmbedder(make, name, server, timeout=timeout, call=call, cache=cache)
