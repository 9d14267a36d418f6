"""The form of a grader's reply: labels, scores, or yes and no, under whatever names a model gives them."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema, model_validator

from iterative_rag.llm.replies.coercion import Text, as_list, as_number
from iterative_rag.llm.replies.forms import Reply
from iterative_rag.types import Label
from iterative_rag.types.correcting import scored

YES, NO = "yes", "no"

_WORDS = {word.casefold(): word for word in (*Label, YES, NO)}
_WORD = re.compile(r"[^\W\d_]+")


def _as_label(value: Any) -> str:
    """ "**good**", "Good (it names her)" and 0.8 are Good, true is yes; "" where none of the words stands, or two."""
    if isinstance(value, bool):
        return YES if value else NO
    if isinstance(value, str) and (number := re.fullmatch(r"\s*(0?\.\d+|0\.0|1\.0+)\s*", value)):
        value = float(number[1])
    if isinstance(value, float) and 0 <= value <= 1:
        return str(scored(value, "").label)
    if not isinstance(value, str):
        return ""
    # What follows the label's own word is its reason, whatever words stand there.
    words = [word.casefold() for word in _WORD.findall(value)]
    if words and words[0] in _WORDS:
        return "" if len(words) > 2 and words[1] in {"or", "to", "and"} and words[2] in _WORDS else _WORDS[words[0]]
    named = {word for word in words if word in _WORDS}
    return _WORDS[named.pop()] if len(named) == 1 and "not" not in words else ""


# Other names that models give to the fields of a grade.
_NAMES = {
    "n": ("document", "id", "number", "index", "doc"),
    "reason": ("justification", "explanation"),
    "label": ("grade", "score", "relevance", "relevant", "rating", "verdict"),
}


def _as_row(value: Any, n: Any = None) -> Any:
    """One grade under the fields' own names; None for what is no grade."""
    if isinstance(value, str | float | bool):
        return {"n": n, "label": value} if n is not None else None
    if not isinstance(value, dict):
        return None
    plain = {str(key).casefold(): part for key, part in value.items()}
    row = {name: next((plain[key] for key in (name, *other) if key in plain), None) for name, other in _NAMES.items()}
    if row["label"] is None and row["n"] is None:
        return None
    return row if row["n"] is not None or n is None else {**row, "n": n}


def _as_grades(value: Any) -> Any:
    """The object that is wanted, made of a list, of one grade alone, or of grades under their numbers."""
    if isinstance(value, list):
        return {"grades": value}
    if not isinstance(value, dict) or "grades" in value:
        return value
    if any(str(key).casefold() in ("label", *_NAMES["label"]) for key in value):
        return {"grades": [value]}
    if value and all(as_number(str(key), -1) >= 0 for key in value):
        return {"grades": [_as_row(part, n) for n, part in value.items()]}
    inner = list(value.values())
    return {"grades": inner[0]} if len(inner) == 1 and isinstance(inner[0], list) else value


def _as_rows(value: Any) -> Any:
    """What is no grade is left out: the grader notices what is missing."""
    if isinstance(value, dict):
        value = _as_grades(value).get("grades", [])
    rows = [_as_row(entry) for entry in as_list(value)]
    return [row for row in rows if row is not None]


class GradeReply(Reply):
    """`n` is the document's number, -1 where none was given; `label` one of the words, "" where it is unreadable."""

    n: Annotated[int, BeforeValidator(lambda value: as_number(value, -1)), WithJsonSchema({"type": "integer"})] = -1
    reason: Text = ""
    label: Annotated[
        str, BeforeValidator(_as_label), WithJsonSchema({"type": "string", "enum": list(_WORDS.values())})
    ] = ""


class GradesReply(Reply):
    grades: Annotated[list[GradeReply], BeforeValidator(_as_rows)]

    @model_validator(mode="before")
    @classmethod
    def _wrapped(cls, value: Any) -> Any:
        return _as_grades(value)
