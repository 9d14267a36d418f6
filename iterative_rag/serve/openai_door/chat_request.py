"""A request for a chat completion: what of it is used, what is ignored, and what is refused.

An answer is the same whatever the sampling parameters say, so those are ignored. What would change the form of a reply
and is not supported is refused, so that no client waits for what never comes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iterative_rag.serve.openai_door.protocol_errors import RequestRefused
from iterative_rag.text.control_characters import without_controls

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
_USED = frozenset(
    {"model", "messages", "stream", "stream_options", "stop", "max_tokens", "max_completion_tokens", "verbosity"}
)
# What the protocol calls the verbosity of an answer, and the setting `length`.
_LENGTHS = {None: "", "low": "short", "medium": "paragraph", "high": "report"}
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_MOST_STOPS = 4
_MOST_MESSAGES = 2000


@dataclass(frozen=True, slots=True)
class Message:
    """One of the conversation: of a "user" or the "assistant"."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class ChatRequested:
    """A request that was checked. `earlier` are the messages before the question without those of the system.

    `most_tokens` bounds the text of the answer, None for no bound. `stops` end it where one of them stands. `length` is
    the setting of that name, "" for that of the server.
    """

    model: str
    question: str
    earlier: tuple[Message, ...]
    stream: bool = False
    include_usage: bool = False
    stops: tuple[str, ...] = ()
    most_tokens: int | None = None
    length: str = ""


def chat_requested(body: Mapping[str, Any]) -> ChatRequested:
    """Raises RequestRefused, which names the parameter."""
    _refuse_unsupported(body)
    model = _of(body, "model", str, "")
    if not model:
        raise RequestRefused("you must provide a model parameter", param="model", hint="The list of models names them.")
    messages = _messages(body.get("messages"))
    last = max((place for place, one in enumerate(messages) if one.role == "user"), default=None)
    if last is None:
        raise RequestRefused("There is no message of a user.", param="messages")
    stream = _of(body, "stream", bool, False)
    options = _of(body, "stream_options", dict, {})
    if options and not stream:
        raise RequestRefused("stream_options may only be given with stream.", param="stream_options")
    return ChatRequested(
        model=model,
        question=messages[last].text,
        earlier=tuple(one for one in messages[:last] if one.role in ("user", "assistant")),
        stream=stream,
        include_usage=_of(options, "include_usage", bool, False),
        stops=_stops(body.get("stop")),
        most_tokens=_most_tokens(body),
        length=_length(body.get("verbosity")),
    )


def _refuse_unsupported(body: Mapping[str, Any]) -> None:
    for name, value in body.items():
        if name in _FIXED:
            allowed, reason = _FIXED[name]
            if not any(type(value) is type(one) and value == one for one in allowed):
                raise RequestRefused(reason, param=name, code="unsupported_parameter")
        elif name not in _USED and name not in _IGNORED:
            told = name[:60].encode(errors="replace").decode()  # JSON can hold lone surrogates, a reply cannot
            raise RequestRefused(f"Unknown parameter: {name!r:.60}.", param=told, code="unknown_parameter")


def _of(values: Mapping[str, Any], name: str, kind: Callable[[], Any], default: Any) -> Any:
    """A value of that type; the default where it is missing or null."""
    value = values.get(name)
    if value is None:
        return default
    if type(value) is not kind:
        raise RequestRefused(f"Invalid type for {name!r}.", param=name, code="invalid_type")
    return value


def _messages(given: object) -> list[Message]:
    if not isinstance(given, list) or not given:
        raise RequestRefused("messages must be a list of at least one message.", param="messages")
    if len(given) > _MOST_MESSAGES:
        raise RequestRefused(f"There are more than {_MOST_MESSAGES:,} messages.", param="messages")
    return [_message(one, place) for place, one in enumerate(given)]


def _message(given: object, place: int) -> Message:
    param = f"messages[{place}]"
    if not isinstance(given, Mapping) or given.get("role") not in _ROLES:
        raise RequestRefused("A message has a role and a content.", param=param, code="invalid_value")
    content = given.get("content")
    if content is None and given["role"] != "user":  # of an assistant that called a tool
        content = ""
    if isinstance(content, list):
        content = "\n".join(_part(one, f"{param}.content[{number}]") for number, one in enumerate(content))
    if not isinstance(content, str):
        raise RequestRefused("The content of a message is text.", param=f"{param}.content", code="invalid_type")
    return Message(given["role"], _text(content, f"{param}.content"))


def _part(given: object, param: str) -> str:
    """The text of one part; pictures, sound and files are refused."""
    kind = given.get("type") if isinstance(given, Mapping) else None
    text = given.get("text") if isinstance(given, Mapping) and kind in ("text", "input_text", "refusal") else None
    if not isinstance(text, str):
        raise RequestRefused("Only text can be asked about.", param=param, code="unsupported_content")
    return text


def _text(content: str, param: str) -> str:
    try:
        content.encode()
    except UnicodeEncodeError as error:
        raise RequestRefused("The text is not valid Unicode.", param=param, code="invalid_value") from error
    return without_controls(content)


def _length(given: object) -> str:
    if not (given is None or isinstance(given, str)) or given not in _LENGTHS:
        raise RequestRefused("verbosity is low, medium or high.", param="verbosity", code="invalid_value")
    return _LENGTHS[given]


def _stops(given: object) -> tuple[str, ...]:
    stops: Sequence[object] = [given] if isinstance(given, str) else given if isinstance(given, list) else []
    wrong = given is not None and not isinstance(given, str | list)
    if wrong or len(stops) > _MOST_STOPS or not all(isinstance(one, str) and one for one in stops):
        raise RequestRefused(f"stop is a text, or a list of up to {_MOST_STOPS} texts.", param="stop")
    return tuple(str(one) for one in stops)


def _most_tokens(body: Mapping[str, Any]) -> int | None:
    for name in ("max_completion_tokens", "max_tokens"):
        value = _of(body, name, int, None)
        if value is not None:
            if value < 1:
                raise RequestRefused(f"{name} must be at least 1.", param=name, code="invalid_value")
            return int(value)
    return None
