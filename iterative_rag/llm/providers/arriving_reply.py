"""A reply as far as its stream has come, in the chunks of LlamaIndex, with what those leave in the server's own words:
why it ended, what it counted, and calls of functions that come several at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from iterative_rag.llm.providers.server_traits import about_tokens
from iterative_rag.llm.replies.json_parsing import ends_in_json
from iterative_rag.protocols import ChatReply, ChatRequest, FunctionCall

if TYPE_CHECKING:
    from llama_index.core.base.llms.types import ChatResponse


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
