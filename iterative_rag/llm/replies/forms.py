"""The form of each role's reply, lenient about types, and the JSON schema of it that a server is sent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema, model_validator

from iterative_rag.llm.replies.coercion import (
    Flag,
    Notes,
    Numbers,
    Remark,
    Share,
    SureFlag,
    Text,
    Texts,
    as_list,
    as_number,
    as_word,
    items_of,
    written_text,
)


class Reply(BaseModel):
    """Fields stand in the order in which the model writes them: thoughts before verdicts."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    @classmethod
    def joined(cls, values: Sequence[Any]) -> Sequence[Any]:
        """The JSON values in what a model wrote, of which one is the reply: a form may make one of several."""
        return values


# --- the loop --------------------------------------------------------------------------------


def _with_status(status: str, field: str) -> Any:
    """A validator: a reply without a status has this one if it has the field."""

    def completed(value: Any) -> Any:
        implied = isinstance(value, dict) and "status" not in value and value.get(field)
        return {**value, "status": status} if implied else value

    return model_validator(mode="before")(completed)


# The values of AnswerForm that an analysis may say; an extract is made where no model writes.
_AskedForm = Literal["value", "list", "table", "explanation", "summary", "report"]


def _one_of(words: Sequence[str]) -> tuple[BeforeValidator, WithJsonSchema]:
    """One of these words, or "" for anything else: a reply can do without it, and a server is not told so."""
    read = BeforeValidator(lambda value: word if (word := as_word(value)) in words else "")
    return read, WithJsonSchema({"type": "string", "enum": list(words)})


class AnalysisReply(Reply):
    reason: Text = ""
    form: Annotated[Literal[_AskedForm, ""], *_one_of(get_args(_AskedForm))] = ""
    status: Annotated[Literal["known", "needs", "stuck"], BeforeValidator(as_word)]
    needs: Texts = []
    then: Texts = []
    last: SureFlag = False

    _needed = _with_status("needs", "needs")


class WrittenAnswer(Reply):
    """An answer that comes with the analysis which found it known, as the fields of AnswerReply have it."""

    working: Text = ""
    answer: Text = ""
    short_answer: Text = ""
    also: Notes = ()
    caveats: Notes = ()
    confidence: Share = 0.5


def _as_answer(value: Any) -> Any:
    """What is no answer is none: a reply can do without it."""
    return value if isinstance(value, dict) and value.get("short_answer") else None


class ContinuationReply(Reply):
    """The rephrased question and its analysis: "" where the model left out the question or the status. The answer,
    where nothing is missing any more."""

    reason: Text = ""
    question: Text = ""
    status: Annotated[Literal["known", "needs", "stuck", ""], *_one_of(("known", "needs", "stuck"))] = ""
    needs: Texts = []
    then: Texts = []
    last: SureFlag = False
    answer: Annotated[WrittenAnswer | None, BeforeValidator(_as_answer)] = None

    _needed = _with_status("needs", "needs")

    @model_validator(mode="after")
    def _says_something(self) -> ContinuationReply:
        if not (self.question or self.status):
            raise ValueError('both "question" and "status" are missing')
        return self

    @property
    def analysis(self) -> AnalysisReply | None:
        return AnalysisReply.model_validate(dict(self)) if self.status else None


class ExtractedFact(Reply):
    sentences: Numbers = ()
    statement: Text = ""
    need: Numbers = ()
    value: Text = ""


class ExtractionReply(Reply):
    """One fact becomes a list of one. Null does not say that there is none: it is refused, and asked for again."""

    facts: Annotated[list[ExtractedFact], BeforeValidator(lambda value: as_list(value) if value else value)]


class SentenceReply(Reply):
    """The number of the sentence that states an answer, 0 for none."""

    sentence: Annotated[int, BeforeValidator(lambda value: as_number(value, 0)), WithJsonSchema({"type": "integer"})]
    answer: Text = ""


class RephrasingReply(Reply):
    question: Text


def _as_tool(value: Any) -> str:
    """ "Calculator" is calculate, and what is no tool is a search."""
    word = as_word(value) if isinstance(value, str) else ""
    return "calculate" if str(word).startswith("calc") else "web" if str(word).startswith("web") else "search"


class PlannedReply(Reply):
    """`question` of a calculation is its expression, and `facts` are the numbers of those that its values are from."""

    question: Text = ""
    purpose: Text = ""
    tool: Annotated[Literal["search", "web", "calculate"], BeforeValidator(_as_tool)] = "search"
    facts: Numbers = ()


class PlanReply(Reply):
    reason: Text = ""
    done: Flag = False
    steps: Annotated[list[PlannedReply], BeforeValidator(lambda value: items_of(value, "question"))] = []


class RewordingReply(Reply):
    phrasings: Texts = []
    broader: Text = ""
    passage: Text = ""


class WebQueryReply(Reply):
    query: Text


# --- answers ---------------------------------------------------------------------------------


