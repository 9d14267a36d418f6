"""The form of a grader's reply."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema, model_validator

from iterative_rag.llm.replies.coercion import Text, as_list, as_number
from iterative_rag.llm.replies.forms import Reply
from iterative_rag.types import Label

_WORDS = {word.casefold(): word for word in Label}
_FIRST_WORD = re.compile(r"[\W_]*([^\W\d_]+)(?!\s+(?:or|to)\b)")


def _as_label(value: Any) -> str:
    """The word that a label begins with, "**good**" or "Good (it names her)"; "" for anything else."""
    first = _FIRST_WORD.match(value) if isinstance(value, str) else None
    return _WORDS.get(first[1].casefold(), "") if first else ""


def _as_rows(value: Any) -> Any:
    """What is no grade is left out: the grader notices what is missing."""
    return [row for row in as_list(value) if isinstance(row, dict)]


class GradeReply(Reply):
    """`n` is the document's number, -1 where none was given; `label` one of the words, "" where it is unreadable."""

    n: Annotated[int, BeforeValidator(lambda value: as_number(value, -1)), WithJsonSchema({"type": "integer"})] = -1
    reason: Text = ""
    label: Annotated[str, BeforeValidator(_as_label), WithJsonSchema({"type": "string", "enum": list(Label)})] = ""


class GradesReply(Reply):
    grades: Annotated[list[GradeReply], BeforeValidator(_as_rows)]

    @model_validator(mode="before")
    @classmethod
    def _wrapped(cls, value: Any) -> Any:
        return {"grades": value} if isinstance(value, list) else value
