"""Finds the JSON in what a model wrote, however it is wrapped, and reads it as the form that was asked for."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from iterative_rag.llm.replies.forms import ExtractionReply, R, Reply


class Unparsable(ValueError):
    """Why a text is not the reply that was asked for, in words that help the model to correct it."""


_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"^.*?</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)


def parse(text: str, reply_type: type[R]) -> R:
    """Read `text` as a `reply_type`; of several JSON objects the last that fits counts. Raises Unparsable."""
    shown = visible(text)
    values = reply_type.joined(list(json_values(shown)), shown)
    wrong = ""
    # A bare list counts only where no object fits: there are brackets in chatter, too.
    objects = [value for value in values if isinstance(value, dict)]
    # An empty one does not mean "nothing": a model that fails may write it.
    lists = [value for value in values if isinstance(value, list) and value]
    for value in (*reversed(objects), *reversed(lists)):
        try:
            return reply_type.model_validate(_fitted(value, reply_type))
        except ValidationError as error:
            wrong = wrong or complaint(error)
    raise Unparsable(wrong or _no_json(shown))


def visible(text: str) -> str:
    """The reply without the thoughts of a model that shows them. Raises Unparsable where nothing is left."""
    shown = _OPEN_THOUGHT.sub("", _THOUGHTS.sub("", text)).strip()
    if not shown:
        raise Unparsable("it was empty")
    return shown


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
    """The JSON value that starts at `start` and the offset after it, repaired where that is safe."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, start)
    except (json.JSONDecodeError, RecursionError):
        end = _closing(text, start)
    repaired = None if end is None else _repaired(text[start:end])
    return None if repaired is None or end is None else (repaired, end)


def _closing(text: str, start: int) -> int | None:
    """The offset after the bracket that closes the one at `start`; brackets inside strings do not count."""
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


def _repaired(text: str) -> Any | None:
    """Read without trailing commas, or else as a Python literal (single quotes), which cannot run anything."""
    try:
        return json.loads(_without_trailing_commas(text), strict=False)
    except (json.JSONDecodeError, RecursionError):
        pass
    try:
        value = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _without_trailing_commas(text: str) -> str:
    return re.sub(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', lambda match: match.group(1) or "", text, flags=re.DOTALL)


def _fitted(value: Any, reply_type: type[Reply]) -> Any:
    """The object that is wanted, where a bare list came: of facts, or of several whole replies (the last counts)."""
    if not isinstance(value, list):
        return value
    if isinstance(value[-1], dict) and set(value[-1]) & set(reply_type.model_fields):
        return value[-1]
    if reply_type is ExtractionReply and all(isinstance(item, dict) for item in value):
        return {"facts": value}
    return value


def complaint(error: ValidationError) -> str:
    """What is wrong with a reply, in words that a model understands."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"the field {place!r} is wrong: {first['msg']}" if place else first["msg"]


def _no_json(text: str) -> str:
    if _next_opening(text, 0) is None:
        return "it held no JSON object"
    return "its JSON was cut off or is not valid"
