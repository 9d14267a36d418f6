"""What pydantic says about a value, in words that need no knowledge of pydantic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from iterative_rag.text.plurals import counted

_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "finite": "a number",
    "bool": "true or false",
    "string": "text",
}
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("more than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
}
_LENGTHS = {
    "string_too_long": ("text of at most", "max_length", "character"),
    "string_too_short": ("text of at least", "min_length", "character"),
    "too_long": ("a list of at most", "max_length", "item"),
    "too_short": ("a list of at least", "min_length", "item"),
}
_LONGEST = 60


def required(error: Mapping[str, Any]) -> str:
    """What a value has to be: "at least 1". `error` is one of `ValidationError.errors()`."""
    kind, context = str(error["type"]), error.get("ctx", {})
    if kind in _BOUNDS:
        words, bound = _BOUNDS[kind]
        return f"{words} {context[bound]:,.10g}"
    if kind in _LENGTHS:
        words, bound, unit = _LENGTHS[kind]
        return f"{words} {counted(context[bound], unit)}"
    if "expected" in context:
        return str(context["expected"])
    said = str(error["msg"])
    if kind == "value_error":  # raised by a parser of ours or of typer, after words of pydantic
        said = said.removeprefix("Value error, ").rstrip(".")
        _, separator, choices = said.partition(" is not one of ")
        return f"one of {choices}" if separator else said
    return _KINDS.get(kind.split("_")[0], said)


def shortened(value: object) -> str:
    """The value as it was typed, not too long for a message."""
    text = str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
