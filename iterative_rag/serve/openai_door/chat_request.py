"""A request for a chat completion: what of it is used, what is ignored, and what is refused.

An answer is the same whatever the sampling parameters say, so those are ignored. What would change the form of a reply
and is not supported is refused, so that no client waits for what never comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from iterative_rag.serve.openai_door.protocol import RequestRefused
from iterative_rag.serve.runs.run_request import Text
from iterative_rag.settings.validation_words import required

# Sampling, accounting, and what servers of local models add to the protocol.
_SAMPLING = (
    *("temperature", "top_p", "top_k", "min_p", "typical_p", "tfs_z", "mirostat", "mirostat_eta", "mirostat_tau"),
    *("frequency_penalty", "presence_penalty", "repetition_penalty", "repeat_penalty", "repeat_last_n", "logit_bias"),
    *("seed", "reasoning_effort", "reasoning", "include_reasoning", "think", "prediction"),
)
_ACCOUNTING = (
    *("user", "metadata", "store", "service_tier", "safety_identifier", "parallel_tool_calls", "prompt_cache_key"),
    *("prompt_cache_retention", "cache_prompt", "chat_template_kwargs", "keep_alive", "options"),
    *("num_ctx", "num_keep", "num_predict"),
)
_IGNORED = frozenset((*_SAMPLING, *_ACCOUNTING))
_NOTHING: tuple[object, ...] = (None, [], {}, "", False)
# Parameters that may only have these values.
_FIXED: Mapping[str, tuple[tuple[object, ...], str]] = {
    "n": ((None, 1), "One answer is given: n may only be 1."),
    "logprobs": ((None, False), "Log probabilities are not supported."),
    "top_logprobs": ((None, 0), "Log probabilities are not supported."),
    "tools": (
        _NOTHING,
        "Tools are not supported: iterative-rag answers from its corpora. It offers tools by MCP.",
    ),
    "functions": (_NOTHING, "Functions are not supported: iterative-rag answers from its corpora."),
    "tool_choice": ((None, "none", "auto"), "Tools are not supported."),
    "function_call": ((None, "none", "auto"), "Functions are not supported."),
    "modalities": ((None, ["text"]), "Answers are text."),
    "audio": (_NOTHING, "Answers are text."),
    "web_search_options": (_NOTHING, "Whether the web is searched is a setting of the server."),
    "response_format": ((None, {"type": "text"}), "Answers are text: JSON modes are not supported."),
}
_ONLY_TEXT = "Only text can be asked about."
# What the protocol calls the verbosity of an answer, and the setting `length`.
_LENGTHS = {None: "", "low": "short", "medium": "paragraph", "high": "report"}


def _joined(content: object) -> object:
    """The text of parts of text, a line each; pictures, sound and files are refused."""
    if not isinstance(content, list):
        return content
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind not in ("text", "input_text", "refusal") or not isinstance(part.get("text"), str):
            raise ValueError(_ONLY_TEXT)
    return "\n".join(part["text"] for part in content)


def _listed(stop: object) -> object:
    return [stop] if isinstance(stop, str) else stop


Stop = Annotated[str, Field(min_length=1)]


class _Used(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class Message(_Used):
    """One of the conversation; only those of a "user" and of the "assistant" count."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    text: Annotated[Text, BeforeValidator(_joined)] = Field("", alias="content")


class _StreamOptions(_Used):
    include_usage: bool | None = None


class ChatRequested(_Used):
    """A request that was checked. `max_tokens` bounds the text of the answer, None for no bound. `stop` are texts that
    end it where one of them stands."""

    model: str = Field(min_length=1)
    messages: list[Message] = Field(min_length=1, max_length=2000)
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    stop: Annotated[list[Stop] | None, BeforeValidator(_listed)] = Field(None, max_length=4)
    max_completion_tokens: int | None = Field(None, ge=1)
    max_tokens: int | None = Field(None, ge=1)
    verbosity: Literal["low", "medium", "high"] | None = None

    @property
    def _asked_at(self) -> int:
        return max(index for index, message in enumerate(self.messages) if message.role == "user")

    @property
    def question(self) -> str:
        """The last message of the user."""
        return self.messages[self._asked_at].text

    @property
    def earlier(self) -> list[Message]:
        """The messages before the question, without those of the system."""
        return [message for message in self.messages[: self._asked_at] if message.role in ("user", "assistant")]

    @property
    def include_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)

    @property
    def most_tokens(self) -> int | None:
        return self.max_completion_tokens or self.max_tokens

    @property
    def length(self) -> str:
        """The setting of that name, "" for that of the server."""
        return _LENGTHS[self.verbosity]


def chat_requested(body: Mapping[str, Any]) -> ChatRequested:
    """Raises RequestRefused, which names the parameter."""
    for name, value in body.items():
        if name in _FIXED:
            allowed, reason = _FIXED[name]
            if not any(type(value) is type(known) and value == known for known in allowed):
                raise RequestRefused(reason, param=name, code="unsupported_parameter")
        elif name not in ChatRequested.model_fields and name not in _IGNORED:
            told = name[:60].encode(errors="replace").decode()  # JSON can hold lone surrogates, a reply cannot
            raise RequestRefused(f"Unknown parameter: {name!r:.60}.", param=told, code="unknown_parameter")
    try:
        requested = ChatRequested.model_validate(body)
    except ValidationError as error:
        raise _refused(error) from error
    if not any(message.role == "user" for message in requested.messages):
        raise RequestRefused("There is no message of a user.", param="messages")
    if requested.stream_options and not requested.stream:
        raise RequestRefused("stream_options may only be given with stream.", param="stream_options")
    return requested


def _refused(error: ValidationError) -> RequestRefused:
    first = error.errors(include_url=False, include_input=False)[0]
    param = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).removeprefix(".")
    if param == "model":
        told = "you must provide a model parameter"
        return RequestRefused(told, param=param, hint="The list of models names them.")
    if _ONLY_TEXT in first["msg"]:
        return RequestRefused(_ONLY_TEXT, param=param, code="unsupported_content")
    code = "invalid_type" if first["type"].endswith("_type") else "invalid_value"
    return RequestRefused(f"{param} is not valid: it must be {required(first)}.", param=param, code=code)
