"""Stores for tests: the embedded one, and the server's adapter over `qdrant-client`'s own in-memory server."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from iterative_rag.index.server.server_address import ServerAddress
from iterative_rag.index.server.server_store import ServerPlace


class InMemoryQdrant:
    """A client of a server that lives as long as this object: one call at a time, since local mode is not
    thread-safe, and closing it leaves the points, as with a server."""

    def __init__(self) -> None:
        from qdrant_client import QdrantClient

        self._client = QdrantClient(":memory:")
        self._lock = threading.RLock()
        self.calls: list[str] = []
        self.given: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {}  # the last call of each name
        self.fails: Callable[[str], None] = lambda name: None

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)

        def called(*arguments: Any, **options: Any) -> Any:
            with self._lock:
                self.fails(name)
                self.calls.append(name)
                self.given[name] = arguments, options
                return method(*arguments, **options)

        return called

    def close(self) -> None:
        pass


def server_place(client: Any, corpus: str, address: ServerAddress | None = None) -> ServerPlace:
    return ServerPlace(address or ServerAddress("127.0.0.1"), corpus, connect=lambda _: client)
