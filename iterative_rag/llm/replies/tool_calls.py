"""The tools of the strategy `agent`: the form of their arguments, and the calls of them as models really write them.

A call that names no tool, or lacks what its tool needs, becomes a `WrongCall` that says so: the other calls of the turn
are carried out all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from typing import Annotated, Any, get_type_hints

from pydantic import BeforeValidator, Field, ValidationError, WithJsonSchema, create_model, model_validator

from iterative_rag.llm.replies.coercion import (
    Notes,
    Numbers,
    Remark,
    Share,
    SureFlag,
    Text,
    as_list,
    as_text,
    as_texts,
    items_of,
    written_text,
)
from iterative_rag.llm.replies.forms import Reply, schema
from iterative_rag.llm.replies.json_parsing import complaint, written_object
from iterative_rag.protocols import FunctionSpec
from iterative_rag.system.files import json_value
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


# --- the tools ---------------------------------------------------------------------------------


def _as_queries(value: Any) -> Any:
    """Different ones, each on one line."""
    queries = as_texts(value)
    if not all(isinstance(query, str) for query in queries):
        return queries
    return list(dict.fromkeys(" ".join(query.split()) for query in queries))[:MOST_QUERIES]


def _as_quotes(value: Any) -> Any:
    """Those with a quote; a bare string is a quote of a document that is not named."""
    names = [field.name for field in fields(QuotedPassage)]
    passages = [
        {name: as_text(item.get(name)) for name in names} if isinstance(item, Mapping) else item
        for item in items_of(value, "quote")[:MOST_QUOTES]
    ]
    return [item for item in passages if not isinstance(item, Mapping) or item["quote"]]


# How leniently an argument is read, by its name or else by its type.
_BY_NAME: Mapping[str, Any] = {"queries": Annotated[tuple[Text, ...], BeforeValidator(_as_queries)], "missing": Remark}
_BY_TYPE: Mapping[Any, Any] = {
    str: Text,
    bool: SureFlag,
    float: Share,
    tuple[str, ...]: Notes,
    tuple[int, ...]: Numbers,
    tuple[QuotedPassage, ...]: Annotated[tuple[QuotedPassage, ...], BeforeValidator(_as_quotes)],
}


@dataclass(frozen=True)
class Tool:
    call: type[Any]
    description: str

    @property
    def needed(self) -> list[str]:
        """The arguments that a call cannot do without."""
        return [argument.name for argument in fields(self.call) if argument.default is MISSING]

    @cached_property
    def form(self) -> type[Reply]:
        """The arguments of the call as a model writes them."""
        kinds = get_type_hints(self.call)
        read: dict[str, Any] = {
            argument.name: (
                _BY_NAME.get(argument.name) or _BY_TYPE[kinds[argument.name]],
                ... if argument.default is MISSING else argument.default,
            )
            for argument in fields(self.call)
        }
        return create_model(self.call.__name__, __base__=Reply, **read)


TOOLS: Mapping[str, Tool] = {
    "search": Tool(SearchCall, "Search the corpus with up to 4 queries at once."),
    "find_in_article": Tool(FindCall, "Show the places of one article with a phrase or its words."),
    "read_section": Tool(
        SectionCall, 'Read a section of an article; without a heading ("") its beginning and the list of its sections.'
    ),
    "list_rows": Tool(
        RowsCall, "List the rows of a table or list of an article, all or those that hold the words of the filter."
    ),
    "calculate": Tool(CalculateCall, "Compute an expression exactly."),
    "note": Tool(NoteCall, "Keep verbatim quotes as facts; what is not noted is not shown again."),
    "submit": Tool(SubmitCall, "Give the answer, or say what is missing. Ends the work."),
}
SUBMIT, NOTE = "submit", "note"


def tool_specs(*, only_submit: bool) -> tuple[FunctionSpec, ...]:
    """The tools as functions, for a server that has function calling."""
    named = {SUBMIT: TOOLS[SUBMIT]} if only_submit else TOOLS
    return tuple(FunctionSpec(name, tool.description, schema(tool.form)) for name, tool in named.items())


def _calls_schema() -> dict[str, Any]:
    """The calls as JSON: one form for each tool, so that a server that follows schemas keeps to its arguments."""
    forms = []
    for name, tool in TOOLS.items():
        form = schema(tool.form)
        shown = {"tool": {"type": "string", "enum": [name]}, **form["properties"]}
        forms.append({**form, "properties": shown, "required": list(shown)})
    return {"type": "array", "items": {"anyOf": forms}}


# --- calls as they are written -----------------------------------------------------------------


class WrittenCall(Reply):
    """One call: its tool, and its arguments as they were written."""

    tool: Text = ""
    arguments: Any = None

    @model_validator(mode="before")
    @classmethod
    def _apart(cls, value: Any) -> Any:
        return dict(zip(("tool", "arguments"), _named(value), strict=True))

    @property
    def typed(self) -> ToolCall:
        tool, given = TOOLS.get(self.tool), self.arguments
        if tool is None:
            return WrongCall(self.tool, f"there is no tool {self.tool[:60]!r}; the tools are {', '.join(TOOLS)}")
        if not isinstance(given, Mapping):
            return WrongCall(self.tool, "its arguments are not a valid JSON object")
        try:
            read = tool.form.model_validate(dict.fromkeys(tool.needed, "") | dict(given))
        except ValidationError as error:
            return WrongCall(self.tool, complaint(error))
        if lacking := [name for name in tool.needed if not getattr(read, name)]:
            return WrongCall(self.tool, f"it needs {' and '.join(map(repr, lacking))}")
        call: ToolCall = tool.call(**dict(read))
        return call


def _named(value: Any) -> tuple[str, Any]:
    """The tool of a call and its arguments: beside its name, as the prompt asks, or in an object or a JSON text of
    their own, as servers and models write calls of functions."""
    held = value.get("function", value) if isinstance(value, Mapping) else {}
    call = held if isinstance(held, Mapping) else value
    given = call.get("arguments", call.get("parameters"))
    if given is None:
        given = {key: argument for key, argument in call.items() if key not in ("tool", "name")}
    if isinstance(given, str):
        with suppress(ValueError):
            given = json_value(given)
    if isinstance(given, Mapping) and given.get("quote") and not given.get("quotes"):
        given = {**given, "quotes": [given]}
    return str(call.get("tool") or call.get("name") or "").strip().casefold(), given


class AgentReply(Reply):
    thought: Text = ""
    calls: Annotated[list[WrittenCall], BeforeValidator(as_list), WithJsonSchema(_calls_schema())] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _with_calls(cls, value: Any) -> Any:
        """A call alone, or a list of calls, is a turn."""
        thought = value.get("thought") if isinstance(value, Mapping) else ""
        return {"thought": thought, "calls": _calls_of(value)}

    @classmethod
    def joined(cls, values: Sequence[Any]) -> Sequence[Any]:
        """Several objects in one reply are the calls of one turn."""
        calls = [call for value in values for call in _calls_of(value)]
        thoughts = [value["thought"] for value in values if isinstance(value, Mapping) and value.get("thought")]
        return [{"thought": " ".join(map(str, thoughts)), "calls": calls}] if calls else values

    def typed_calls(self, *, only_submit: bool) -> tuple[ToolCall, ...]:
        """The calls that can be carried out, and what is wrong with the others."""
        refused = "a limit is reached: only submit is carried out now"
        calls = [
            WrongCall(call.tool, refused) if only_submit and call.tool not in (SUBMIT, NOTE) else call.typed
            for call in self.calls[:MOST_CALLS]
        ]
        if len(self.calls) > MOST_CALLS:
            calls.append(WrongCall("", f"only the first {MOST_CALLS} calls of a turn are carried out"))
        return tuple(calls)


def _calls_of(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [call for item in value for call in _calls_of(item)]
    if not isinstance(value, Mapping):
        return []
    if "calls" in value:
        return [call for call in as_list(value["calls"]) if isinstance(call, Mapping | WrittenCall)]
    return [value] if {"tool", "name", "function"} & value.keys() else []


def submitted_so_far(reply: str) -> str:
    """The text of the answer that a reply submits, as far as it is written; "" before it begins."""
    for call in _calls_of(written_object(reply)):
        given = call.get("arguments")
        tool, arguments = _named({**call, "arguments": written_object(given)} if isinstance(given, str) else call)
        if tool == SUBMIT and isinstance(arguments, Mapping):
            return written_text(arguments.get("answer"))
    return ""
