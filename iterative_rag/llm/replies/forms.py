"""What each role replies: one form a role, lenient about types, and the JSON schema that a server is sent."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator


def _as_text(value: Any) -> Any:
    """3 -> "3", None -> "", ["a", "b"] -> "a, b"; a model means a string when it writes one of these.

    NaN, which Python's JSON reads, says nothing either: as a text it would pass for a question.
    """
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list) and all(isinstance(part, str | int | float) for part in value):
        return ", ".join(str(part) for part in value)
    return value.strip() if isinstance(value, str) else value


def as_list(value: Any) -> Any:
    """A single item where a list is wanted becomes a list of one; nothing becomes an empty list."""
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def _as_facts(value: Any) -> Any:
    """One fact becomes a list of one. Null does not say that there is none: it is refused, and asked for again."""
    return value if value is None or value == "" else as_list(value)


def as_questions(value: Any) -> Any:
    """The questions of `needs`, also where the model wrapped each in an object of one field."""
    items = [next(iter(x.values())) if isinstance(x, dict) and len(x) == 1 else x for x in as_list(value)]
    return [item for item in items if item not in ("", None)]


def _as_numbers(value: Any) -> Any:
    """ "[1][3]", "1, 3", 3 and ["[1]", {"n": 3}] as the whole numbers that are in them."""
    if isinstance(value, bool) or value is None:
        return []
    return [int(digits) for digits in re.findall(r"(?<![\w.])\d{1,4}(?![\w.]\d)", str(value))]


def _as_computations(value: Any) -> Any:
    """Expressions alone become computations without facts; what holds no expression is left out."""
    items = [{"expression": item} if isinstance(item, str | int | float) else item for item in as_list(value)]
    return [item for item in items if isinstance(item, dict) and item.get("expression")]


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
    needs: Annotated[list[Text], BeforeValidator(as_questions)] = []

    @model_validator(mode="before")
    @classmethod
    def _with_status(cls, value: Any) -> Any:
        """Needs without a status are what is needed."""
        if isinstance(value, dict) and "status" not in value and value.get("needs"):
            return {**value, "status": "needs"}
        return value


class ExtractedFact(Reply):
    statement: Text = ""
    quote: Text = ""
    value: Text = ""


class ExtractionReply(Reply):
    facts: Annotated[list[ExtractedFact], BeforeValidator(_as_facts)]


class RephrasingReply(Reply):
    question: Text


class RequestedComputation(Reply):
    """An expression for `computing`, and the numbers of the facts that its values come from."""

    expression: Text = ""
    facts: Annotated[list[int], BeforeValidator(_as_numbers)] = []


class AnswerReply(Reply):
    working: Text = ""
    compute: Annotated[list[RequestedComputation], BeforeValidator(_as_computations)] = []
    status: Annotated[Literal["answered", "compute", "not_in_facts", "false_premise"], BeforeValidator(_as_word)]
    answer: Text = ""
    short_answer: Text = ""
    missing: Text = ""
    confidence: Share = 0.5

    @model_validator(mode="before")
    @classmethod
    def _with_status(cls, value: Any) -> Any:
        """A short answer without a status is an answer."""
        if isinstance(value, dict) and "status" not in value and value.get("short_answer"):
            return {**value, "status": "answered"}
        return value


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
