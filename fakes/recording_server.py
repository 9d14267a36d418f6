"""An HTTP server that understands nothing, writes down every request, and answers all of them alike."""

from __future__ import annotations

from fakes.loopback_server import Handler, LoopbackServer


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
