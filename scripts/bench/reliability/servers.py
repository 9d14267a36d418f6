"""A language model's server on loopback that speaks the protocols of Ollama and OpenAI and fails as it is told.

Also a listener that answers nobody and remembers who came.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from scripts.bench.reliability import places

MODEL = "tiny:1b"
OLLAMA, OPENAI = "ollama", "openai"
HANG_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the model, as a fault is decided upon: its role, the user's message, its number from 0."""

    role: str
    user: str
    number: int


@dataclass(frozen=True, slots=True)
class Fault:
    """How a call goes wrong.

    kind: "status" (the HTTP `status`), "drop" (closed without a word), "cut" (the stream ends orderly, too early),
    "broken" (the connection ends inside the stream), "error" (an error inside the stream), "half" (a whole reply whose
    text is half of one), "hang" (silence), "endless" (a stream without an end), "line" (one line without an end),
    "drip" (a piece every half second, for ever), "text" (the reply is `text`), "gzip" (two gigabytes in two megabytes).
    """

    kind: str
    status: int = 500
    text: str = ""


@dataclass(frozen=True, slots=True)
class Served:
    """A call that was answered: when it came and when its reply had been sent (time.monotonic)."""

    role: str
    place: str
    began: float
    ended: float


@dataclass
class ModelServer:
    """`latency` in seconds before each reply; `fault` says of each call whether and how it goes wrong.

    `echoes_keys`: refusals show the request's own headers, as careless servers do.
    """

    latency: float = 0.0
    fault: Callable[[Call], Fault | None] = lambda call: None
    echoes_keys: bool = False
    served: list[Served] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    calls: int = 0
    faults: int = 0
    most_at_once: int = 0

    def __enter__(self) -> ModelServer:
        self.closing = threading.Event()
        self.lock = threading.Lock()
        self._busy = 0
        self._http = _Quiet(("127.0.0.1", 0), type("Handler", (_Handler,), {"server_of": self}))
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()

    @property
    def port(self) -> int:
        return int(self._http.server_port)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def begin(self, role: str, user: str, headers: Mapping[str, str]) -> Fault | None:
        with self.lock:
            self._busy += 1
            self.most_at_once = max(self.most_at_once, self._busy)
            self.headers.append(headers)
            self.calls += 1
            fault = self.fault(Call(role, user, self.calls - 1))
            self.faults += fault is not None
        return fault

    def end(self, served: Served) -> None:
        with self.lock:
            self._busy -= 1
            self.served.append(served)


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves at its deadline is what many targets are about."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server_of: ModelServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        entry = {"name": MODEL, "model": MODEL, "details": {"family": "llama"}}
        known = {"/api/tags": {"models": [entry]}, "/v1/models": {"object": "list", "data": [{"id": MODEL}]}}
        self._json(known.get(self.path, {"error": "not found"}), 200 if self.path in known else 404)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/api/show":
            self._json({"model_info": {"tiny.context_length": 131072}})
            return
        messages = {one["role"]: str(one["content"]) for one in body["messages"]}
        user = messages.get("user", "")
        role = places.role_of(messages.get("system", ""))
        began = time.monotonic()
        fault = self.server_of.begin(role, user, dict(self.headers))
        try:
            self.server_of.closing.wait(self.server_of.latency)
            self._reply(body, role, user, fault)
        finally:
            self.server_of.end(Served(role, places.place_asked(user), began, time.monotonic()))

    def _reply(self, body: Mapping[str, Any], role: str, user: str, fault: Fault | None) -> None:
        kind = fault.kind if fault else ""
        if kind == "hang":
            self.server_of.closing.wait(HANG_SECONDS)
        if kind in ("hang", "drop"):
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        if kind == "gzip":
            self._bomb()
            return
        if kind == "status" and fault:
            said = f"refused: {dict(self.headers)}" if self.server_of.echoes_keys else "something broke"
            self._json({"error": {"message": said} if self.path.startswith("/v1") else said}, fault.status)
            return
        text = fault.text if fault and kind == "text" else places.reply(role, user) if role else "{}"
        text = text[: len(text) // 2] if kind == "half" else text
        protocol = OPENAI if self.path.startswith("/v1") else OLLAMA
        if body.get("stream", protocol == OLLAMA):
            self._stream(protocol, text, kind)
        else:
            self._json(_whole(protocol, text))

    def _stream(self, protocol: str, text: str, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson" if protocol == OLLAMA else "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if kind in ("endless", "line", "drip"):
            self._endlessly(protocol, kind)
            return
        step = max(40, len(text) // 1000)
        pieces = [text[at : at + step] for at in range(0, len(text), step)] or [""]
        if kind in ("cut", "broken", "error"):
            pieces = pieces[: max(1, len(pieces) // 2)]
        for piece in pieces:
            self._chunk(_piece(protocol, piece))
        if kind == "error":
            error = json.dumps({"error": "out of memory"})
            self._chunk(error.encode() + b"\n" if protocol == OLLAMA else f"data: {error}\n\n".encode())
        if kind == "broken":
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        if kind not in ("cut", "error"):
            self._chunk(_ending(protocol))
        self.wfile.write(b"0\r\n\r\n")

    def _bomb(self) -> None:
        """White space between two lines, compressed a thousand times."""
        packer = zlib.compressobj(wbits=31)
        part = b" " * 2**20
        data = b"".join([*(packer.compress(part + b"\n" * (n % 2)) for n in range(2048)), packer.flush()])
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _endlessly(self, protocol: str, kind: str) -> None:
        ends = time.monotonic() + HANG_SECONDS
        if kind == "line":
            self._chunk(b'{"message": {"role": "assistant", "content": "' if protocol == OLLAMA else b'data: {"x": "')
        piece = b"x" * 4000 if kind == "line" else _piece(protocol, "x " * (4 if kind == "drip" else 200))
        while time.monotonic() < ends and not self.server_of.closing.is_set():
            self._chunk(piece)
            self.server_of.closing.wait(0.5 if kind == "drip" else 0.0005)

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _json(self, value: object, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _event(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _piece(protocol: str, text: str) -> bytes:
    if protocol == OLLAMA:
        line = {"model": MODEL, "message": {"role": "assistant", "content": text}, "done": False}
        return json.dumps(line).encode() + b"\n"
    return _event(_openai({"delta": {"role": "assistant", "content": text}, "finish_reason": None}, "chunk"))


def _ending(protocol: str) -> bytes:
    if protocol == OLLAMA:
        return json.dumps(_whole(protocol, "")).encode() + b"\n"
    return _event(_openai({"delta": {}, "finish_reason": "stop"}, "chunk")) + b"data: [DONE]\n\n"


def _whole(protocol: str, text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    if protocol == OLLAMA:
        counts = {"prompt_eval_count": 21, "eval_count": 7}
        return {"model": MODEL, "message": message, "done": True, "done_reason": "stop", **counts}
    return _openai({"message": message, "finish_reason": "stop"}, "")


def _openai(choice: Mapping[str, Any], chunk: str) -> dict[str, Any]:
    kind = "chat.completion.chunk" if chunk else "chat.completion"
    usage = {} if chunk else {"usage": {"prompt_tokens": 21, "completion_tokens": 7, "total_tokens": 28}}
    return {"id": "1", "created": 1, "model": MODEL, "object": kind, "choices": [{"index": 0, **choice}], **usage}


class Listener:
    """Takes every connection, remembers its first bytes, answers with a refusal: nobody should ever come."""

    def __enter__(self) -> Listener:
        self.received: list[bytes] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(0.1)
        self._open = True
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._open = False
        self._thread.join()
        self._socket.close()

    @property
    def port(self) -> int:
        return int(self._socket.getsockname()[1])

    def _listen(self) -> None:
        while self._open:
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                continue
            with connection:
                connection.settimeout(0.5)
                try:
                    self.received.append(connection.recv(65536))
                    connection.sendall(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                except OSError:
                    self.received.append(b"")