def _as_computations(value: Any) -> Any:
    """Expressions alone become computations without facts; what holds no expression is left out."""
    items = [{"expression": item} if isinstance(item, str | int | float) else item for item in as_list(value)]
    return [item for item in items if isinstance(item, dict) and item.get("expression")]


class RequestedComputation(Reply):
    """An expression for `computing`, and the numbers of the facts that its values come from."""

    expression: Text = ""
    facts: Numbers = ()


class AnswerReply(Reply):
    working: Text = ""
    compute: Annotated[list[RequestedComputation], BeforeValidator(_as_computations)] = []
    status: Annotated[Literal["answered", "compute", "not_in_facts", "false_premise"], BeforeValidator(as_word)]
    answer: Text = ""
    short_answer: Text = ""
    also: Notes = ()
    caveats: Notes = ()
    missing: Text = ""
    confidence: Share = 0.5

    _answered = _with_status("answered", "short_answer")


class WritingReply(Reply):
    """A text, or one section of it."""

    status: Annotated[Literal["answered", "not_in_facts", "false_premise"], BeforeValidator(as_word)]
    answer: Annotated[
        Text, BeforeValidator(lambda value: written_text(value) if isinstance(value, list) else value)
    ] = ""
    short_answer: Text = ""
    missing: Remark = ""
    confidence: Share = 0.5

    _answered = _with_status("answered", "answer")


class OutlinePart(Reply):
    heading: Text = ""
    questions: Texts = []


class OutlineReply(Reply):
    reason: Text = ""
    sections: Annotated[list[OutlinePart], BeforeValidator(lambda value: items_of(value, "heading"))]


class FollowUpReply(Reply):
    """What a follow-up means, and its answer where known facts hold it."""

    question: Text = ""
    status: Annotated[Literal["answered", "search", "unclear"], BeforeValidator(as_word)] = "search"
    single: SureFlag = False
    answer: Text = ""
    short_answer: Text = ""
    confidence: Share = 0.5
    unclear: Remark = ""


class RecallReply(Reply):
    working: Text = ""
    status: Annotated[Literal["answered", "unknown"], BeforeValidator(as_word)]
    short_answer: Text = ""
    confidence: Share = 0.5


# --- judgements ------------------------------------------------------------------------------


_VERDICTS = {"true": "correct", "yes": "correct", "false": "incorrect", "no": "incorrect"}
_CLAIM_VERDICTS = dict.fromkeys(("supported", "true", "yes"), "grounded") | dict.fromkeys(
    ("not_supported", "ungrounded", "unsupported", "partially_supported", "false", "no"), "not_grounded"
)


def _as_verdict(value: Any, words: Mapping[str, str] = _VERDICTS) -> Any:
    """ "Correct.", "TRUE" and true mean "correct"; what is not plainly one of the two stays as it is."""
    word = as_word(str(value)) if isinstance(value, bool | str) else value
    return words.get(str(word), word)


class JudgeReply(Reply):
    reason: Text = ""
    verdict: Annotated[Literal["correct", "incorrect"], BeforeValidator(_as_verdict)]


def _as_claims(value: Any) -> Any:
    """One claim, or a list of them, numbered in their order where they have no number."""
    claims = [claim for claim in as_list(value) if isinstance(claim, dict)]
    return [{"n": n, **claim} for n, claim in enumerate(claims, start=1)]


class JudgedClaim(Reply):
    n: Annotated[int, BeforeValidator(lambda value: as_number(value, 0))] = 0
    verdict: Annotated[
        Literal["grounded", "not_grounded"], BeforeValidator(lambda value: _as_verdict(value, _CLAIM_VERDICTS))
    ]
    facts: Numbers = ()
    why: Text = ""


class ReflectionReply(Reply):
    reason: Text = ""
    claims: Annotated[tuple[JudgedClaim, ...], BeforeValidator(_as_claims)] = ()
    useful: Flag
    refusal: Flag = False
    false_premise: Remark = ""
    gap: Remark = ""


# --- the schema that a server is sent --------------------------------------------------------

R = TypeVar("R", bound=Reply)


def schema(reply_type: type[Reply]) -> dict[str, Any]:
    """The JSON schema that a server is sent: flat, every field required, no others (OpenAI's strict form)."""
    whole = reply_type.model_json_schema(mode="validation")
    plain = _flattened(whole, whole.pop("$defs", {}))
    assert isinstance(plain, dict)
    return plain


def _flattened(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_flattened(part, definitions) for part in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _flattened(definitions[node["$ref"].rsplit("/", 1)[-1]], definitions)
    kept = {key: value for key, value in node.items() if key not in ("title", "default", "description")}
    if "properties" in kept:
        fields = {name: _flattened(part, definitions) for name, part in kept["properties"].items()}
        return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {key: _flattened(value, definitions) for key, value in kept.items()}


def schema_version(reply_type: type[Reply]) -> str:
    """Changes whenever the form of the reply does: a part of cache keys."""
    return hashlib.sha256(json.dumps(schema(reply_type)).encode()).hexdigest()[:8]
