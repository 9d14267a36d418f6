"""Any LlamaIndex LLM object as a ChatModel.

Streams, so that a reply which ends before it is done is told from a whole one, and a deadline is seen between two
chunks. (A single silence of the server is bounded by the time that was left when the call began.)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import (
    CallSuperseded,
    ContextOverflow,
    LLMError,
    LLMServerError,
    LLMTimeout,
    ReplyTruncated,
)
from iterative_rag.llm.replies.structured_call import written_out
from iterative_rag.protocols import ChatReply, ChatRequest, FunctionCall, FunctionSpec
from iterative_rag.remote.server_calls import (
    ACCEPTED,
    RETRIES,
    CallState,
    Server,
    as_llm_error,
    pending,
    truncated_reply,
    with_retries,
)
from iterative_rag.settings import Settings
from iterative_rag.system.cancellation import is_cancelled

if TYPE_CHECKING:
    from collections.abc import Generator

    from llama_index.core.base.llms.types import ChatMessage, ChatResponse
    from llama_index.core.llms.llm import LLM

    Start = Callable[[ChatRequest, list[ChatMessage], Mapping[str, Any]], Iterator[ChatResponse]]

CHARS_PER_TOKEN = 4
# Statuses by which servers refuse a field that they do not know, or functions that the model cannot call.
_REFUSED = (400, 422)
_NO_FUNCTIONS = "--jinja"  # llama.cpp refuses functions with a 500 that says how to start it
# Options of a LlamaIndex object that change its replies. Others, such as headers, may hold a key.
NAMED_OPTIONS = ("temperature", "seed", "max_tokens", "context_window", "thinking", "reasoning_effort")


@dataclass(slots=True)
class _Arrived:
    """The reply as far as it has come. `finish` is why it ended; `tells` that the server says when it does."""

    deltas: list[str] = field(default_factory=list)
    whole: str = ""
    finish: str | None = None
    tells: bool = False
    begun: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    calls: tuple[FunctionCall, ...] = ()
    thought: bool = False

    def take(self, chunk: ChatResponse) -> None:
        self.begun = True
        self.deltas.append(chunk.delta or "")
        self.whole = chunk.message.content or self.whole
        self.calls = _calls(chunk) or self.calls
        self.thought = self.thought or _thinks(chunk)
        raw = chunk.raw
        done, choices = _get(raw, "done"), _get(raw, "choices")
        if done is not None:
            self.tells = True
            self.finish = (_get(raw, "done_reason") or "stop") if done else self.finish
        if choices:
            self.tells = True
            self.finish = _get(choices[0], "finish_reason") or self.finish
        usage = _get(raw, "usage") or _get(_get(raw, "x_groq"), "usage") or chunk.additional_kwargs
        self.prompt_tokens = _count(usage, raw, "prompt_tokens", "prompt_eval_count") or self.prompt_tokens
        self.completion_tokens = _count(usage, raw, "completion_tokens", "eval_count") or self.completion_tokens

    @property
    def text(self) -> str:
        return self.whole or "".join(self.deltas)


class StreamedChat:
    """A chat model that is called through LlamaIndex. `timeout` is in seconds; calls obey `call`. `thinking` are the
    options that switch thinking on or off, in forms of which a server may refuse all but the last.

    LlamaIndex takes a second to import, so adapters build its objects with the first call: `preload` does so ahead.
    """

    def __init__(
        self,
        name: str,
        server: Server,
        *,
        timeout: float,
        retries: int,
        call: CallState,
        thinking: Sequence[Mapping[str, Any]] = ({},),
    ) -> None:
        self.name = name
        self._thinking = tuple(thinking)
        self._server, self._timeout, self._retries, self._call = server, timeout, retries, call
        self._refuses_functions = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def preload(self) -> None:
        """Import and build what every call needs, unless that was done. Raises what the first call would raise."""

    def complete(self, request: ChatRequest) -> ChatReply:
        """The whole reply. Raises an LLMError, after retrying what may go through later."""
        seconds = min(self._timeout, request.seconds if request.seconds is not None else self._timeout)
        return with_retries(lambda: self._once(request), seconds, self._call, self._retries)

    def _stream(
        self, request: ChatRequest, messages: list[ChatMessage], thinking: Mapping[str, Any]
    ) -> Iterator[ChatResponse]:
        """Start the call. `thinking` is one of the forms that the object was made with."""
        raise NotImplementedError

    def _once(self, request: ChatRequest) -> ChatReply:
        """One call, with functions as long as the server does not refuse them: then it is asked by the schema."""
        if request.functions and not self._refuses_functions:
            try:
                return self._with_functions(request)
            except LLMServerError as error:
                if not is_refusal(error) and _NO_FUNCTIONS not in str(error):
                    raise
            reply = self._by_schema(replace(request, functions=()))
            self._refuses_functions = True  # remembered only if it helped: a 400 may have had another cause
            return reply
        return self._by_schema(replace(request, functions=()))

    def _with_functions(self, request: ChatRequest) -> ChatReply:
        return self._attempt(request, self._stream)

    def _by_schema(self, request: ChatRequest) -> ChatReply:
        return self._attempt(request, self._stream)

    def _attempt(self, request: ChatRequest, start: Start) -> ChatReply:
        """One call. A server that refuses a form of switching thinking is asked by the next one from then on."""
        forms = self._thinking
        for n, thinking in enumerate(forms[:-1]):
            try:
                reply = self._called(request, start, thinking)
            except LLMServerError as error:
                if not is_refusal(error):
                    raise
                continue
            self._thinking = forms[n:]
            return reply
        reply = self._called(request, start, forms[-1])
        self._thinking = forms[-1:]
        return reply

    def _called(self, request: ChatRequest, start: Start, thinking: Mapping[str, Any]) -> ChatReply:
        deadline = self._call.deadline()
        arrived = _Arrived()
        self._refuse_superseded()
        try:
            self.preload()
            with closing(_generator(start(request, _messages(request), thinking))) as chunks:
                for chunk in chunks:
                    arrived.take(chunk)
                    if request.written:
                        request.written(written_out(arrived.text, arrived.calls))
                    self._refuse_superseded()
                    if time.monotonic() > deadline:
                        raise LLMTimeout(
                            f"{self._server} did not finish its reply in time.",
                            hint="Raise the timeout, or use a smaller or faster model.",
                        )
        except LLMError:
            raise
        except Exception as error:  # noqa: BLE001 - the boundary to foreign code: whatever it raises becomes ours
            ours = as_llm_error(error, self._server, begun=arrived.begun)
            # The library's own error is not chained: it holds the request, whose headers hold the key.
            raise ours from None
        self._refuse_unfinished(arrived, request)
        return _reply(arrived, request)

    def _refuse_superseded(self) -> None:
        """Leaving the stream closes the connection, at which a server stops working on the reply."""
        if is_cancelled():
            raise CallSuperseded(f"The call of {self._server.model} is not needed any more.")

    def _refuse_unfinished(self, arrived: _Arrived, request: ChatRequest) -> None:
        if arrived.finish in ("length", "content_filter"):
            error = ReplyTruncated(
                f"The reply of {self._server.model} was cut off ({arrived.finish}) at {request.max_tokens} tokens.",
                hint="Raise reply_tokens.",
            )
            error.retryable = False  # the same call would be cut off again
            raise error
        if not arrived.begun and self._call.status == ACCEPTED:
            raise pending(self._server)
        if (arrived.tells and arrived.finish is None) or (not arrived.begun and self._call.status):
            raise truncated_reply(self._server)


class LlamaIndexChat(StreamedChat):
    """Wraps an LLM object as it is: its own temperature, limits and timeout stay. `timeout` is in seconds."""

    def __init__(self, llm: LLM, *, timeout: float = 120.0, retries: int = RETRIES) -> None:
        self._llm = llm
        url = getattr(llm, "base_url", None) or getattr(llm, "api_base", None) or ""
        server = Server(llm.class_name(), str(url), _model_of(llm))
        super().__init__(_name_of(llm), server, timeout=timeout, retries=retries, call=CallState())

    def _stream(
        self, request: ChatRequest, messages: list[ChatMessage], thinking: Mapping[str, Any]
    ) -> Iterator[ChatResponse]:
        try:
            return self._llm.stream_chat(messages)
        except NotImplementedError:  # some classes cannot stream
            return iter([self._llm.chat(messages)])


def _generator(stream: Iterator[ChatResponse]) -> Generator[ChatResponse, None, None]:
    """Closing it closes the connection, also where the stream is left half-read."""
    yield from stream


def _messages(request: ChatRequest) -> list[ChatMessage]:
    from llama_index.core.base.llms.types import ChatMessage, MessageRole

    return [
        ChatMessage(role=MessageRole.SYSTEM, content=request.system),
        ChatMessage(role=MessageRole.USER, content=request.user),
    ]


def _reply(arrived: _Arrived, request: ChatRequest) -> ChatReply:
    """Tokens as the server counted them, else estimated from the characters."""
    prompt = arrived.prompt_tokens or (len(request.system) + len(request.user)) // CHARS_PER_TOKEN
    completion = arrived.completion_tokens or len(arrived.text) // CHARS_PER_TOKEN
    return ChatReply(arrived.text, prompt, completion, calls=arrived.calls, thought=arrived.thought)


def is_refusal(error: LLMServerError) -> bool:
    """Whether a server refuses the form of a request, so that another form may go through."""
    return error.status in _REFUSED and not isinstance(error, ContextOverflow)


def named_thinking(settings: Settings) -> str:
    """What the name of a model says about its thinking, since that changes its replies: nothing for "auto"."""
    return "" if settings.thinking == "auto" else f" thinking={settings.thinking}"


def as_tools(functions: Sequence[FunctionSpec]) -> list[dict[str, Any]]:
    """Functions in the form of OpenAI's `tools`, which is Ollama's, too."""
    return [
        {
            "type": "function",
            "function": {"name": one.name, "description": one.description, "parameters": dict(one.parameters)},
        }
        for one in functions
    ]


def _calls(chunk: ChatResponse) -> tuple[FunctionCall, ...]:
    """The calls in a reply as far as it has come."""
    blocks = [block for block in chunk.message.blocks if block.block_type == "tool_call"]
    return tuple(FunctionCall(block.tool_name, block.tool_kwargs) for block in blocks)


def _thinks(chunk: ChatResponse) -> bool:
    """Whether a piece of a reply holds thoughts: in a field of their own, or as text before the answer."""
    choices = _get(chunk.raw, "choices")
    delta = _get(choices[0], "delta") if choices else None
    in_ollama = _get(chunk.additional_kwargs, "thinking_delta")
    return bool(in_ollama or _get(delta, "reasoning_content") or _get(delta, "reasoning")) or "<think" in (
        chunk.message.content or ""
    )


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def _count(usage: Any, raw: Any, *names: str) -> int | None:
    for holder in (usage, raw):
        for name in names:
            if isinstance(value := _get(holder, name), int):
                return value
    return None


def _model_of(llm: LLM) -> str:
    # Asked last: the metadata of an Ollama object may call the server.
    return str(getattr(llm, "model", None) or getattr(llm, "model_name", None) or llm.metadata.model_name)


def _name_of(llm: LLM) -> str:
    options = [f"{name}={value}" for name in NAMED_OPTIONS if (value := getattr(llm, name, None)) is not None]
    return " ".join([f"{llm.class_name()}/{_model_of(llm)}", *options])
