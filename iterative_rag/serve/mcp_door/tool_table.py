"""The tools by name, and how clients see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mcp_types as protocol
from pydantic import BaseModel

from iterative_rag.serve.mcp_door.corpus_tools import CorpusTools
from iterative_rag.serve.mcp_door.tool_arguments import (
    Arguments,
    AskArguments,
    CalculateArguments,
    FindArguments,
    ListCorporaArguments,
    OutlineArguments,
    ReadArguments,
    SearchArguments,
)
from iterative_rag.serve.mcp_door.tool_results import (
    AskResult,
    CalculateResult,
    CorporaResult,
    DocumentPart,
    FindResult,
    OutlineResult,
    Result,
    SearchResult,
)
from iterative_rag.serve.rag_pool import RagPool

ASK = "ask"


def _by_a_run(tools: CorpusTools, arguments: Any) -> BaseModel:
    raise AssertionError("ask is carried out by a run")


@dataclass(frozen=True, slots=True)
class McpTool:
    name: str
    title: str
    description: str
    arguments: type[Arguments]
    result: type[Result]
    work: Callable[[CorpusTools, Any], BaseModel]


TOOLS = {
    tool.name: tool
    for tool in (
        McpTool(
            "search",
            "Search a corpus",
            "Search a corpus: the best passages, verbatim, with their place in the document. Needs no language model.",
            SearchArguments,
            SearchResult,
            CorpusTools.search,
        ),
        McpTool(
            "read_document",
            "Read a document",
            "Read a document, or one section of it. Long ones come in parts: read on from next_start.",
            ReadArguments,
            DocumentPart,
            CorpusTools.read_document,
        ),
        McpTool(
            "outline",
            "Outline of a document",
            "The sections, tables and lists of a document with their offsets, and which of them lost their rows.",
            OutlineArguments,
            OutlineResult,
            CorpusTools.outline,
        ),
        McpTool(
            "find_in_document",
            "Find words in a document",
            "The sentences and table rows of a document that hold a phrase, or its words near one another in any form.",
            FindArguments,
            FindResult,
            CorpusTools.find_in_document,
        ),
        McpTool(
            "list_corpora",
            "List the corpora",
            "The corpora that can be searched and asked, and how many documents each has.",
            ListCorporaArguments,
            CorporaResult,
            CorpusTools.list_corpora,
        ),
        McpTool(
            "calculate",
            "Calculate",
            "Compute an expression exactly: arithmetic, units, dates, lists. Nothing is executed.",
            CalculateArguments,
            CalculateResult,
            CorpusTools.calculate,
        ),
        McpTool(
            ASK,
            "Ask a multi-hop question",
            "Answer a question that may need several look-ups (for example 'Who was the mother of the 15th first "
            "lady?'), explain, summarise or compare, with numbered verbatim quotes. It may take minutes with a "
            "language model; progress is reported, and a request that is cancelled ends the run.",
            AskArguments,
            AskResult,
            _by_a_run,
        ),
    )
}


def described(tool: McpTool, pool: RagPool) -> protocol.Tool:
    """All tools only read. Where the web may be searched, `ask` reaches beyond the corpora."""
    arguments = tool.arguments.model_json_schema()
    if strategy := arguments["properties"].get("strategy"):
        strategy["enum"] = ["", *pool.strategies]
    return protocol.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=arguments,
        output_schema=tool.result.model_json_schema(mode="serialization"),
        annotations=protocol.ToolAnnotations(
            title=tool.title,
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=tool.name == ASK and pool.settings.web,
        ),
    )
