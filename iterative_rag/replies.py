"""Model text -> typed reply: the one place where what a model wrote is read.

`parse` finds the JSON in a reply, however it is wrapped; `ask` makes the call, tells the model once what was wrong
with its reply, and then fails with ReplyUnreadable, which keeps what the attempts cost.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from iterative_rag.errors import LLMError, LLMTimeout, ReplyTruncated, ReplyUnreadable
from iterative_rag.protocols import ChatModel, ChatReply, ChatRequest, Meter
from iterative_rag.types import Usage

# --- what the roles reply ----------------------------------------------------------------------


def _as_text(value: Any) -> Any:
    """3 -> "3", None -> "", ["a", "b"] -> "a, b"; a model means a string when it writes one of these."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list) and all(isinstance(part, str | int | float) for part in value):
        return ", ".join(str(part) for part in value)
    return value.strip() if isinstance(value, str) else value


def _as_list(value: Any) -> Any:
    """A single item where a list is wanted becomes a list of one; nothing becomes an empty list."""
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def _as_questions(value: Any) -> Any:
    """The questions of `needs`, also where the model wrapped each in an object of one field."""
    items = [next(iter(x.values())) if isinstance(x, dict) and len(x) == 1 else x for x in _as_list(value)]
    return [item for item in items if item not in ("", None)]


def _as_share(value: Any) -> Any:
    """ "0.8", "80%" and 80 all mean 0.8; the result lies in 0..1."""
    if isinstance(value, str):
        number = re.search(r"\d+(?:\.\d+)?", value)
        if number is None:
            words = {"high": 0.9, "medium": 0.6, "low": 0.3}
            return words.get(value.strip().casefold(), 0.5)
        value = float(number.group()) / (100 if "%" in value else 1)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return min(1.0, max(0.0, value / 100 if 1 < value <= 100 else value))
    return 0.5 if value is None else value


def _as_word(value: Any) -> Any:
    """ "Not in facts" -> "not_in_facts": the spelling of the schema's words."""
    return re.sub(r"[\s-]+", "_", value.strip().casefold()) if isinstance(value, str) else value


def _as_verdict(value: Any) -> Any:
    """ "Correct.", "TRUE" and true mean "correct"; what is not plainly one of the two stays as it is."""
    words = {"true": "correct", "yes": "correct", "false": "incorrect", "no": "incorrect"}
    if isinstance(value, bool):
        return "correct" if value else "incorrect"
    word = value.strip(" .!*\"'").casefold() if isinstance(value, str) else value
    return words.get(word, word) if isinstance(word, str) else word


Text = Annotated[str, BeforeValidator(_as_text)]
Share = Annotated[float, BeforeValidator(_as_share)]


