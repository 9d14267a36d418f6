"""A real HTTP server that speaks Ollama's and OpenAI's protocols, with a fixed latency and faults on demand."""

from __future__ import annotations

import json
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from fakes.loopback_server import Handler, LoopbackServer
from fakes.numbered_sentences import sent
from fakes.stream_parts import DONE, JSON, NDJSON, SSE, chunk, event, said, turn

Replier = Callable[[Mapping[str, Any]], str]
DIMENSIONS = 4


@dataclass(frozen=True)
class Fault:
    """How one call goes wrong.

    kind: "status" (answers `status` with `message`), "drop" (closes the connection before a word), "cut" (the stream
    ends orderly before it is done), "broken" (the connection breaks inside the stream), "error" (an error inside
    the stream), "length" (the reply hits its token limit), "hang" (silence until the server closes), "endless" (the
    stream is `piece` again and again, with `every` seconds between). A `message` that is no text is the whole body.
    """

    kind: str
    status: int = 500
    message: str | Mapping[str, object] = "something broke"
    headers: Mapping[str, str] = field(default_factory=dict)
    after: int = 1
    piece: bytes = b" "
    every: float = 0.05


@dataclass(frozen=True)
class Seen:
    """A request as it arrived."""

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]


@dataclass
class FakeServer(LoopbackServer):
    """`reply` is the text of every chat reply, or a function of the request's body; `functions` are the calls ({"name",
    "arguments"}) by which a request with tools is answered instead; `thoughts` come before the reply, in the field
    `thoughts_in`, or as `<think>` in the text where that is ""; `counted` counts the tokens of a prompt, which stand in
    `usage_in`; `figures` is what is shown of each model; `faults` are used up in order (None: all goes well), then
    `fault_of` may name one for a request's body, then `always` holds. `refuses` are fields of a request that are
    answered with 400; `latency` is the seconds before a reply, `pace` those between two chunks of a stream. `peak`
    counts the POST requests that were open at once; each is held until `gather` of them are, or none has come for two
    seconds."""

    reply: str | Replier = '{"status": "known", "needs": []}'
    functions: Callable[[Mapping[str, Any]], Sequence[Mapping[str, Any]]] = lambda body: ()
    models: Sequence[str] = ("tiny:8b",)
    figures: Mapping[str, Any] = field(default_factory=dict)
    thoughts: Callable[[Mapping[str, Any]], str] = lambda body: ""
    thoughts_in: str = "reasoning_content"
    counted: Callable[[str], int] = lambda prompt: 21
    usage_in: str = "usage"
    latency: float = 0.0
    faults: deque[Fault | None] = field(default_factory=deque)
    always: Fault | None = None
    fault_of: Callable[[Mapping[str, Any]], Fault | None] = lambda body: None
    refuses: frozenset[str] = frozenset()
    pace: float = 0.0
    silent_counts: bool = False
    vector: Callable[[str], list[float]] = lambda text: [3.0, 4.0, 0.0, float(len(text) % 3)]
    seen: list[Seen] = field(default_factory=list)
    gather: int = 0
    peak: int = 0

    def __enter__(self) -> Self:
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._arrived = threading.Condition()
        self._open = 0
        self.start(_Handler, fake=self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.closing.set()
        self.stop()

    def take(self, seen: Seen) -> Fault | None:
        with self._lock:
            self.seen.append(seen)
            if self.faults:
                return self.faults.popleft()
            return (self.fault_of(seen.body) if seen.body else None) or self.always

    def refusal(self, body: Mapping[str, Any], authorization: str) -> Fault | None:
        """Why a chat in OpenAI's protocol gets no reply; None where it gets one."""
        if refused := self.refuses & body.keys():
            return Fault("status", 400, f"unknown field: {', '.join(sorted(refused))}")
        if body["model"] not in self.models:
            return Fault("status", 404, f"The model `{body['model']}` does not exist.")
        return None

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Counts a request as open, and holds it until enough others are."""
        with self._arrived:
            self._open += 1
            self.peak = max(self.peak, self._open)
            self._arrived.notify_all()
            while self.peak < self.gather and self._arrived.wait(2.0):
                pass
        try:
            yield
        finally:
            with self._arrived:
                self._open -= 1

    def calls(self, path: str) -> list[Seen]:
        with self._lock:
            return [seen for seen in self.seen if seen.path == path]


def unused_url() -> str:
    """An address where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


class _Handler(Handler):
    fake: FakeServer

    def do_GET(self) -> None:
        self.fake.take(Seen(self.path, {}, dict(self.headers)))
        entries = [{"name": name, "model": name, "details": {"family": _family(name)}} for name in self.fake.models]
        answers: dict[str, object] = {
            "/api/tags": {"models": entries},
            "/v1/models": {"object": "list", "data": [{"id": name, **self.fake.figures} for name in self.fake.models]},
        }
        self.send_json(answers.get(self.path, {"error": "not found"}), 200 if self.path in answers else 404)

    def do_POST(self) -> None:
        body = json.loads(self.body())
        fault = self.fake.take(Seen(self.path, body, dict(self.headers)))
        with self.fake.holding():
            self._answer(body, fault)

    def _answer(self, body: Mapping[str, Any], fault: Fault | None) -> None:
        self.fake.closing.wait(self.fake.latency)
        if fault is not None and fault.kind == "hang":
            self.fake.closing.wait(30)
            self.close_connection = True
            return
        if fault is not None and fault.kind == "drop":
            self._break()
            return
        if fault is not None and fault.kind == "status":
            self._refuse(fault)
            return
        routes: dict[str, Callable[[Mapping[str, Any], Fault | None], None]] = {
            "/api/chat": self._ollama_chat,
            "/api/embed": self._ollama_embed,
            "/api/show": lambda body, fault: self.send_json(self.fake.figures),
            "/v1/chat/completions": self._openai_chat,
            "/v1/embeddings": self._openai_embed,
            "/collections/towns/points/count": lambda body, fault: self.send_json(
                {"result": {"count": 0}, "status": "ok"}
            ),
        }
        routes[self.path](body, fault)

    # --- Ollama ------------------------------------------------------------------------------

    def _ollama_chat(self, body: Mapping[str, Any], fault: Fault | None) -> None:
        if body["model"] not in self.fake.models:
            self.send_json({"error": f"model '{body['model']}' not found"}, 404)
            return
        for name, ability in (("tools", "tools"), ("think", "thinking")):
            if name in self.fake.refuses and body.get(name):
                self.send_json({"error": f"{body['model']} does not support {ability}"}, 400)
                return
        calls = self._functions(body)
        text = "" if calls else self._text(body)
        streamed = body.get("stream", True)
        last = turn("" if streamed else text, done=True)
        last["done_reason"] = "length" if fault and fault.kind == "length" else "stop"
        if self.fake.silent_counts:
            del last["prompt_eval_count"], last["eval_count"]
        if not streamed:
            self.send_json(last)
            return
        lines = [turn("", thinking=part) for part in _parts(self.fake.thoughts(body)) if part]
        lines += [turn(part) for part in _parts(text)]
        lines += [turn("", tool_calls=[call]) for call in calls]
        whole = [event({**line, "model": body["model"]}, "", "\n") for line in [*lines, last]]
        self._stream(whole, event({"error": "out of memory"}, "", "\n"), NDJSON, fault)

    def _ollama_embed(self, body: Mapping[str, Any], fault: Fault | None) -> None:
        if body["model"] not in self.fake.models:
            self.send_json({"error": f"model '{body['model']}' not found"}, 404)
            return
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        self.send_json({"model": body["model"], "embeddings": [self.fake.vector(text) for text in texts]})

    # --- OpenAI ------------------------------------------------------------------------------

    def _openai_chat(self, body: Mapping[str, Any], fault: Fault | None) -> None:
        fault = self.fake.refusal(body, self.headers.get("Authorization", "")) or fault
        if fault and fault.kind == "status":
            self._refuse(fault)
            return
        calls = self._functions(body)
        text = "" if calls else self._text(body)
        thoughts = self.fake.thoughts(body)
        if thoughts and not self.fake.thoughts_in:
            text, thoughts = f"<think>{thoughts}</think>{text}", ""
        finish = "length" if fault and fault.kind == "length" else "tool_calls" if calls else "stop"
        asked = self.fake.counted("".join(str(message["content"]) for message in body["messages"]))
        usage = {"prompt_tokens": asked, "completion_tokens": 7, "total_tokens": asked + 7}
        if not body.get("stream"):
            choice = {"index": 0, "finish_reason": finish, "message": said(text)}
            self.send_json({**chunk({}), "object": "chat.completion", "choices": [choice], "usage": usage})
            return
        deltas = [{"role": "assistant", self.fake.thoughts_in: part} for part in _parts(thoughts) if part]
        deltas += [said(part) for part in _parts(text)]
        deltas += _openai_calls(calls)
        chunks = [*map(chunk, deltas), chunk({}, finish)]
        if self.fake.usage_in != "usage":
            chunks[-1][self.fake.usage_in] = {"id": "req_1", "usage": usage}
        elif (body.get("stream_options") or {}).get("include_usage"):
            chunks.append({**chunk({}), "choices": [], "usage": usage})
        whole = [*(event({**part, "model": body["model"]}) for part in chunks), DONE]
        error = event({"error": {"message": "out of memory"}})
        if fault and not isinstance(fault.message, str):
            error = event(fault.message, "event: error\ndata: ")
        self._stream(whole, error, SSE, fault)

    def _openai_embed(self, body: Mapping[str, Any], fault: Fault | None) -> None:
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        rows = [{"object": "embedding", "index": n, "embedding": self.fake.vector(t)} for n, t in enumerate(texts)]
        self.send_json(
            {"object": "list", "data": rows, "model": body["model"], "usage": {"prompt_tokens": 1, "total_tokens": 1}}
        )

    # --- the wire ----------------------------------------------------------------------------

    def _text(self, body: Mapping[str, Any]) -> str:
        reply = self.fake.reply if isinstance(self.fake.reply, str) else self.fake.reply(body)
        return sent(reply, "\n".join(str(message["content"]) for message in body["messages"]))

    def _functions(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [{"function": dict(one)} for one in self.fake.functions(body)] if body.get("tools") else []

    def _refuse(self, fault: Fault) -> None:
        told: object = fault.message
        if told and isinstance(told, str):
            told = {"error": {"message": told} if self.path.startswith("/v1") else told}
        data = json.dumps(told).encode() if told else b""
        self.send(data, fault.status, {"Content-Type": JSON, **fault.headers})

    def _stream(self, lines: Sequence[bytes], error: bytes, kind: str, fault: Fault | None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        wrong = fault.kind if fault else ""
        while fault and wrong == "endless" and not self.fake.closing.wait(fault.every):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(fault.piece), fault.piece))
        if fault and wrong in ("cut", "broken", "error"):
            lines = [*lines[: fault.after], error] if wrong == "error" else lines[: fault.after]
        for line in lines:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.fake.closing.wait(self.fake.pace)
        if wrong == "broken":
            self._break()
            return
        self.wfile.write(b"0\r\n\r\n")

    def _break(self) -> None:
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_WR)
        self.close_connection = True


def _openai_calls(calls: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each call as OpenAI streams it: its name first, then its arguments in pieces."""
    for n, call in enumerate(calls):
        name = {"name": call["function"]["name"], "arguments": ""}
        yield {"tool_calls": [{"index": n, "id": f"call_{n}", "type": "function", "function": name}]}
        for part in _parts(json.dumps(call["function"]["arguments"])):
            yield {"tool_calls": [{"index": n, "function": {"arguments": part}}]}


def _parts(text: str) -> list[str]:
    """At least one part, so that every stream has a chunk before its end."""
    return [text[at : at + 16] for at in range(0, len(text), 16)] or [""]


def _family(name: str) -> str:
    return "nomic-bert" if "embed" in name else "llama"
