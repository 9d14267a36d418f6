"""Puts what a chat server sends into the form that its client library reads, whatever dialect it speaks.

The libraries read exactly one form: a stream of events with a text in `delta.content` (OpenAI), or a JSON object a line
(Ollama). Servers and proxies send others: one JSON object though a stream was asked for, the text as a list of parts or
in `text` or `message`, thoughts under five names, an error in a reply with status 200, comments, no end. Here each
becomes the one form, or the error that the server told of.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from iterative_rag.errors import LLMError, ReplyTruncated
from iterative_rag.remote.reply_limits import MAX_REPLY_CHARS, read_json
from iterative_rag.remote.server_calls import Server, refused, truncated_reply, unusable, without_secrets

MAX_LINE_BYTES = 4 * 1024 * 1024
MAX_SHOWN = 200  # characters of what a server said
_DONE = {"done": True}  # the last event of a stream: "[DONE]"
_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "reasoning_details", "thoughts")
_LENGTH = frozenset({"length", "max_tokens", "model_length"})
_FAILED = frozenset({"error", "failed"})
_COUNTS = {
    "prompt_tokens": ("prompt_tokens", "prompt_eval_count"),
    "completion_tokens": ("completion_tokens", "eval_count"),
}
_WORDS = ("message", "detail", "error", "errors", "msg", "reason", "title", "description")
# What an error without a code is about, by what it says.
_ABOUT = (
    (402, re.compile(r"credit|billing|payment|quota|balance|spend(?:ing)? limit", re.IGNORECASE)),
    (401, re.compile(r"unauthori[sz]ed|api.?key|authenticat|invalid token", re.IGNORECASE)),
    (429, re.compile(r"rate.?limit|too many requests", re.IGNORECASE)),
)


def tidied(body: Iterator[bytes], server: Server) -> Iterator[bytes]:
    """The reply in the form of OpenAI's stream, or of Ollama's. Raises LLMError for what is no reply."""
    reply = _Reply(server)
    for event in events(body, server):
        yield from (piece.encoded(server.kind) for piece in reply.pieces(event))
        if event is _DONE:
            break
    yield from (piece.encoded(server.kind) for piece in reply.ending())
    if server.kind != "ollama":
        yield b"data: [DONE]\n\n"


def events(body: Iterable[bytes], server: Server) -> Iterator[Mapping[str, Any]]:
    """The JSON objects of a reply: events of a stream, one on each line, or one over all lines."""
    parts: list[str] = []  # of what is more than a line, or no JSON
    kind, size = "", 0
    for line in _lines(body, server):
        name, _, value = line.partition(b":")
        if name in (b"", b"id", b"retry"):  # an empty line, a comment, or what nobody needs
            continue
        text = (value if name in (b"data", b"event") else line).decode("utf-8", "replace").strip()
        if name == b"event":
            kind = text
        elif not text:
            continue
        elif not parts and (event := _DONE if text == "[DONE]" else _read(text)) is not None:
            yield event if event is _DONE else _checked(event, kind, server)
            kind = ""
        else:
            parts.append(text)
            size += len(text)
        if size > MAX_LINE_BYTES:
            raise _overlong(server)
    if parts:
        text = "".join(parts)
        if (event := _read(text)) is None:
            raise _broken(text, kind, server)
        yield _checked(event, kind, server)


def _lines(body: Iterable[bytes], server: Server) -> Iterator[bytes]:
    """The lines of a reply without their ends, and without the mark that a text of UTF-8 may begin with."""
    begun = b""
    for part in chain(body, (b"\n",)):
        *lines, begun = (begun + part).split(b"\n") if b"\n" in part else [begun + part]
        if len(begun) > MAX_LINE_BYTES:
            raise _overlong(server)
        yield from (line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r") for line in lines)


def _overlong(server: Server) -> LLMError:
    return unusable(
        f"{server} sent a line of more than {MAX_LINE_BYTES / 1e6:.0f} MB, which is no reply.", "See the server's log."
    )


def _read(text: str) -> Any | None:
    try:
        return read_json(text) if text[:1] in ("{", "[") else None
    except ValueError:
        return None


def _checked(value: Any, kind: str, server: Server) -> Mapping[str, Any]:
    if isinstance(value, list) and value:  # some wrap their error in a list
        value = value[0]
    if not isinstance(value, Mapping) or kind == "error":
        raise told(value, server)
    return value


def _broken(text: str, kind: str, server: Server) -> LLMError:
    """What a reply is that ends in no JSON: an error in words, one that was cut off, or none at all."""
    if kind == "error":
        return told(text, server)
    try:
        read_json(text)
    except ValueError as error:
        if text[:1] in ("{", "[") and not isinstance(error.__cause__, RecursionError):
            return truncated_reply(server)
    return unusable(
        f"{server} sent no reply of a model: {_shown(text)}.",
        "Check its address: that of an OpenAI-compatible server usually ends in /v1."
        if server.kind == "openai-like"
        else "See the server's log.",
    )


# --- errors ------------------------------------------------------------------------------------


def told(said: object, server: Server) -> LLMError:
    """The error that a server tells of in a reply, in its own words. Another call may help, not ten."""
    words = _shown(_words(said) or (json.dumps(said) if said else "no reason")).rstrip(".")
    code = _code(said)
    if code is None:
        code = next((status for status, about in _ABOUT if about.search(words)), -1)
    error = refused(code, words, server)
    error.most_retries = 2
    return error


def _words(said: object) -> str:
    """What an error says, wherever it stands in it; "" where it says nothing."""
    if isinstance(said, Mapping):
        return next((words for name in _WORDS if (words := _words(said.get(name)))), "")
    if isinstance(said, list):
        return "; ".join(filter(None, map(_words, said[:3])))
    return said if isinstance(said, str) else ""


def _code(said: object) -> int | None:
    """The HTTP status that an error names, as a number or in digits; None where it names none."""
    if not isinstance(said, Mapping):
        return None
    for name in ("code", "status", "status_code", "http_status"):
        if re.fullmatch(r"[45]\d\d", str(said.get(name))):
            return int(said[name])
    return next((code for part in said.values() if (code := _code(part)) is not None), None)


def _shown(text: str) -> str:
    plain = "".join(letter if letter.isprintable() else " " for letter in text[: 4 * MAX_SHOWN])
    return without_secrets(plain)[:MAX_SHOWN]


# --- pieces of a reply -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Piece:
    """What an event adds to a reply. `call` is one of a function, as OpenAI streams it."""

    text: str = ""
    thoughts: str = ""
    finish: str = ""
    counts: Mapping[str, int] | None = None
    call: Mapping[str, Any] | None = None

    def encoded(self, kind: str) -> bytes:
        """As the client library of this kind of server reads it."""
        counts = self.counts or {}
        if kind == "ollama":
            message: dict[str, Any] = {"role": "assistant", "content": self.text, "thinking": self.thoughts or None}
            if self.call:
                function = self.call["function"]
                message["tool_calls"] = [{"function": {**function, "arguments": _as_mapping(function["arguments"])}}]
            line = {"message": message, "done": bool(self.finish), "done_reason": self.finish or None}
            asked, written = counts.get("prompt_tokens"), counts.get("completion_tokens")
            return json.dumps({**line, "prompt_eval_count": asked, "eval_count": written}).encode() + b"\n"
        delta: dict[str, Any] = {"role": "assistant", "content": self.text, "reasoning_content": self.thoughts or None}
        choice = {"index": 0, "delta": delta, "finish_reason": self.finish or None}
        if self.call:
            delta["tool_calls"] = [self.call]
        chunk = {"id": "", "object": "chat.completion.chunk", "created": 0, "model": "", "choices": [choice]}
        return b"data: " + json.dumps({**chunk, "usage": self.counts}).encode() + b"\n\n"


class _Reply:
    """Reads the events of one reply."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._size = self._calls = 0
        self._finished = self._ended = self._spoke = False
        self._first = ""

    def pieces(self, event: Mapping[str, Any]) -> Iterator[Piece]:
        """What an event adds. Raises LLMError where it tells of an error."""
        if event is _DONE:
            self._ended = True
            return
        self._first = self._first or json.dumps(event)[:MAX_SHOWN]
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}
        if fault := event.get("error") or event.get("errors") or choice.get("error"):
            raise told({"error": fault, "code": event.get("code"), "status": event.get("status")}, self._server)
        message = _message(event, choice)
        if message is None:
            if _words(event) and "usage" not in event:
                raise told(event, self._server)
            message = {}
        finish = _finish(event, choice)
        if finish in _FAILED:
            raise told(message.get("content") or "it ended with an error", self._server)
        self._spoke = self._spoke or bool(message or finish)
        self._finished = self._finished or bool(finish)
        self._ended = self._ended or ("message" in choice and event.get("object") != "chat.completion.chunk")
        text, thoughts = self._new_text(message)
        calls = [self._call(call) for call in _calls(message)]
        yield Piece(text, thoughts, "" if calls else finish, _counts(event))
        for n, call in enumerate(calls, start=1):  # one a piece: LlamaIndex reads the first of several only
            yield Piece(call=call, finish=finish if n == len(calls) else "")

    def ending(self) -> Iterator[Piece]:
        """The end that the server did not write, but showed. Raises LLMError where it sent no message at all."""
        if not self._first:
            raise truncated_reply(self._server)
        if not self._spoke:
            said = f"{self._server} sent a reply without content: {_shown(self._first)}."
            raise unusable(said, "See the server's log.", retryable=True)
        if self._ended and not self._finished:
            yield Piece(finish="stop")

    def _new_text(self, message: Mapping[str, Any]) -> tuple[str, str]:
        """The text and the thoughts that a message adds. Raises ReplyTruncated beyond what is read."""
        text, thoughts = _text_of(message.get("content") or message.get("refusal"))
        thoughts += next((thought for name in _THOUGHTS if (thought := "".join(_text_of(message.get(name))))), "")
        self._size += len(text) + len(thoughts)
        if self._size > MAX_REPLY_CHARS:
            error = ReplyTruncated(
                f"The reply of {self._server.model} is longer than the {MAX_REPLY_CHARS:,} characters that are read.",
                hint="Try another model: this one does not end its reply.",
            )
            error.retryable = False
            raise error
        return text, thoughts

    def _call(self, call: Mapping[str, Any]) -> Mapping[str, Any]:
        """A call of a function, or a part of one, as OpenAI streams it."""
        function = call["function"] if isinstance(call.get("function"), Mapping) else {}
        given = function.get("arguments")
        arguments = given if isinstance(given, str) else "" if given is None else json.dumps(given)
        self._size += len(arguments)
        index = call.get("index")
        if not isinstance(index, int):
            index, self._calls = self._calls, self._calls + 1
        named = {"name": function.get("name"), "arguments": arguments}
        return {"index": index, "id": call.get("id") or f"call_{index}", "type": "function", "function": named}


