"""Finds the JSON in what a model wrote, however it is wrapped, and reads it as the form that was asked for; and the
answer in a reply that is still being written."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from iterative_rag.llm.replies.coercion import written_text
from iterative_rag.llm.replies.forms import R, Reply
from iterative_rag.remote.reply_limits import excess


class Unparsable(ValueError):
    """Why a text is not the reply that was asked for, in words that help the model to correct it."""


_THOUGHT_TAG = re.compile(r"<(/?)(?:think|thinking|reasoning)>", re.IGNORECASE)
_FENCE = re.compile(r"^```[a-z]*\s*|\s*```$", re.IGNORECASE)
_OPENING = re.compile(r"[{\[]")
# A comma before a closing bracket, and texts, which may hold one. A text may lack its end.
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]++|\\.)*+"?)|,(?=\s*[}\]])', re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)
# How many brackets are tried for the beginning of a value.
_MOST_OPENINGS = 200


def parse(text: str, reply_type: type[R]) -> R:
    """Read `text` as a `reply_type`; of several JSON objects the last that fits counts. Raises Unparsable."""
    shown = visible(text)
    wrong = ""
    plain = _TRAILING_COMMA.sub(lambda match: match[1] or "", shown)
    for values in ([value for value, _, _ in _values(plain)], _literal(shown)):
        joined = reply_type.joined(values)
        # A bare list counts only where no object fits: there are brackets in chatter, too.
        objects = [value for value in joined if isinstance(value, dict)]
        # An empty one does not mean "nothing": a model that fails may write it.
        lists = [value for value in joined if isinstance(value, list) and value]
        for value in (*reversed(objects), *reversed(lists)):
            try:
                return validated(_fitted(value, reply_type), reply_type)
            except Unparsable as error:
                wrong = wrong or str(error)
    bare = _OPENING.search(shown) is None
    raise Unparsable(wrong or ("it held no JSON object" if bare else "its JSON was cut off or is not valid"))


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


def _values(text: str) -> Iterator[tuple[Any, int, int]]:
    """The outermost JSON objects and arrays in `text`, left to right, whatever is around them, each with where it
    begins and ends."""
    position = 0
    for _ in range(_MOST_OPENINGS):
        opening = _OPENING.search(text, position)
        if opening is None:
            return
        try:
            value, position = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):  # also a number of too many digits
            position = opening.end()
        else:
            yield value, opening.start(), position


def _literal(text: str) -> list[Any]:
    """The object or array of a text as a Python literal (single quotes), which cannot run anything."""
    opening, end = _OPENING.search(text), max(text.rfind("}"), text.rfind("]")) + 1
    if opening is None:
        return []
    try:
        return [ast.literal_eval(text[opening.start() : end])]
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return []


def ends_in_json(text: str, *, only: bool = False) -> bool:
    """Whether a text ends with a JSON value; whether that is all there is of it, but for a fence and thoughts, if
    `only`."""
    if text.rstrip()[-1:] not in ("}", "]", "`"):  # without reading what is still being written
        return False
    try:
        shown = _FENCE.sub("", visible(text)).strip("\ufeff \n\r\t")
    except Unparsable:
        return False
    places = [(start, end) for _, start, end in _values(shown)]
    return bool(places) and places[-1][1] == len(shown) and not (only and places[-1][0])


def _fitted(value: Any, reply_type: type[Reply]) -> Any:
    """The object that is wanted, where a bare list came: of what its one field holds, or of several whole replies (the
    last counts)."""
    if not isinstance(value, list):
        return value
    if isinstance(value[-1], dict) and set(value[-1]) & set(reply_type.model_fields):
        return value[-1]
    field, *others = reply_type.model_fields
    return value if others or not all(isinstance(item, dict) for item in value) else {field: value}


def complaint(error: ValidationError) -> str:
    """What is wrong with a reply, in words that a model understands."""
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    return f"the field {field!r} is wrong: {first['msg']}" if field else first["msg"]


# --- while a reply is being written --------------------------------------------------------------

_TEXT = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f]")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_THOUGHTS_END = "</think>"


def answer_so_far(reply: str) -> str:
    """The text of the answer as far as the reply holds it; "" before it begins, and where the reply is no answer."""
    fields = written_object(reply)
    if str(fields.get("status", "answered")).strip(" .").casefold() != "answered":
        return ""
    return written_text(fields.get("answer"))


def written_object(reply: str) -> Mapping[str, Any]:
    """The JSON object of a reply as far as it is written: its last text may be unfinished, and a name without a value
    is left out. Empty before it begins, and where it is no JSON."""
    if reply.lstrip().startswith("<think") and _THOUGHTS_END not in reply:
        return {}
    begin = reply.find("{", reply.rfind(_THOUGHTS_END) + 1)
    if begin < 0:
        return {}
    text = _TEXT.sub(_as_json, reply[begin:])
    try:
        written = from_json(text, allow_partial="trailing-strings")
    except ValueError:
        return {}
    return written if isinstance(written, Mapping) else {}


def _as_json(said: re.Match[str]) -> str:
    """A text with its line breaks as JSON writes them; "" where a backslash escapes nothing."""
    if set(_ESCAPE.findall(said[0])) - set('"\\/bfnrtu'):
        return '""'
    return _CONTROL.sub(lambda sign: json.dumps(sign[0])[1:-1], said[0])
