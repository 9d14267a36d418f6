"""The tools of the strategy `agent`: the form of their arguments, and the calls of them as models really write them.

A call that names no tool, or lacks what its tool needs, becomes a `WrongCall` that says so: the other calls of the turn
are carried out all the same.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError, WithJsonSchema, model_validator

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
)
from iterative_rag.llm.replies.forms import Reply, schema
from iterative_rag.llm.replies.partial_answer import written_object, written_text
from iterative_rag.protocols import FunctionSpec
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


Queries = Annotated[tuple[Text, ...], BeforeValidator(_as_queries)]
Quotes = Annotated[tuple[QuotedPassage, ...], BeforeValidator(_as_quotes)]


class SearchForm(Reply):
    queries: Queries


class FindForm(Reply):
    title: Text
    words: Text


class SectionForm(Reply):
    title: Text
    heading: Text = ""


class RowsForm(Reply):
    title: Text
    table: Text = ""
    filter: Text = ""


class CalculateForm(Reply):
    expression: Text
    facts: Numbers = ()


class NoteForm(Reply):
    quotes: Quotes


class SubmitForm(Reply):
    answer: Text = ""
    short_answer: Text = ""
    quotes: Quotes = ()
    inferred: SureFlag = False
    also: Notes = ()
    caveats: Notes = ()
    missing: Remark = ""
    confidence: Share = 0.5


@dataclass(frozen=True, slots=True)
class Tool:
    """`form` holds the arguments of `call`; `names` are other names by which models call it."""

    form: type[Reply]
    call: Callable[..., ToolCall]
    description: str
    names: tuple[str, ...] = ()


TOOLS: Mapping[str, Tool] = {
    "search": Tool(
        SearchForm, SearchCall, "Search the corpus with up to 4 queries at once.", ("search_corpus", "query", "lookup")
    ),
    "find_in_article": Tool(
        FindForm, FindCall, "Show the places of one article with a phrase or its words.", ("find", "grep")
    ),
    "read_section": Tool(
        SectionForm,
        SectionCall,
        'Read a section of an article; without a heading ("") its beginning and the list of its sections.',
        ("read", "read_article", "open", "section"),
    ),
    "list_rows": Tool(
        RowsForm,
        RowsCall,
        "List the rows of a table or list of an article, all or those that hold the words of the filter.",
        ("rows", "table", "read_table"),
    ),
    "calculate": Tool(CalculateForm, CalculateCall, "Compute an expression exactly.", ("compute", "calculator")),
    "note": Tool(
        NoteForm, NoteCall, "Keep verbatim quotes as facts; what is not noted is not shown again.", ("note_facts",)
    ),
    "submit": Tool(
        SubmitForm, SubmitCall, "Give the answer, or say what is missing. Ends the work.", ("answer", "final_answer")
    ),
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

_NAMES = {name: tool for tool, held in TOOLS.items() for name in (tool, *held.names)}
# Where models put the arguments of a call.
_NESTED = ("arguments", "args", "parameters", "action_input", "input")
# Names that models give to arguments, by what these are called here.
_OTHER_NAMES = {
    "queries": "query q search_query",
    "title": "article document page source",
    "words": "word pattern keywords text",
    "heading": "section section_title",
    "table": "table_title table_name",
    "filter": "where",
    "expression": "formula",
    "quotes": "facts_to_note citations evidence",
    "answer": "final_answer",
    "caveats": "caveat",
}
_ARGUMENTS = {other: name for name, others in _OTHER_NAMES.items() for other in others.split()}


class CallForm(Reply):
    """One call: its arguments in the form of its tool, or what is wrong with it."""

    tool: Text = ""
    arguments: dict[str, Any] = Field(default_factory=dict)
    wrong: Text = ""

    @classmethod
    def line_names(cls) -> list[str]:
        """The arguments of all tools, and those of one quote."""
        names = [name for tool in TOOLS.values() for name in tool.form.model_fields]
        return ["tool", *dict.fromkeys([*names, *(field.name for field in fields(QuotedPassage))])]

    @model_validator(mode="before")
    @classmethod
    def _in_form(cls, value: Any) -> Any:
        if isinstance(value, Mapping) and value.keys() == cls.model_fields.keys() and value["wrong"]:
            return value  # from the cache
        tool, given = _named(value)
        if tool not in TOOLS:
            return {"tool": tool, "wrong": f"there is no tool {tool[:60]!r}; the tools are {', '.join(TOOLS)}"}
        if not isinstance(given, Mapping):
            broken = isinstance(given, str) and given.lstrip()[:1] in ("{", "[")
            return {"tool": tool, "wrong": f"its arguments are {'not valid JSON' if broken else 'not a JSON object'}"}
        form = TOOLS[tool].form
        needed = [name for name, field in form.model_fields.items() if field.is_required()]
        try:
            read = form.model_validate(dict.fromkeys(needed, "") | dict(given))
        except ValidationError as error:
            first = error.errors()[0]
            argument = ".".join(str(part) for part in first["loc"])
            return {"tool": tool, "wrong": f"the argument {argument!r} is wrong: {first['msg']}"}
        if lacking := [name for name in needed if not getattr(read, name)]:
            if tool == NOTE and given.get("quotes"):
                return {"tool": tool, "wrong": 'every entry of "quotes" needs a "quote"'}
            return {"tool": tool, "wrong": f"it needs {' and '.join(map(repr, lacking))}"}
        return {"tool": tool, "arguments": read.model_dump()}

    @property
    def typed(self) -> ToolCall:
        if self.wrong:
            return WrongCall(self.tool, self.wrong)
        tool = TOOLS[self.tool]
        return tool.call(**dict(tool.form.model_validate(self.arguments)))


def _named(value: Any) -> tuple[str, Any]:
    """The tool of a call and its arguments under their own names, however servers and models nest it
    ({"function": {...}}, {"name", "arguments"}, {"search": {...}})."""
    held = value.get("function", value) if isinstance(value, Mapping) else {}
    call = held if isinstance(held, Mapping) else value
    name = call.get("tool") or call.get("name") or call.get("action")
    given = next((call[key] for key in _NESTED if key in call), None)
    if name is None and len(call) == 1:
        name, given = next(iter(call.items()))
    if given is None:
        given = {key: argument for key, argument in call.items() if key != "tool"}
    if isinstance(given, str):
        with suppress(ValueError, RecursionError):
            given = json.loads(given)
    tool = _NAMES.get(str(name).strip().casefold(), str(name or ""))
    form = TOOLS[tool].form.model_fields if tool in TOOLS else {}
    if isinstance(given, str) and form and given.lstrip()[:1] not in ("{", "["):
        given = {next(iter(form)): given}  # search("words"): the argument that the tool cannot do without
    if not isinstance(given, Mapping):
        return tool, given
    plain = {key if key in form else _ARGUMENTS.get(str(key).casefold(), key): part for key, part in given.items()}
    if plain.get("quote") and not plain.get("quotes"):
        plain["quotes"] = [plain]
    return tool, plain


class AgentReply(Reply):
    thought: Text = ""
    calls: Annotated[list[CallForm], BeforeValidator(as_list), WithJsonSchema(_calls_schema())] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _with_calls(cls, value: Any) -> Any:
        """A call alone, or a list of calls, is a turn."""
        thought = value.get("thought") if isinstance(value, Mapping) else ""
        return {"thought": thought, "calls": _calls_of(value)}

    @classmethod
    def joined(cls, values: Sequence[Any], text: str) -> Sequence[Any]:
        """Several objects in one reply are the calls of one turn; without any, a call in prose may be."""
        calls = [call for value in values for call in _calls_of(value)] or list(_in_prose(text))
        thoughts = [value["thought"] for value in values if isinstance(value, Mapping) and value.get("thought")]
        return [{"thought": " ".join(map(str, thoughts)), "calls": calls}] if calls else values

    def typed_calls(self, *, only_submit: bool) -> tuple[ToolCall, ...]:
        """The calls that can be carried out, and what is wrong with the others."""
        allowed = (SUBMIT, NOTE) if only_submit else TOOLS
        refused = "a limit is reached: only submit is carried out now"
        calls = [
            call.typed if call.tool in allowed else WrongCall(call.tool, refused if only_submit else call.wrong)
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
    for key in ("calls", "tool_calls", "actions"):
        if key in value:
            return [call for call in as_list(value[key]) if isinstance(call, Mapping | CallForm)]
    alone = len(value) == 1 and value.keys() <= _NAMES.keys()
    return [value] if alone or {"tool", "name", "function", "action"} & value.keys() else []


def submitted_so_far(reply: str) -> str:
    """The text of the answer that a reply submits, as far as it is written; "" before it begins."""
    for call in _calls_of(written_object(reply)):
        given = call.get("arguments")
        tool, arguments = _named({**call, "arguments": written_object(given)} if isinstance(given, str) else call)
        if tool == SUBMIT and isinstance(arguments, Mapping):
            return written_text(arguments.get("answer"))
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
    names = list(TOOLS[_NAMES[name]].form.model_fields)
    try:
        call = ast.parse(f"f({written})", mode="eval").body
        if not isinstance(call, ast.Call) or len(call.args) > len(names):
            return None
        given = {field: ast.literal_eval(value) for field, value in zip(names, call.args, strict=False)}
        return given | {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords} or None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
