"""The forms of what graders and rewriters reply, and the one scale of grades: label to score, score to label."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from iterative_rag.replies.forms import Reply, Text, as_list, as_questions
from iterative_rag.types import Grade, Label

# A label's score. With the default thresholds a best grade of Awful means incorrect, Poor ambiguous, the rest correct.
SCORES: Mapping[Label, float] = {Label.AWFUL: 0.0, Label.POOR: 0.5, Label.GOOD: 0.8, Label.PERFECT: 1.0}
# The other way round, for graders that give scores: the highest score of each label, its bounds as those of verdicts.
_POOR_FROM, _POOR_TO, _GOOD_TO = 0.3, 0.7, 0.9
YES, NO = "yes", "no"
LONGEST_REASON = 200


def labelled(label: Label, reason: str) -> Grade:
    """The grade of a label, its reason on one line."""
    return Grade(SCORES[label], label, one_line(reason))


def scored(score: float, reason: str) -> Grade:
    """The grade of a score from 0 to 1, its reason on one line. What is no number is no grade: Poor."""
    if math.isnan(score):
        return labelled(Label.POOR, "The grader gave no number.")
    score = min(1.0, max(0.0, score))
    if score < _POOR_FROM:
        label = Label.AWFUL
    elif score <= _POOR_TO:
        label = Label.POOR
    else:
        label = Label.GOOD if score <= _GOOD_TO else Label.PERFECT
    return Grade(score, label, one_line(reason))


def one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 4].rstrip()} ..."


# --- grading ---------------------------------------------------------------------------------

_WORDS = {word.casefold(): word for word in (*Label, YES, NO)}
_WORD = re.compile(r"[^\W\d_]+")


def _as_label(value: Any) -> str:
    """ "**good**", "Good (it names her)" and 0.8 are Good, true is yes; "" for what says none of the words, or two."""
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
    said = {word for word in words if word in _WORDS}
    return _WORDS[said.pop()] if len(said) == 1 and "not" not in words else ""


def _as_number(value: Any) -> int:
    """1, "1", "[1]" and "Document 1" are 1; -1 where there is no number."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return int(value)
    digits = re.search(r"\d{1,6}", value) if isinstance(value, str) else None
    return int(digits[0]) if digits else -1


# Other names that models give to the fields of a grade.
_NAMES = {
    "n": ("document", "id", "number", "index", "doc"),
    "reason": ("justification", "explanation"),
    "label": ("grade", "score", "relevance", "relevant", "rating", "verdict"),
}


def _as_row(value: Any, n: Any = None) -> Any:
    """One grade under the fields' own names; None for what is none."""
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
    """A list where an object is wanted, one grade alone, and grades under their numbers are put in their place."""
    if isinstance(value, list):
        return {"grades": value}
    if not isinstance(value, dict) or "grades" in value:
        return value
    if any(str(key).casefold() in ("label", *_NAMES["label"]) for key in value):
        return {"grades": [value]}
    if value and all(_as_number(str(key)) >= 0 for key in value):
        return {"grades": [_as_row(part, n) for n, part in value.items()]}
    inner = list(value.values())
    return {"grades": inner[0]} if len(inner) == 1 and isinstance(inner[0], list) else value


def _as_rows(value: Any) -> Any:
    """What is no grade is left out: that it is missing is noticed by whoever asked."""
    if isinstance(value, dict):
        value = _as_grades(value).get("grades", [])
    rows = [_as_row(one) for one in as_list(value)]
    return [row for row in rows if row is not None]


class GradeReply(Reply):
    """`n` is the document's number, -1 where none was given; `label` one of the words, "" where it is unreadable."""

    n: Annotated[int, BeforeValidator(_as_number), WithJsonSchema({"type": "integer"})] = -1
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


# --- rewording -------------------------------------------------------------------------------


class RewordingReply(Reply):
    phrasings: Annotated[list[Text], BeforeValidator(as_questions), Field(default_factory=list)]
    broader: Text = ""
    passage: Text = ""


class WebQueryReply(Reply):
    query: Text
