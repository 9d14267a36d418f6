"""How one reply travels, by the servers that people run, and what arrives that is none: `WIRES` and `FAULTS`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fakes.loopback_server import Handler, LoopbackServer

OLLAMA, OPENAI = "ollama", "openai-like"
SSE, JSON, NDJSON = "text/event-stream", "application/json", "application/x-ndjson"
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True)
class Sent:
    """The body of a reply with status 200."""

    data: bytes
    kind: str = SSE
    encoding: str = ""


Wire = Callable[[str], Sent]


def event(value: object, head: str = "data: ", end: str = "\n\n") -> bytes:
    return f"{head}{json.dumps(value)}{end}".encode()


def chunk(delta: object, finish: object = None, **more: object) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "tiny", "choices": [choice], **more}


def streamed(*chunks: object, end: bytes = DONE) -> Sent:
    return Sent(b"".join(map(event, chunks)) + end)


def said(text: object, **more: object) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **more}


def one_object(value: object, **options: Any) -> Sent:
    return Sent(json.dumps(value, **options).encode(), JSON)


def lines(*values: object) -> Sent:
    return Sent(b"".join(event(value, "", "\n") for value in values), NDJSON)


def turn(text: object, done: bool = False, **more: object) -> dict[str, Any]:
    """A line of Ollama's stream."""
    ending = {"done_reason": "stop", "prompt_eval_count": 21, "eval_count": 7} if done else {}
    return {"model": "tiny", "message": said(text, **more), "done": done, **ending}


def _plain(text: str) -> Sent:
    return streamed(chunk(said("")), chunk({"content": text}), chunk({}, "stop"))


STOP = chunk({}, "stop")
WIRES: Mapping[str, Mapping[str, Wire]] = {
    OPENAI: {
        "plain": _plain,
        "no mark of the end": lambda text: streamed(chunk({"content": text}), STOP, end=b""),
        "comments": lambda text: Sent(b": ping\r\n\r\n" + _plain(text).data.replace(b"\n", b"\r\n")),
        "no space behind data": lambda text: Sent(_plain(text).data.replace(b"data: ", b"data:")),
        "named events": lambda text: Sent(_plain(text).data.replace(b"data: ", b"event: message\nid: 1\ndata: ")),
        "an empty first event": lambda text: streamed({"choices": []}, chunk({"content": text}), STOP),
        "reasoning_content": lambda text: streamed(chunk(said(None, reasoning_content=text)), STOP),
        "reasoning": lambda text: streamed(chunk(said("", reasoning=f"I think so.\n{text}")), STOP),
        "white space up to the limit": lambda text: streamed(
            chunk(said(f"{text}{' ' * 50}")), *[chunk({"content": " \n" * 40})] * 9, chunk({}, "length")
        ),
        "whole at the limit": lambda text: streamed(chunk({"content": text}), chunk({}, "length")),
        "a fence at the limit": lambda text: streamed(chunk(said(f"```json\n{text}\n```")), chunk({}, "max_tokens")),
        "compressed": lambda text: Sent(gzip.compress(_plain(text).data), SSE, "gzip"),
        "counts that are null": lambda text: streamed(chunk(said(text), "stop", usage=None), {"choices": []}),
    },
    OLLAMA: {
        "plain": lambda text: lines(turn(text), turn("", done=True)),
        "the text in the last line": lambda text: lines(turn(text, done=True)),
        "no end": lambda text: lines(turn(text)),
        "thinking": lambda text: lines(turn("", thinking=text), turn("", done=True)),
        "no last line end": lambda text: Sent(lines(turn(text), turn("", done=True)).data.rstrip(), NDJSON),
        "white space up to the limit": lambda text: lines(turn(text), *[turn("\n" * 90)] * 5, turn("", done=True)),
    },
}


@dataclass(frozen=True)
class FaultWire:
    """A reply that is none: its error says `words`, is of `status`, and is called for at most `calls` times."""

    sent: Wire
    words: str
    status: int = -1
    calls: int = 3


BUSY = "the upstream is overloaded"
FAULTS: Mapping[str, FaultWire] = {
    "in an event": FaultWire(lambda text: streamed(chunk(said(text[:9])), {"error": {"message": BUSY}}), BUSY),
    "a bomb": FaultWire(
        lambda text: Sent(gzip.compress(b": x" + b" " * 80_000_000), SSE, "gzip"), "larger than the limit of", -1, 1
    ),
    "damaged compression": FaultWire(
        lambda text: Sent(b"\x1f\x8bno", SSE, "gzip"), "its compression is damaged", -1, 1
    ),
    "another compression": FaultWire(lambda text: Sent(b"x", SSE, "br"), "compressed with br", -1, 1),
}


@dataclass
class WireServer(LoopbackServer):
    """Speaks both protocols; `reply` makes the text of each request's body, and `wire` sends it."""

    wire: Wire
    reply: Callable[[Mapping[str, Any]], str] = lambda body: '{"status": "known"}'
    bodies: list[Mapping[str, Any]] = field(default_factory=list)

    def __enter__(self) -> WireServer:
        self.start(_Handler, server_of=self)
        return self


class _Handler(Handler):
    server_of: WireServer

    def do_GET(self) -> None:
        self._send(one_object({"models": [{"name": "tiny"}], "data": [{"id": "tiny"}]}))

    def do_POST(self) -> None:
        body = json.loads(self.body())
        self.server_of.bodies.append(body)
        self._send(self.server_of.wire(self.server_of.reply(body)))

    def _send(self, sent: Sent) -> None:
        encoding = {"Content-Encoding": sent.encoding} if sent.encoding else {}
        self.send(sent.data, headers={"Content-Type": sent.kind, **encoding})
