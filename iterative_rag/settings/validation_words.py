"""What pydantic says about a value, in words that need no knowledge of pydantic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from iterative_rag.text.plurals import counted

# By the kind of pydantic's error, or what it begins with.
_WORDS = {
    "greater_than_equal": "at least {ge:,.10g}",
    "greater_than": "more than {gt:,.10g}",
    "less_than_equal": "at most {le:,.10g}",
    "less_than": "less than {lt:,.10g}",
    "string_too_long": "text of at most {max_length}",
    "string_too_short": "text of at least {min_length}",
    "too_long": "a list of at most {max_length}",
    "too_short": "a list of at least {min_length}",
    "int": "a whole number",
    "float": "a number",
    "finite": "a number",
    "bool": "true or false",
    "string": "text",
}
_LONGEST = 60


def required(error: Mapping[str, Any]) -> str:
    """What a value has to be: "at least 1". `error` is one of `ValidationError.errors()`."""
    kind, context = str(error["type"]), dict(error.get("ctx", {}))
    if "expected" in context:
        return str(context["expected"])
    said = str(error["msg"])
    if kind == "value_error":  # raised by a parser of ours or of typer, after words of pydantic
        said = said.removeprefix("Value error, ").rstrip(".")
        _, separator, choices = said.partition(" is not one of ")
        return f"one of {choices}" if separator else said
    words = _WORDS.get(kind) or _WORDS.get(kind.split("_")[0])
    if words is None:
        return said
    unit = "character" if kind.startswith("string") else "item"
    lengths = {name: counted(context[name], unit) for name in ("max_length", "min_length") if name in context}
    return words.format(**context | lengths)


def shortened(value: object) -> str:
    """The value as it was typed, not too long for a message."""
    text = str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
