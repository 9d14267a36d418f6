"""Any LlamaIndex LLM object as a ChatModel.

Streams, so that a reply which ends before it is done is told from a whole one, and a deadline is seen between two
chunks. (A single silence of the server is bounded by the time that was left when the call began.)

A server that refuses how JSON is asked for is asked in a weaker form, and what it takes is remembered.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import CallSuperseded, ContextOverflow, LLMError, LLMServerError, LLMTimeout, ReplyTruncated
from iterative_rag.llm.providers.server_traits import (
    FAILED_GENERATION,
    PLAIN,
    Form,
    about_tokens,
    cut_from,
    refuses_form,
)
from iterative_rag.llm.replies.json_parsing import ends_in_json
from iterative_rag.llm.replies.structured_call import written_out
from iterative_rag.protocols import ChatReply, ChatRequest, FunctionCall, FunctionSpec
from iterative_rag.remote.reply_limits import MAX_REPLY_CHARS
from iterative_rag.remote.server_calls import (
    ACCEPTED,
    CallState,
    Server,
    as_llm_error,
    pending,
    truncated_reply,
    unusable,
    with_retries,
)
from iterative_rag.settings import Settings
from iterative_rag.system.threads import is_cancelled

if TYPE_CHECKING:
    from collections.abc import Generator

    from llama_index.core.base.llms.types import ChatMessage, ChatResponse
    from llama_index.core.llms.llm import LLM


@dataclass(slots=True)
class ArrivingReply:
    """`finish` is why it ended; `tells` that the server says when it does."""

    text: str = ""
    thoughts: str = ""
    finish: str | None = None
    tells: bool = False
    begun: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    _whole_calls: tuple[FunctionCall, ...] = ()  # as Ollama sends them
    # As OpenAI's streams bring them: names and arguments by the index of the call.
    _call_parts: dict[int, tuple[str, str]] = field(default_factory=dict)

    def take(self, chunk: ChatResponse) -> None:
        self.begun = True
        self.text = chunk.message.content or self.text + (chunk.delta or "")
        self.thoughts += str(chunk.additional_kwargs.get("thinking_delta") or "")
        raw = chunk.raw
        if (done := _get(raw, "done")) is not None:
            self.tells = True
            self.finish = (_get(raw, "done_reason") or "stop") if done else self.finish
            blocks = [block for block in chunk.message.blocks if block.block_type == "tool_call"]
            self._whole_calls = tuple(FunctionCall(block.tool_name, block.tool_kwargs) for block in blocks)
        for choice in (_get(raw, "choices") or ())[:1]:
            self.tells = True
            self.finish = _get(choice, "finish_reason") or self.finish
            for part in _get(_get(choice, "delta"), "tool_calls") or ():
                name, arguments = self._call_parts.get(part.index, ("", ""))
                told = (name + (part.function.name or ""), arguments + (part.function.arguments or ""))
                self._call_parts[part.index] = told
        usage = _get(raw, "usage") or _get(_get(raw, "x_groq"), "usage") or chunk.additional_kwargs
        self.prompt_tokens = _count(usage, raw, "prompt_tokens", "prompt_eval_count") or self.prompt_tokens
        self.completion_tokens = _count(usage, raw, "completion_tokens", "eval_count") or self.completion_tokens

    @property
    def calls(self) -> tuple[FunctionCall, ...]:
        return self._whole_calls or tuple(FunctionCall(*parts) for parts in self._call_parts.values())

    def reply(self, request: ChatRequest) -> ChatReply:
        """The text; where there is none, the JSON at the end of the thoughts: some models write it there. Tokens as the
        server counted them, else estimated from the text."""
        text = self.text
        if not text.strip() and not self.calls and (request.schema is None or ends_in_json(self.thoughts)):
            text = self.thoughts
        prompt = self.prompt_tokens or about_tokens(request.system + request.user)
        completion = self.completion_tokens or about_tokens(text)
        thought = bool(self.thoughts) or "<think" in text
        return ChatReply(text, prompt, completion, calls=self.calls, thought=thought)


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def _count(usage: Any, raw: Any, *names: str) -> int | None:
    counts = (_get(holder, name) for holder in (usage, raw) for name in names)
    return next((count for count in counts if isinstance(count, int)), None)


_MOST_BLANKS = 200  # behind a reply or inside it
# Options of a LlamaIndex object that change its replies. Others, such as headers, may hold a key.
NAMED_OPTIONS = ("temperature", "seed", "max_tokens", "context_window", "thinking", "reasoning_effort")


class StreamedChat:
    """A chat model that is called through LlamaIndex. `thinking` are the options that switch thinking on or off
    (`unthinking`), in ways of which a server may refuse all but the last. `form` is how it is asked at first.

    LlamaIndex takes a second to import, so adapters build its objects with the first call: `preload` does so ahead.
    """

    def __init__(
        self,
        name: str,
        server: Server,
        settings: Settings,
        *,
        thinking: Sequence[Mapping[str, Any]] = ({},),
        unthinking: bool = False,
        form: Form = PLAIN,
    ) -> None:
        self.name = name
        self._thinking, self._unthinking = tuple(thinking), unthinking
        self.form = form  # how the model is asked, as far as the server has shown what it takes
        self._server, self._settings, self._call, self._lock = server, settings, CallState(), threading.Lock()
        self._formless = 0  # replies that broke the form, but not where thinking was not switched off

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def preload(self) -> None:
        """Import and build what every call needs, unless that was done. Raises what the first call would raise."""

    def complete(self, request: ChatRequest) -> ChatReply:
        """The whole reply. Raises an LLMError, after retrying what may go through later."""
        most = self._settings.timeout
        seconds = most if request.seconds is None else min(most, request.seconds)
        return with_retries(lambda: self._in_best_form(request), seconds, self._call, self._settings.retries)

    def _stream(self, request: ChatRequest, messages: list[ChatMessage], form: Form) -> Iterator[ChatResponse]:
        """Start the call in this form."""
        raise NotImplementedError

    def _in_best_form(self, request: ChatRequest) -> ChatReply:
        """One call in the best form that the server takes. A weaker one is remembered only if it helped. After a reply
        that broke the form, thinking is not switched off: some models then ignore the schema."""
        form, last = self.form, len(self._thinking) - 1
        freely = request.broken and self._unthinking and form.thinking < last
        form, kept = (replace(form, thinking=last), False) if freely else (form, True)
        while True:
            asked = request if form.functions else replace(request, functions=())
            try:
                reply = self._called(asked, form)
                break
            except LLMServerError as error:
                weaker = form.weaker(str(error), functions=bool(asked.functions), ways=last + 1)
                if weaker is None or not refuses_form(error):
                    raise
                form, kept = (form.plain, False) if FAILED_GENERATION.search(str(error)) else (weaker, kept)
        self._formless += freely and ends_in_json(reply.text, only=True)
        if kept or self._formless > 1:
            self.form = form
        return reply

    def _called(self, request: ChatRequest, form: Form) -> ChatReply:
        deadline = self._call.deadline()
        arrived = ArrivingReply()
        self._refuse_superseded()
        shown = 0
        try:
            self.preload()
            with closing(_generator(self._stream(request, _messages(request), form))) as chunks:
                for chunk in chunks:
                    arrived.take(chunk)
                    # Not after every token of a long reply: who shows it reads it from its beginning.
                    if request.written and len(arrived.text) >= shown + shown // 64:
                        request.written(written_out(arrived.text, arrived.calls))
                        shown = len(arrived.text)
                    self._refuse_superseded()
                    if _is_endless(arrived):
                        arrived.finish = "endless"
                        break
                    if time.monotonic() > deadline:
                        hint = "Raise the timeout, or use a smaller or faster model."
                        raise LLMTimeout(f"{self._server} did not finish its reply in time.", hint=hint)
        except LLMError:
            raise
        except Exception as error:  # noqa: BLE001 - the boundary to foreign code: whatever it raises becomes ours
            ours = as_llm_error(error, self._server, begun=arrived.begun)
            # The library's own error is not chained: it holds the request, whose headers hold the key.
            raise ours from None
        self._refuse_unfinished(arrived, request)
        self._refuse_cut_prompt(arrived, request)
        if request.written:
            request.written(written_out(arrived.text, arrived.calls))
        return arrived.reply(request)

    def _refuse_superseded(self) -> None:
        """Leaving the stream closes the connection, at which a server stops working on the reply."""
        if is_cancelled():
            raise CallSuperseded(f"The call of {self._server.model} is not needed any more.")

    def _refuse_unfinished(self, arrived: ArrivingReply, request: ChatRequest) -> None:
        """A reply that is whole JSON is whole, whatever the server says of its end."""
        if request.schema and not arrived.calls and ends_in_json(arrived.text, only=True):
            return
        if arrived.finish in ("length", "content_filter", "endless"):
            told = f"The reply of {self._server.model} was cut off ({arrived.finish}) at {request.max_tokens} tokens."
            hint = "Raise reply_tokens."
            if arrived.finish == "endless":
                told = f"{self._server.model} does not end its reply."
                hint = "Try another model: this one cannot be held to JSON."
            error = ReplyTruncated(told, hint=hint)
            error.retryable = False  # the same call would be cut off again
            raise error
        if not arrived.begun and self._call.status == ACCEPTED:
            raise pending(self._server)
        if not arrived.begun and self._call.status:
            hint = "Check its address: that of an OpenAI-compatible server usually ends in /v1."
            raise unusable(f"{self._server} sent no reply of a model.", hint, retryable=True)
        if arrived.tells and arrived.finish is None:
            raise truncated_reply(self._server)

    def _refuse_cut_prompt(self, arrived: ArrivingReply, request: ChatRequest) -> None:
        """A server that counts fewer tokens than the prompt has at least has read a part of it alone."""
        counted = arrived.prompt_tokens or 0
        if needed := cut_from(request.system + request.user, counted):
            raise ContextOverflow(
                f"{self._server} read {counted:,} tokens of a prompt that has more ({needed:,}), and dropped the rest.",
                status=-1,
                hint="Give the model a longer context at the server (Ollama: OLLAMA_CONTEXT_LENGTH, or ollama/MODEL "
                "here), or lower window_chars or fact_limit.",
            )


class LlamaIndexChat(StreamedChat):
    """Wraps an LLM object as it is: its own temperature, limits and timeout stay."""

    def __init__(self, llm: LLM, settings: Settings) -> None:
        self._llm = llm
        url = getattr(llm, "base_url", None) or getattr(llm, "api_base", None) or ""
        # Asked last: the metadata of an Ollama object may call the server.
        model = getattr(llm, "model", None) or getattr(llm, "model_name", None) or llm.metadata.model_name
        server = Server(llm.class_name(), str(url), str(model))
        options = [f"{name}={value}" for name in NAMED_OPTIONS if (value := getattr(llm, name, None)) is not None]
        super().__init__(" ".join([f"{server.kind}/{server.model}", *options]), server, settings)

    def _stream(self, request: ChatRequest, messages: list[ChatMessage], form: Form) -> Iterator[ChatResponse]:
        try:
            return self._llm.stream_chat(messages)
        except NotImplementedError:  # some classes cannot stream
            return iter([self._llm.chat(messages)])


def _is_endless(arrived: ArrivingReply) -> bool:
    """Whether a reply is longer than any that was asked for, or goes on in white space alone: a model that is held to
    JSON and cannot go on writes that."""
    tail = arrived.text[-_MOST_BLANKS:]
    blank = len(tail) == _MOST_BLANKS and tail.isspace()
    return blank or len(arrived.text) + len(arrived.thoughts) > MAX_REPLY_CHARS


def _generator(stream: Iterator[ChatResponse]) -> Generator[ChatResponse, None, None]:
    """Closing it closes the connection, also where the stream is left half-read."""
    yield from stream


def _messages(request: ChatRequest) -> list[ChatMessage]:
    from llama_index.core.base.llms.types import ChatMessage

    return [ChatMessage.from_str(request.system, "system"), ChatMessage.from_str(request.user, "user")]


def named_thinking(settings: Settings) -> str:
    """What the name of a model says about its thinking, since that changes its replies: nothing for "auto"."""
    return "" if settings.thinking == "auto" else f" thinking={settings.thinking}"


def as_tools(functions: Sequence[FunctionSpec]) -> list[dict[str, Any]]:
    """Functions in the form of OpenAI's `tools`, which is Ollama's, too."""
    return [{"type": "function", "function": asdict(spec)} for spec in functions]
