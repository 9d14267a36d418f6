"""The server of this package on a free port of loopback, over two articles and a model that plays for them."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from fakes.two_article_corpus import play, write_articles
from iterative_rag.app.factory import index_paths
from iterative_rag.protocols import ChatReply, ChatRequest
from iterative_rag.serve.app import address_of, listen, make_server, make_services
from iterative_rag.serve.rag_pool import RagPool
from iterative_rag.serve.serve_options import ServeOptions
from iterative_rag.serve.services import Services
from iterative_rag.settings import Settings, home

CORPUS = "towns"
TOKEN = "a-token-of-the-tests-0123456789"


class PlayingLLM:
    """A ChatModel that knows the two articles. `before` is called with each request, and may wait or raise."""

    name = "playing"

    def __init__(self, before: Callable[[ChatRequest], None] = lambda request: None) -> None:
        self.before = before
        self.keeps = True  # the requests
        self.requests: list[ChatRequest] = []

    def complete(self, request: ChatRequest) -> ChatReply:
        if self.keeps:
            self.requests.append(request)
        self.before(request)
        return ChatReply(play(request.schema or {}, f"{request.system}\n{request.user}"), 100, 10)


@dataclass(frozen=True)
class RunningServer:
    """A server that answers. `headers` are those of a client that has the token."""

    address: str
    services: Services
    home: Path

    @property
    def port(self) -> int:
        return self.services.options.port

    @property
    def headers(self) -> dict[str, str]:
        token = self.services.options.token
        return {"authorization": f"Bearer {token}"} if token else {}

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.address, headers=self.headers, timeout=30, trust_env=False, **options)

    def raw(self, sent: bytes, seconds: float = 10.0) -> bytes:
        """Everything that comes back for these bytes, until the server closes the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
            connection.sendall(sent)
            received = b""
            while part := connection.recv(65536):
                received += part
        return received


@contextmanager
def running_server(
    folder: Path,
    *,
    backends: Mapping[str, object] | None = None,
    settings: Mapping[str, Any] | None = None,
    **options: Any,
) -> Iterator[RunningServer]:
    """The server over the two articles, which are indexed below `folder`. `options` are those of ServeOptions."""
    chosen = Settings.model_validate({"corpus": CORPUS, "cache": False, **(settings or {})})
    write_articles(folder / "articles")
    index_paths([folder / "articles"], settings=chosen, corpus=CORPUS)
    wanted = ServeOptions(**{"port": 0, "corpora": (CORPUS,), **options}).checked()
    listening = listen(wanted)
    wanted = replace(wanted, port=listening.getsockname()[1])
    services = make_services(
        RagPool(chosen, served=wanted.corpora, backends=backends or {"playing": PlayingLLM()}), wanted
    )
    server = make_server(services)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server ended before it began"
            time.sleep(0.005)
        yield RunningServer(address_of(wanted), services, home())
    finally:
        server.should_exit = True
        thread.join(20)
        services.pool.close()


def events_in(text: str) -> list[tuple[int, str, dict[str, Any]]]:
    """The server-sent events of a stream: number, name, data."""
    events = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(":"))
        if "event" in fields:
            events.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
    return events
