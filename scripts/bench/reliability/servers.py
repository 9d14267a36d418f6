"""The model's server of the targets: an honest model on loopback that fails as it is told.

Also a listener that answers nobody and remembers who came.
"""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from fakes import bridge_world
from fakes.model_server import FakeServer, Fault, Seen

MODEL = "tiny:1b"
_ASKED = re.compile(r"the (\w+) bridge stand|mayor of (\w+)\?")


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the model, as a fault is decided upon: its role ("" for none of the package's prompts), the user's
    message, its number from 0, and the request's body."""

    role: str
    user: str
    number: int
    body: Mapping[str, Any]


@dataclass
class ModelServer(FakeServer):
    """`fault` says of each call whether and how it goes wrong; besides the kinds of FakeServer "text" (the reply is the
    fault's `message`) and "half" (the reply is half of one). `echoes_keys`: refusals show the request's own headers, as
    careless servers do. `spans` are the place asked about, begin and end (time.monotonic) of each call."""

    fault: Callable[[Call], Fault | None] = lambda call: None
    echoes_keys: bool = False
    spans: list[tuple[str, float, float]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    faults_made: int = 0

    def __enter__(self) -> ModelServer:
        self.reply, self._at = self._said, threading.local()
        super().__enter__()
        return self

    def take(self, seen: Seen) -> Fault | None:
        self._at.place, self._at.fault = "", None
        if "messages" not in seen.body:
            return None
        user = bridge_world.user_prompt(seen.body)
        asked = _ASKED.search(user)
        with self._lock:
            self.headers.append(seen.headers)
            fault = self.fault(Call(bridge_world.role_of(seen.body), user, len(self.headers) - 1, seen.body))
            self.faults_made += fault is not None
        self._at.place, self._at.fault = next(filter(None, asked.groups()), "") if asked else "", fault
        return replace(fault, message=f"refused: {dict(seen.headers)}") if fault and self.echoes_keys else fault

    @contextmanager
    def holding(self) -> Iterator[None]:
        began, place = time.monotonic(), self._at.place
        with super().holding():
            yield
        if place:
            self.spans.append((place, began, time.monotonic()))

    @property
    def calls_made(self) -> int:
        return len(self.headers)

    def _said(self, body: Mapping[str, Any]) -> str:
        fault = self._at.fault
        text = fault.message if fault and fault.kind == "text" else bridge_world.reply(body)
        return text[: len(text) // 2] if fault and fault.kind == "half" else text


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