class Reply(BaseModel):
    """Fields stand in the order in which the model writes them: thoughts before verdicts."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class AnalysisReply(Reply):
    reason: Text = ""
    status: Annotated[Literal["known", "needs", "stuck"], BeforeValidator(_as_word)]
    needs: Annotated[list[Text], BeforeValidator(_as_questions)] = []


class ExtractedFact(Reply):
    statement: Text = ""
    quote: Text = ""
    value: Text = ""


class ExtractionReply(Reply):
    facts: Annotated[list[ExtractedFact], BeforeValidator(_as_list)]


class RephrasingReply(Reply):
    question: Text


class AnswerReply(Reply):
    working: Text = ""
    status: Annotated[Literal["answered", "not_in_facts", "false_premise"], BeforeValidator(_as_word)]
    answer: Text = ""
    short_answer: Text = ""
    missing: Text = ""
    confidence: Share = 0.5


class RecallReply(Reply):
    working: Text = ""
    status: Annotated[Literal["answered", "unknown"], BeforeValidator(_as_word)]
    short_answer: Text = ""
    confidence: Share = 0.5


class JudgeReply(Reply):
    reason: Text = ""
    verdict: Annotated[Literal["correct", "incorrect"], BeforeValidator(_as_verdict)]


R = TypeVar("R", bound=Reply)


def schema(reply_type: type[Reply]) -> dict[str, Any]:
    """The JSON schema that a server is sent: flat, every field required, nothing besides (OpenAI's strict form)."""
    whole = reply_type.model_json_schema(mode="validation")
    definitions = whole.pop("$defs", {})
    plain = _plain(whole, definitions)
    assert isinstance(plain, dict)
    return plain


def _plain(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_plain(part, definitions) for part in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _plain(definitions[node["$ref"].rsplit("/", 1)[-1]], definitions)
    kept = {key: value for key, value in node.items() if key not in ("title", "default", "description")}
    if "properties" in kept:
        fields = {name: _plain(part, definitions) for name, part in kept["properties"].items()}
        return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {key: _plain(value, definitions) for key, value in kept.items()}


def schema_version(reply_type: type[Reply]) -> str:
    """Changes whenever the form of the reply does: a part of cache keys."""
    return hashlib.sha256(json.dumps(schema(reply_type)).encode()).hexdigest()[:8]


# --- reading a reply ---------------------------------------------------------------------------


class Unparsable(ValueError):
    """Why a text is not the reply that was asked for, in words that help the model to mend it."""


_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"^.*?</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)


def parse(text: str, reply_type: type[R]) -> R:
    """Read `text` as a `reply_type`; of several JSON objects the last that fits counts. Raises Unparsable."""
    visible = _OPEN_THOUGHT.sub("", _THOUGHTS.sub("", text)).strip()
    if not visible:
        raise Unparsable("it was empty")
    values = list(json_values(visible))
    wrong = ""
    # A bare list counts only where no object fits: brackets stand in chatter too.
    objects = [value for value in values if isinstance(value, dict)]
    lists = [value for value in values if isinstance(value, list)]
    for value in (*reversed(objects), *reversed(lists)):
        try:
            return reply_type.model_validate(_fitted(value, reply_type))
        except ValidationError as error:
            wrong = wrong or _complaint(error)
    raise Unparsable(wrong or _no_json(visible))


def json_values(text: str) -> Iterator[Any]:
    """The outermost JSON objects and arrays in `text`, left to right; text around them is passed over."""
    position = 0
    while (start := _next_opening(text, position)) is not None:
        found = _value_at(text, start)
        if found is not None:
            yield found[0]
        position = start + 1 if found is None else found[1]


def _next_opening(text: str, position: int) -> int | None:
    places = [place for place in (text.find("{", position), text.find("[", position)) if place >= 0]
    return min(places, default=None)


def _value_at(text: str, start: int) -> tuple[Any, int] | None:
    """The JSON value that starts at `start` and the place after it, mended where that is safe."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, start)
    except (json.JSONDecodeError, RecursionError):
        end = _closing(text, start)
    mended = None if end is None else _mended(text[start:end])
    return None if mended is None or end is None else (mended, end)


def _closing(text: str, start: int) -> int | None:
    """The place after the bracket that closes the one at `start`; brackets inside strings do not count."""
    pairs = {"}": "{", "]": "["}
    stack: list[str] = []
    quoted = escaped = False
    for place in range(start, len(text)):
        character = text[place]
        if quoted:
            quoted = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            quoted = True
        elif character in "{[":
            stack.append(character)
        elif character in pairs:
            if not stack or stack.pop() != pairs[character]:
                return None
            if not stack:
                return place + 1
    return None


def _mended(text: str) -> Any | None:
    """Trailing commas dropped; single-quoted literals read as Python's, which cannot run anything."""
    try:
        return json.loads(_without_trailing_commas(text), strict=False)
    except (json.JSONDecodeError, RecursionError):
        pass
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _without_trailing_commas(text: str) -> str:
    return re.sub(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', lambda match: match.group(1) or "", text, flags=re.DOTALL)


def _fitted(value: Any, reply_type: type[Reply]) -> Any:
    """A bare list where an object with one list is wanted ([..] for {"facts": [..]}) is put into it."""
    if not isinstance(value, list):
        return value
    if len(value) == 1 and isinstance(value[0], dict) and set(value[0]) & set(reply_type.model_fields):
        return value[0]
    if reply_type is ExtractionReply and all(isinstance(item, dict) for item in value):
        return {"facts": value}
    return value


def _complaint(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"the field {place!r} is wrong: {first['msg']}" if place else first["msg"]


def _no_json(text: str) -> str:
    if _next_opening(text, 0) is None:
        return "it held no JSON object"
    return "its JSON was cut off or is not valid"


# --- asking ------------------------------------------------------------------------------------

Check = Callable[[R], str]


def ask(model: ChatModel, meter: Meter, request: ChatRequest, reply_type: type[R], check: Check[R] | None = None) -> R:
    """Call the model and read its reply; one retry that says what was wrong with the first.

    `check` returns a complaint about a readable reply, "" if it is fine. A complaint costs the retry too, but never
    the reply: the better of the two readable ones comes back. Raises LLMError, CapReached.
    """
    spent = Usage()
    kept: R | None = None
    wrong = text = ""
    for attempt in (1, 2):
        try:
            reply, seconds = _call(model, meter, _with_complaint(request, wrong, text))
        except ReplyTruncated as error:
            if attempt == 2 or error.retryable:
                raise
            wrong, text = "it was too long and was cut off; be much shorter", ""
            continue
        spent = _added(spent, reply, seconds)
        text = reply.text
        try:
            parsed = parse(text, reply_type)
        except Unparsable as error:
            wrong = str(error)
            continue
        kept = parsed
        wrong = check(parsed) if check else ""
        if not wrong:
            return parsed
    if kept is not None:
        return kept
    raise ReplyUnreadable(
        f"The model {model.name} did not reply in the form asked for ({request.role}), twice: {wrong}.",
        reply=text,
        usage=spent,
        hint="Try a larger model, or one that follows JSON schemas.",
    )


def _call(model: ChatModel, meter: Meter, request: ChatRequest) -> tuple[ChatReply, float]:
    request = replace(request, seconds=meter.before_call(request.role))
    begun = time.monotonic()
    try:
        reply = model.complete(request)
    except LLMError as error:
        waited = time.monotonic() - begun
        meter.failed_call(request, error, model.name, waited)
        if isinstance(error, LLMTimeout) and request.seconds is not None and waited >= request.seconds:
            meter.before_call(request.role)  # raises CapReached: not the model's time was up but the run's
        raise
    seconds = time.monotonic() - begun
    meter.after_call(request, reply, model.name, seconds)
    return reply, seconds


def _with_complaint(request: ChatRequest, wrong: str, text: str) -> ChatRequest:
    """The same request with the complaint at its end, so that a server's prefix cache still holds the rest."""
    if not wrong:
        return request
    began = f" It began: {json.dumps(text[:200], ensure_ascii=False)}" if text.strip() else ""
    advice = f"Your last reply could not be used: {wrong}.{began}\nReply again, with the JSON object alone."
    return replace(request, user=f"{request.user}\n\n{advice}")


def _added(spent: Usage, reply: ChatReply, seconds: float) -> Usage:
    return Usage(
        llm_calls=spent.llm_calls + 1,
        prompt_tokens=spent.prompt_tokens + reply.prompt_tokens,
        completion_tokens=spent.completion_tokens + reply.completion_tokens,
        seconds=spent.seconds + seconds,
    )
