"""An HTTP server that understands nothing, writes down every request, and answers all of them alike."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from typing import Any

from fakes.loopback_server import LoopbackServer


class RecordingServer(LoopbackServer):
    """`received` holds each request as text, from its first line to its body. With `redirect_to` it answers 307."""

    def __init__(self, *, status: int = 404, redirect_to: str = "") -> None:
        self.status, self.redirect_to = status, redirect_to
        self.received: list[str] = []

    def __enter__(self) -> RecordingServer:
        self.start(_Handler, recorder=self)
        return self


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
