"""A request for a chat completion: its model, its question, and the conversation before it.

The models are `iterative-rag:CORPUS`, and `iterative-rag:CORPUS:STRATEGY` for another strategy than the server's. What
would change the form of a reply and is not supported is refused, so that no client waits for what never comes; other
parameters, such as those of sampling, change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from iterative_rag.errors import CorpusNotFound, UsageError
from iterative_rag.registry import STRATEGIES
from iterative_rag.serve.rag_pool import RagPool
from iterative_rag.serve.runs.run_request import Text
from iterative_rag.settings.model import complaint
from iterative_rag.text.control_characters import one_line
from iterative_rag.text.markup import plain
from iterative_rag.types import Earlier, Exchange

FAMILY = "iterative-rag"
# What a follow-up that was put in other words begins with.
UNDERSTOOD = "Understood as:"
# What is read of a long conversation. Clients send what they like: no pattern sees more of a message.
_MOST_EXCHANGES = 20
_MOST_CHARS = 1000
_MOST_READ = 20_000


class RequestRefused(UsageError):
    """A parameter that is wrong, or that is not supported here. `code` is the protocol's."""

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.param, self.code = param, code


class ModelUnknown(RequestRefused):
    """The model of a request does not exist."""

    def __init__(self, model: str) -> None:
        told, hint = f"The model {model!r:.200} does not exist.", "The list of models names them."
        super().__init__(told, param="model", code="model_not_found", hint=hint)


# --- models ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelName:
    """`strategy` is "" for the server's."""

    corpus: str
    strategy: str = ""

    def __str__(self) -> str:
        return ":".join(filter(None, (FAMILY, self.corpus, self.strategy)))


def offered(pool: RagPool) -> list[ModelName]:
    """The models that are listed: each corpus, and then with each strategy that the backend can follow."""
    corpora = list(dict.fromkeys([pool.default_corpus, *pool.corpora()]))
    strategies = STRATEGIES.offered_with(pool.backends[0])
    with_strategy = [ModelName(corpus, strategy) for corpus in corpora for strategy in strategies]
    return [*(ModelName(corpus) for corpus in corpora), *with_strategy]


def parsed(model: str, pool: RagPool) -> ModelName:
    """The name alone stands for the default corpus; several stand between commas. Raises ModelUnknown."""
    family, _, rest = model.partition(":")
    corpus, _, strategy = rest.partition(":")
    if family != FAMILY or (strategy and strategy not in STRATEGIES.offered):
        raise ModelUnknown(model)
    try:
        return ModelName(pool.served(corpus), strategy)
    except CorpusNotFound as error:
        raise ModelUnknown(model) from error


# --- the body --------------------------------------------------------------------------------------

_NOTHING: tuple[object, ...] = (None, [], {}, "", False)
# Parameters that may only have these values.
_FIXED: Mapping[str, tuple[tuple[object, ...], str]] = {
    "n": ((None, 1), "One answer is given: n may only be 1."),
    "tools": (_NOTHING, "Tools are not supported: iterative-rag answers from its corpora. It offers tools by MCP."),
    "functions": (_NOTHING, "Functions are not supported: iterative-rag answers from its corpora."),
    "response_format": ((None, {"type": "text"}), "Answers are text: JSON modes are not supported."),
}
_ONLY_TEXT = "Only text can be asked about."


def _joined(content: object) -> object:
    """The text of parts of text, a line each; pictures, sound and files are refused."""
    if not isinstance(content, list):
        return content
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind not in ("text", "input_text", "refusal") or not isinstance(part.get("text"), str):
            raise ValueError(_ONLY_TEXT)
    return "\n".join(part["text"] for part in content)


class _Used(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class Message(_Used):
    """One of the conversation; only those of a "user" and of the "assistant" count."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    text: Annotated[Text, BeforeValidator(_joined)] = Field("", alias="content")


class _StreamOptions(_Used):
    include_usage: bool | None = None


class ChatRequested(_Used):
    """A request that was checked."""

    model: str = Field(min_length=1)
    messages: list[Message] = Field(min_length=1, max_length=2000)
    stream: bool | None = None
    stream_options: _StreamOptions | None = None

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


def chat_requested(body: Mapping[str, Any]) -> ChatRequested:
    """Raises RequestRefused, which names the parameter."""
    for name, (allowed, reason) in _FIXED.items():
        if not any(type(body.get(name)) is type(known) and body.get(name) == known for known in allowed):
            raise RequestRefused(reason, param=name, code="unsupported_parameter")
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
    if _ONLY_TEXT in first["msg"]:
        return RequestRefused(_ONLY_TEXT, param=param, code="unsupported_content")
    code = "invalid_type" if first["type"].endswith("_type") else "invalid_value"
    return RequestRefused(f"{param} is not valid: {complaint(first)}.", param=param, code=code)


# --- the conversation before the question ----------------------------------------------------------

_FOLDED, _UNFOLDED = "<details", "</details>"
_UNDERSTOOD = re.compile(rf"\A\*{re.escape(UNDERSTOOD)} (?P<question>.+)\*\s*\n")
# Not the label of an ending without an answer, which ends with a colon.
_BOLD = re.compile(r"\*\*(?P<value>(?:[^*\n\\]|\\.)+?)(?<!:)\*\*")
_LABEL = re.compile(r"\A\*\*(?:[^*\n])+:\*\*")


def earlier_of_messages(messages: Sequence[Message]) -> Earlier | None:
    """What a follow-up is understood from: the last exchanges of a user with this server, None where there are none. A
    client sends all messages each time; an answer says how the question was understood, and its value in bold type."""
    exchanges = [
        _exchange(query.text[:_MOST_READ], _without_reasoning(reply.text)[:_MOST_READ])
        for query, reply in pairwise(messages)
        if (query.role, reply.role) == ("user", "assistant") and query.text.strip()
    ]
    return Earlier(tuple(exchanges[-_MOST_EXCHANGES:])) if exchanges else None


def _without_reasoning(replied: str) -> str:
    """The reply without the block in which some clients keep the reasoning."""
    before, folded, rest = replied.partition(_FOLDED)
    _, ended, after = rest.partition(_UNFOLDED)
    return f"{before}{after}".lstrip() if folded and ended else replied.lstrip()


def _exchange(asked: str, replied: str) -> Exchange:
    if understood := _UNDERSTOOD.match(replied):
        asked, replied = plain(understood["question"]), replied[understood.end() :].lstrip()
    said = replied.partition("\n\n")[0][:_MOST_CHARS]
    value = None if _LABEL.match(said) else _BOLD.search(said)
    short = one_line(plain(value["value"])) if value else ""
    return Exchange(one_line(asked)[:_MOST_CHARS], short[:_MOST_CHARS], one_line(plain(said))[:_MOST_CHARS])


# --- what a chat program puts around a question ----------------------------------------------------

_TASK = "### Task:\n"


def question_within(prompt: str) -> str:
    """The user's question, also where Open WebUI has put it into a prompt about documents of its own. "" for its own
    prompts, by which it asks for titles, tags and follow-up questions after each answer: none is about the corpus."""
    if not prompt.lstrip().startswith(_TASK):
        return prompt
    query, ended, _ = prompt.partition("<user_query>")[2].partition("</user_query>")
    return query.strip() if ended else ""