def _message(event: Mapping[str, Any], choice: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What an event says of the reply; None where it says nothing of it."""
    for holder, name in ((choice, "delta"), (choice, "message"), (choice, "text"), (event, "message")):
        value = holder.get(name)
        if isinstance(value, Mapping):
            return value
        if isinstance(value, str) and holder is choice:
            return {"content": value}
    if choice:
        return {}
    text = event.get("response", event.get("content"))
    return None if text is None else {**event, "content": text}


def _finish(event: Mapping[str, Any], choice: Mapping[str, Any]) -> str:
    """Why the reply ended: "length", "content_filter", "stop" or an error; "" where it goes on."""
    said = choice.get("finish_reason") or event.get("finish_reason") or event.get("done_reason")
    if isinstance(said, str):
        said = said.casefold()
        return "length" if said in _LENGTH else said if said in _FAILED | {"content_filter"} else "stop"
    return "stop" if event.get("done") is True else ""


def _text_of(content: object) -> tuple[str, str]:
    """The text of a content and the thoughts in it: a string, or a list of parts that may have parts."""
    if isinstance(content, str):
        return content, ""
    if isinstance(content, list):
        parts = [_text_of(part) for part in content]
        return "".join(text for text, _ in parts), "".join(thoughts for _, thoughts in parts)
    if not isinstance(content, Mapping):
        return "", ""
    thinks = any(word in str(content.get("type", "")) for word in ("think", "reason"))
    held = next((content[name] for name in ("text", "thinking", "reasoning", "content") if content.get(name)), "")
    text = "".join(_text_of(held))
    return ("", text) if thinks else (text, "")


def _calls(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The calls of functions in a message."""
    made = message.get("tool_calls")
    return [call for call in made if isinstance(call, Mapping)] if isinstance(made, list) else []


def _counts(event: Mapping[str, Any]) -> Mapping[str, int] | None:
    """The tokens as the server counted them."""
    groq = event.get("x_groq")
    usage = event.get("usage") or (groq.get("usage") if isinstance(groq, Mapping) else None) or event
    if not isinstance(usage, Mapping):
        return None
    known = [(name, usage[other]) for name, others in _COUNTS.items() for other in others if other in usage]
    return {name: count for name, count in known if isinstance(count, int)} or None


def _as_mapping(arguments: str) -> Mapping[str, Any]:
    try:
        value = read_json(arguments)
    except ValueError:
        return {}
    return value if isinstance(value, Mapping) else {}
