"""Finds the JSON in what a model wrote, however it is wrapped, and reads it as the form that was asked for."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from iterative_rag.llm.replies.forms import ExtractionReply, R, Reply
from iterative_rag.remote.reply_limits import MAX_DEPTH, excess


class Unparsable(ValueError):
    """Why a text is not the reply that was asked for, in words that help the model to correct it."""


_THOUGHT_TAG = re.compile(r"<(/?)(?:think|thinking|reasoning)>", re.IGNORECASE)
_FENCE = re.compile(r"^```[a-z]*\s*|\s*```$", re.IGNORECASE)
# What counts for the structure of JSON: brackets, and texts with what they hold. A text may lack its end.
_MARK = re.compile(r'[][{}]|"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_CLOSES = {"}": "{", "]": "["}
# How often a text is read on the whole, all attempts to find a value in it together.
_MOST_READINGS = 20


def parse(text: str, reply_type: type[R]) -> R:
    """Read `text` as a `reply_type`; of several JSON objects the last that fits counts. Raises Unparsable."""
    shown = visible(text)
    values = reply_type.joined(list(json_values(shown)))
    wrong = ""
    # A bare list counts only where no object fits: there are brackets in chatter, too.
    objects = [value for value in values if isinstance(value, dict)]
    # An empty one does not mean "nothing": a model that fails may write it.
    lists = [value for value in values if isinstance(value, list) and value]
    for value in (*reversed(objects), *reversed(lists)):
        try:
            return validated(_fitted(value, reply_type), reply_type)
        except Unparsable as error:
            wrong = wrong or str(error)
    raise Unparsable(wrong or _no_json(shown))


def validated(value: Any, reply_type: type[R]) -> R:
    """The reply of this form that a value is. Raises Unparsable, also for texts of a length that nobody asked for."""
    if wrong := excess(value):
        raise Unparsable(wrong)
    try:
        return reply_type.model_validate(value)
    except ValidationError as error:
        raise Unparsable(complaint(error)) from error


def visible(text: str) -> str:
    """The reply without the thoughts of a model that shows them. Raises Unparsable where nothing is left."""
    kept: list[str] = []
    position, inside = 0, False
    for tag in _THOUGHT_TAG.finditer(text):
        if tag[1]:
            kept = kept if inside else []  # thoughts whose beginning stood in the prompt
            position, inside = tag.end(), False
        elif not inside:
            kept.append(text[position : tag.start()])
            position, inside = tag.start(), True
    shown = "".join([*kept, text[position:]]).strip()
    if not shown:
        raise Unparsable("it was empty")
    return shown


def json_values(text: str) -> Iterator[Any]:
    """The outermost JSON objects and arrays in `text`, left to right; text around them is passed over."""
    return (value for value, _, _ in _placed_values(text))


def _placed_values(text: str) -> Iterator[tuple[Any, int, int]]:
    """The outermost values, each with where it begins and ends."""
    position, left = 0, _MOST_READINGS * (len(text) + 1000)
    while left > 0 and (start := _next_opening(text, position)) is not None:
        end, seen = _closing(text, start)
        left -= seen - start
        value = None if end is None else _read(text[start:end])
        if end is None or value is None:
            position = start + 1
        else:
            yield value, start, end
            position = end


def is_whole_json(text: str) -> bool:
    """Whether a reply is one JSON value from its beginning to its end, but for a fence and thoughts."""
    return _ends(text, only=True)


def ends_in_json(text: str) -> bool:
    """Whether a text ends with a JSON value."""
    return _ends(text, only=False)


def _ends(text: str, *, only: bool) -> bool:
    if text.rstrip()[-1:] not in ("}", "]", "`"):  # without reading what is still being written
        return False
    try:
        shown = _FENCE.sub("", visible(text)).strip("\ufeff \n\r\t")
    except Unparsable:
        return False
    places = [(start, end) for _, start, end in _placed_values(shown)]
    return bool(places) and places[-1][1] == len(shown) and not (only and places[-1][0])


def _next_opening(text: str, position: int) -> int | None:
    places = [offset for offset in (text.find("{", position), text.find("[", position)) if offset >= 0]
    return min(places, default=None)


def _closing(text: str, start: int) -> tuple[int | None, int]:
    """The offset after the bracket that closes the one at `start`, None where none does or too many are open; and how
    far the text was read for it. Brackets inside texts do not count."""
    stack: list[str] = []
    end = start
    for mark in _MARK.finditer(text, start):
        bracket, end = mark[0], mark.end()
        if bracket in "{[":
            stack.append(bracket)
            if len(stack) > MAX_DEPTH:
                return None, end
        elif bracket in _CLOSES:
            if not stack or stack.pop() != _CLOSES[bracket]:
                return None, end
            if not stack:
                return end, end
    return None, len(text)


def _read(text: str) -> Any | None:
    """The JSON value of a text, repaired where that is safe."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):  # also a number of too many digits
        return _repaired(text)


def _repaired(text: str) -> Any | None:
    """Read without trailing commas, or else as a Python literal (single quotes), which cannot run anything."""
    try:
        return json.loads(_without_trailing_commas(text), strict=False)
    except (ValueError, RecursionError):
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
    field = ".".join(str(part) for part in first["loc"])
    return f"the field {field!r} is wrong: {first['msg']}" if field else first["msg"]


def _no_json(text: str) -> str:
    if _next_opening(text, 0) is None:
        return "it held no JSON object"
    return "its JSON was cut off or is not valid"
