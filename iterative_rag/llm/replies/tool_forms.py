"""The tools of the strategy `agent`: their arguments, and the form in which a server is sent them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from iterative_rag.llm.replies.coercion import Notes, Remark, Share, SureFlag, Text, as_list, as_numbers
from iterative_rag.llm.replies.forms import Reply, Texts, schema
from iterative_rag.protocols import FunctionSpec

Numbers = Annotated[list[int], BeforeValidator(as_numbers)]


def _as_quotes(value: Any) -> Any:
    """A bare string is a quote of a document that is not named."""
    return [{"quote": item} if isinstance(item, str) else item for item in as_list(value)]


class QuoteForm(Reply):
    title: Text = ""
    quote: Text = ""
    question: Text = ""
    value: Text = ""


Quotes = Annotated[list[QuoteForm], BeforeValidator(_as_quotes)]


class SearchForm(Reply):
    queries: Texts


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
    facts: Annotated[Numbers, Field(default_factory=list)]


class NoteForm(Reply):
    quotes: Quotes


class SubmitForm(Reply):
    answer: Text = ""
    short_answer: Text = ""
    quotes: Annotated[Quotes, Field(default_factory=list)]
    inferred: SureFlag = False
    also: Annotated[Notes, Field(default_factory=list)]
    caveats: Annotated[Notes, Field(default_factory=list)]
    missing: Remark = ""
    confidence: Share = 0.5


@dataclass(frozen=True, slots=True)
class Tool:
    """`names` are other names by which models call it."""

    form: type[Reply]
    description: str
    names: tuple[str, ...] = ()


TOOLS: Mapping[str, Tool] = {
    "search": Tool(SearchForm, "Search the corpus with up to 4 queries at once.", ("search_corpus", "query", "lookup")),
    "find_in_article": Tool(FindForm, "Show the places of one article with a phrase or its words.", ("find", "grep")),
    "read_section": Tool(
        SectionForm,
        'Read a section of an article; without a heading ("") its beginning and the list of its sections.',
        ("read", "read_article", "open", "section"),
    ),
    "list_rows": Tool(
        RowsForm,
        "List the rows of a table or list of an article, all or those that hold the words of the filter.",
        ("rows", "table", "read_table"),
    ),
    "calculate": Tool(CalculateForm, "Compute an expression exactly.", ("compute", "calculator")),
    "note": Tool(NoteForm, "Keep verbatim quotes as facts; what is not noted is not shown again.", ("note_facts",)),
    "submit": Tool(SubmitForm, "Give the answer, or say what is missing. Ends the work.", ("answer", "final_answer")),
}
SUBMIT = "submit"


def tool_specs(*, only_submit: bool) -> tuple[FunctionSpec, ...]:
    """The tools as functions, for a server that has function calling."""
    named = {SUBMIT: TOOLS[SUBMIT]} if only_submit else TOOLS
    return tuple(FunctionSpec(name, tool.description, schema(tool.form)) for name, tool in named.items())


def calls_schema() -> dict[str, Any]:
    """The calls as JSON: one form for each tool, so that a server that follows schemas keeps to its arguments."""
    forms = []
    for name, tool in TOOLS.items():
        form = schema(tool.form)
        fields = {"tool": {"type": "string", "enum": [name]}, **form["properties"]}
        forms.append({**form, "properties": fields, "required": list(fields)})
    return {"type": "array", "items": {"anyOf": forms}}
