"""A handler served on a free port of 127.0.0.1: what all fakes that speak HTTP share."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


class Handler(BaseHTTPRequestHandler):
    """Answers whole, and says nothing about its requests."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        pass

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def send(self, data: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def send_json(self, value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self.send(json.dumps(value).encode(), status, {"Content-Type": "application/json", **(headers or {})})


class LoopbackServer:
    """Subclasses call `start` in `__enter__`; leaving the block stops the server and waits for its thread."""

    def start(self, handler: type[BaseHTTPRequestHandler], **attributes: object) -> None:
        """Serve `handler`, whose class gets the `attributes`."""
        self._http = _ForgivingServer(("127.0.0.1", 0), type("Handler", (handler,), attributes))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def stop(self) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._http.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Host and port of a server that runs inside the block."""
    server = LoopbackServer()
    server.start(handler)
    try:
        yield server.host
    finally:
        server.stop()


class _ForgivingServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up, was killed or went away at its deadline is what many tests are about."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


# --- a server that writes down every request -----------------------------------------------------


class RecordingServer(LoopbackServer):
    """`received` holds each request as text, from its first line to its body. With `redirect_to` it answers 307."""

    def __init__(self, *, status: int = 404, redirect_to: str = "") -> None:
        self.status, self.redirect_to = status, redirect_to
        self.received: list[str] = []

    def __enter__(self) -> RecordingServer:
        self.start(_Handler, recorder=self)
        return self


class _Handler(Handler):
    recorder: RecordingServer

    def _answer(self) -> None:
        body = self.body().decode(errors="replace")
        self.recorder.received.append(f"{self.requestline}\n{self.headers}\n{body}")
        if self.recorder.redirect_to:
            self.send(b"", 307, {"Location": self.recorder.redirect_to + self.path})
        else:
            self.send(b"", self.recorder.status)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _answer
