"""An HTTP server that understands nothing, writes down every request, and answers all of them alike."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


class RecordingServer:
    """`received` holds each request as text, from its first line to its body. With `redirect_to` it answers 307."""

    def __init__(self, *, status: int = 404, redirect_to: str = "") -> None:
        self.status, self.redirect_to = status, redirect_to
        self.received: list[str] = []

    def __enter__(self) -> RecordingServer:
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"recorder": self}))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._http.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"


class _Handler(BaseHTTPRequestHandler):
    recorder: RecordingServer
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.recorder.received.append(f"{self.requestline}\n{self.headers}\n{body.decode(errors='replace')}")
        self.send_response(307 if self.recorder.redirect_to else self.recorder.status)
        if self.recorder.redirect_to:
            self.send_header("Location", self.recorder.redirect_to + self.path)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _answer

    def log_message(self, format: str, *args: Any) -> None:
        pass
