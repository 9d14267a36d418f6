"""Reads the calls of tools of the strategy `agent` as models really write them.

A call that names no tool, or lacks what its tool needs, becomes a `WrongCall` that says so: the other calls of the turn
are carried out all the same.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError, WithJsonSchema, model_validator

from iterative_rag.llm.replies.coercion import Notes, Remark, Share, SureFlag, Text, as_list
from iterative_rag.llm.replies.forms import Reply, Texts
from iterative_rag.llm.replies.partial_answer import written_object, written_text
from iterative_rag.llm.replies.tool_forms import SUBMIT, TOOLS, Numbers, QuoteForm, Quotes, calls_schema
from iterative_rag.types import (
    CalculateCall,
    FindCall,
    NoteCall,
    QuotedPassage,
    RowsCall,
    SearchCall,
    SectionCall,
    SubmitCall,
    ToolCall,
    WrongCall,
)

# Of one turn; what is beyond is not carried out, and the model is told.
MOST_CALLS, MOST_QUERIES, MOST_QUOTES = 8, 4, 12
_NAMES = {name: tool for tool, one in TOOLS.items() for name in (tool, *one.names)}
# Where models put the arguments of a call.
_NESTED = ("arguments", "args", "parameters", "action_input", "input")
# Names that models give to arguments, and what these are called here.
_ARGUMENTS = {
    "query": "queries",
    "q": "queries",
    "search_query": "queries",
    "article": "title",
    "document": "title",
    "page": "title",
    "source": "title",
    "word": "words",
    "pattern": "words",
    "keywords": "words",
    "text": "words",
    "section": "heading",
    "section_title": "heading",
    "table_title": "table",
    "table_name": "table",
    "where": "filter",
    "formula": "expression",
    "facts_to_note": "quotes",
    "citations": "quotes",
    "evidence": "quotes",
    "final_answer": "answer",
    "caveat": "caveats",
}


class CallForm(Reply):
    """One call, with the arguments of all tools; those that its tool does not have stay empty."""

    tool: Text = ""
    queries: Annotated[Texts, Field(default_factory=list)]
    title: Text = ""
    words: Text = ""
    heading: Text = ""
    table: Text = ""
    filter: Text = ""
    expression: Text = ""
    facts: Annotated[Numbers, Field(default_factory=list)]
    quotes: Annotated[Quotes, Field(default_factory=list)]
    quote: Text = ""
    question: Text = ""
    value: Text = ""
    answer: Text = ""
    short_answer: Text = ""
    inferred: SureFlag = False
    also: Annotated[Notes, Field(default_factory=list)]
    caveats: Annotated[Notes, Field(default_factory=list)]
    missing: Remark = ""
    confidence: Share = 0.5
    wrong: Text = ""

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return _with_plain_names(value)


def _with_plain_names(value: Any) -> Any:
    """A call as servers and models nest it ({"function": {...}}, {"name", "arguments"}, {"search": {...}}), flat."""
    if not isinstance(value, Mapping):
        return value
    call = value.get("function", value)
    call = call if isinstance(call, Mapping) else value
    name = call.get("tool") or call.get("name") or call.get("action")
    given = next(
        (call[key] for key in ("arguments", "args", "parameters", "action_input", "input") if key in call), None
    )
    if name is None and len(call) == 1:
        name, given = next(iter(call.items()))
    arguments = _as_arguments(given) if given is not None else {k: v for k, v in call.items() if k != "tool"}
    tool = _NAMES.get(str(name).strip().casefold(), str(name or ""))
    if isinstance(arguments, str) and arguments.lstrip()[:1] in ("{", "["):
        return {"tool": tool, "wrong": "its arguments are not valid JSON"}
    if isinstance(arguments, str):  # search("words"): the argument that the tool cannot do without
        first = next(iter(TOOLS[tool].form.model_fields)) if tool in TOOLS else "words"
        arguments = {first: arguments}
    if not isinstance(arguments, Mapping):
        return {"tool": tool, "wrong": "its arguments are not a JSON object"}
    fields = TOOLS[tool].form.model_fields if tool in TOOLS else {}
    plain = {key if key in fields else _ARGUMENTS.get(str(key).casefold(), key): one for key, one in arguments.items()}
    if plain.get("quote") and not plain.get("quotes"):
        plain["quotes"] = [{key: plain.get(key, "") for key in QuoteForm.model_fields}]
    return {**plain, "tool": tool}


def _as_arguments(given: Any) -> Any:
    """Arguments that were written as a JSON string, read."""
    if not isinstance(given, str):
        return given
    try:
        read = json.loads(given)
    except (ValueError, RecursionError):
        return given
    return read if isinstance(read, Mapping) else given


class AgentReply(Reply):
    thought: Text = ""
    calls: Annotated[list[CallForm], BeforeValidator(as_list), WithJsonSchema(calls_schema())] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _with_calls(cls, value: Any) -> Any:
        """A call alone, or a list of calls, is a turn. A call that cannot be read does not spoil the others."""
        calls = _calls_of(value)
        thought = value.get("thought") if isinstance(value, Mapping) else ""
        return {"thought": thought, "calls": [_readable(call) for call in calls]}

    @classmethod
    def joined(cls, values: Sequence[Any], text: str) -> Sequence[Any]:
        """Several objects in one reply are the calls of one turn; without any, a call in prose may be."""
        calls = [call for value in values for call in _calls_of(value)] or list(_in_prose(text))
        thoughts = [value["thought"] for value in values if isinstance(value, Mapping) and value.get("thought")]
        return [{"thought": " ".join(map(str, thoughts)), "calls": calls}] if calls else values


def _calls_of(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [call for item in value for call in _calls_of(item)]
    if not isinstance(value, Mapping):
        return []
    for key in ("calls", "tool_calls", "actions"):
        if key in value:
            return [call for call in as_list(value[key]) if isinstance(call, Mapping)]
    return [value] if _names_a_tool(value) else []


def _names_a_tool(value: Mapping[str, Any]) -> bool:
    return bool({"tool", "name", "function", "action"} & value.keys()) or (
        len(value) == 1 and set(value) <= set(_NAMES)
    )


def _readable(call: Any) -> Any:
    try:
        return CallForm.model_validate(call)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        plain = _with_plain_names(call)
        tool = plain.get("tool", "") if isinstance(plain, Mapping) else ""
        return CallForm.model_validate({"tool": tool, "wrong": f"the argument {field!r} is wrong: {first['msg']}"})


def submitted_so_far(reply: str) -> str:
    """The text of the answer that a reply submits, as far as it is written; "" before it begins."""
    for call in _calls_of(written_object(reply)):
        arguments = call.get("arguments")
        plain = _with_plain_names(
            {**call, "arguments": written_object(arguments)} if isinstance(arguments, str) else call
        )
        if plain.get("tool") == SUBMIT:
            return written_text(plain.get("answer"))
    return ""


_REACT = re.compile(
    r"^[ \t]*Action:[ \t]*[`*]*(\w+)[`*]*[ \t]*\n\s*Action Input:[ \t]*(.+)$", re.IGNORECASE | re.MULTILINE
)
_PROSE = re.compile(rf"\b({'|'.join(sorted(_NAMES, key=len, reverse=True))})\(([^()\n]*)\)")


def _in_prose(text: str) -> Iterator[dict[str, Any]]:
    """Calls in the form of ReAct ("Action: search", "Action Input: ..."), or as Python writes them. Nothing is run."""
    for match in _REACT.finditer(text):
        yield {"tool": match[1], "arguments": match[2].strip().strip('"')}
    for match in _PROSE.finditer(text):
        if (arguments := _literal_arguments(match[1], match[2])) is not None:
            yield {"tool": match[1], "arguments": arguments}


def _literal_arguments(name: str, written: str) -> dict[str, Any] | None:
    """The arguments of `find(title="A", words="b")`, literals only; None for anything else."""
    fields = list(TOOLS[_NAMES[name]].form.model_fields)
    try:
        call = ast.parse(f"f({written})", mode="eval").body
        if not isinstance(call, ast.Call) or len(call.args) > len(fields):
            return None
        given = {field: ast.literal_eval(value) for field, value in zip(fields, call.args, strict=False)}
        return given | {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords} or None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def tool_calls(reply: AgentReply, *, only_submit: bool) -> tuple[ToolCall, ...]:
    """The calls that can be carried out, and what is wrong with the others."""
    calls = [_typed(call) for call in reply.calls[:MOST_CALLS]]
    if only_submit:
        refused = "a limit is reached: only submit is carried out now"
        calls = [one if isinstance(one, SubmitCall | NoteCall) else WrongCall(_name(one), refused) for one in calls]
    if len(reply.calls) > MOST_CALLS:
        calls.append(WrongCall("", f"only the first {MOST_CALLS} calls of a turn are carried out"))
    return tuple(calls)


def _name(call: ToolCall) -> str:
    return call.tool if isinstance(call, WrongCall) else type(call).__name__.removesuffix("Call").casefold()


def _typed(call: CallForm) -> ToolCall:
    tool = TOOLS.get(call.tool)
    if call.wrong or tool is None:
        listed = ", ".join(TOOLS)
        return WrongCall(call.tool, call.wrong or f"there is no tool {call.tool[:60]!r}; the tools are {listed}")
    lacking = [
        name for name, field in tool.form.model_fields.items() if field.is_required() and not getattr(call, name)
    ]
    if lacking:
        return WrongCall(call.tool, f"it needs {' and '.join(map(repr, lacking))}")
    quotes = tuple(QuotedPassage(one.title, one.quote, one.question, one.value) for one in call.quotes[:MOST_QUOTES])
    quotes = tuple(one for one in quotes if one.quote)
    match call.tool:
        case "search":
            return SearchCall(tuple(dict.fromkeys(" ".join(one.split()) for one in call.queries if one))[:MOST_QUERIES])
        case "find_in_article":
            return FindCall(call.title, call.words)
        case "read_section":
            return SectionCall(call.title, call.heading)
        case "list_rows":
            return RowsCall(call.title, call.table, call.filter)
        case "calculate":
            return CalculateCall(call.expression, tuple(call.facts))
        case "note":
            return NoteCall(quotes) if quotes else WrongCall("note", 'every entry of "quotes" needs a "quote"')
        case _:
            return SubmitCall(
                call.answer,
                call.short_answer,
                quotes,
                call.missing,
                call.confidence,
                call.inferred,
                tuple(call.also),
                tuple(call.caveats),
            )
