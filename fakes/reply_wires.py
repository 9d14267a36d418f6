"""How one reply travels, by the servers and proxies that people run: as one object or a stream of many forms, with its
text in other places, without an end; and how they tell of an error in a reply with status 200.

Rewritten after public reports; `WIRES` deliver a reply, `FAULTS` are none.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fakes.loopback_server import Handler, LoopbackServer

OLLAMA, OPENAI = "ollama", "openai-like"
SSE, JSON, NDJSON, HTML = "text/event-stream", "application/json", "application/x-ndjson", "text/html"
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


def whole(message: object, finish: object = "stop", **choice: object) -> dict[str, Any]:
    made = {"index": 0, "message": message, "finish_reason": finish, **choice}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "tiny", "choices": [made]}


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
THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": "Let me see {."}]}
WIRES: Mapping[str, Mapping[str, Wire]] = {
    OPENAI: {
        "plain": _plain,
        "one object": lambda text: one_object(whole(said(text))),
        "one object, indented": lambda text: one_object(whole(said(text)), indent=2),
        "one object behind a mark": lambda text: Sent(b"\xef\xbb\xbf" + one_object(whole(said(text))).data, JSON),
        "one object without its end": lambda text: one_object(whole(said(text), None)),
        "one event": lambda text: streamed(whole(said(text))),
        "a text of completions": lambda text: one_object({"choices": [{"text": text, "finish_reason": "stop"}]}),
        "no mark of the end": lambda text: streamed(chunk({"content": text}), STOP, end=b""),
        "no reason of the end": lambda text: streamed(chunk({"content": text})),
        "no end at all": lambda text: streamed(chunk({"content": text}), end=b""),
        "an empty reason": lambda text: streamed(chunk({"content": text}, ""), chunk({}, "")),
        "another reason": lambda text: streamed(chunk({"content": text}), chunk({}, "eos")),
        "a reason beside the choices": lambda text: streamed(
            chunk({"content": text}), {"choices": [], "finish_reason": "stop"}
        ),
        "comments": lambda text: Sent(b": ping\r\n\r\n" + _plain(text).data.replace(b"\n", b"\r\n")),
        "no space behind data": lambda text: Sent(_plain(text).data.replace(b"data: ", b"data:")),
        "no empty lines": lambda text: Sent(_plain(text).data.replace(b"\n\n", b"\n")),
        "named events": lambda text: Sent(_plain(text).data.replace(b"data: ", b"event: message\nid: 1\ndata: ")),
        "lines of JSON": lambda text: lines(chunk({"content": text}), STOP),
        "Ollama's lines": lambda text: lines(turn(text), turn("", done=True)),
        "an empty first event": lambda text: streamed({"choices": []}, chunk({"content": text}), STOP),
        "nothing in the first event": lambda text: streamed({"id": "1", "choices": None}, chunk(said(text)), STOP),
        "a delta that is a text": lambda text: streamed(chunk(text), STOP),
        "a list of parts": lambda text: streamed(
            chunk(said([THINKING])), chunk({"content": [{"type": "text", "text": text}]}), STOP
        ),
        "one object of parts": lambda text: one_object(whole(said([THINKING, {"type": "output_text", "text": text}]))),
        "messages in place of deltas": lambda text: streamed(whole(said(text), None), STOP),
        "reasoning_content": lambda text: streamed(chunk(said(None, reasoning_content=text)), STOP),
        "reasoning": lambda text: streamed(chunk(said("", reasoning=f"I think so.\n{text}")), STOP),
        "reasoning in details": lambda text: streamed(chunk(said("", reasoning_details=[{"text": text}])), STOP),
        "one object of thoughts": lambda text: one_object(whole(said(None, reasoning_content=text))),
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
        "one object": lambda text: one_object(turn(text, done=True)),
        "one object, indented": lambda text: one_object(turn(text, done=True), indent=1),
        "no end": lambda text: lines(turn(text)),
        "thinking": lambda text: lines(turn("", thinking=text), turn("", done=True)),
        "thinking, no content": lambda text: lines(turn(None, thinking=f"Well.\n{text}"), turn(None, done=True)),
        "a list of parts": lambda text: lines(turn([{"type": "text", "text": text}]), turn("", done=True)),
        "events": lambda text: streamed(turn(text), turn("", done=True)),
        "OpenAI's events": _plain,
        "a generation": lambda text: lines({"response": text, "done": False}, {"response": "", "done": True}),
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


def _error(value: object, words: str, status: int = -1, calls: int = 3) -> FaultWire:
    return FaultWire(lambda text: one_object(value), words, status, calls)


BUSY = "the upstream is overloaded"
CREDIT = "Insufficient credits. Add more at the provider"
FAULTS: Mapping[str, FaultWire] = {
    "an error with a code": _error({"error": {"message": BUSY, "code": 502}}, BUSY, 502),
    "an error without a code": _error({"error": {"message": BUSY}}, BUSY),
    "a text": _error({"error": BUSY}, BUSY),
    "nested": _error({"error": {"error": {"message": BUSY, "code": "503"}}}, BUSY, 503),
    "in a list": _error([{"error": {"message": BUSY, "status": "UNAVAILABLE"}}], BUSY),
    "errors": _error({"errors": [{"detail": BUSY}]}, BUSY),
    "detail": _error({"detail": BUSY}, BUSY),
    "an object of errors": _error({"object": "error", "message": BUSY, "code": 400}, BUSY, 400, 6),
    "no credit": _error({"error": {"message": CREDIT, "code": 402}}, CREDIT, 402, 1),
    "no credit, without a code": _error({"error": CREDIT}, CREDIT, 402, 1),
    "no key": _error({"error": {"message": "Invalid API key", "code": "invalid_api_key"}}, "Invalid API key", 401, 1),
    "in an event": FaultWire(lambda text: streamed(chunk(said(text[:9])), {"error": {"message": BUSY}}), BUSY),
    "in an event of its own": FaultWire(lambda text: Sent(event({"message": BUSY}, "event: error\ndata: ")), BUSY),
    "in words of its own": FaultWire(lambda text: Sent(f"event: error\ndata: {BUSY}\n\n".encode()), BUSY),
    "in a choice": FaultWire(
        lambda text: streamed(whole(said(""), "error", error={"code": 502, "message": BUSY})), BUSY, 502
    ),
    "as a reason of the end": FaultWire(lambda text: streamed(chunk({"content": ""}, "error")), "ended with an error"),
    "choices null": _error({"id": None, "choices": None}, "a reply without content"),
    "no choice": _error({"id": "1", "choices": []}, "a reply without content"),
    "a page": FaultWire(
        lambda text: Sent(b"<html><h1>Sign in</h1></html>", HTML), "no reply of a model: <html>", -1, 1
    ),
    "a line that has no end": FaultWire(
        lambda text: Sent(b'data: {"x": "' + b"x" * 5_000_000), "sent a line of more than 4 MB", -1, 1
    ),
    "a bomb": FaultWire(
        lambda text: Sent(gzip.compress(b": x\n" * 20_000_000), SSE, "gzip"), "larger than the limit of", -1, 1
    ),
    "damaged compression": FaultWire(
        lambda text: Sent(b"\x1f\x8bno", SSE, "gzip"), "its compression is damaged", -1, 1
    ),
    "another compression": FaultWire(lambda text: Sent(b"x", SSE, "br"), "compressed with br", -1, 1),
    "nested too deeply": FaultWire(lambda text: Sent(event([])[:-2].replace(b"[]", b"[" * 90_000)), "", -1),
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
