"""The tools and resources of the MCP door, asked by the official client."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, TextContent

from fakes import two_article_corpus
from fakes.running_server import CORPUS, PlayingLLM, RunningServer
from iterative_rag.errors import LLMServerError
from iterative_rag.protocols import ChatRequest
from iterative_rag.serve.mcp_door.mcp_server import mcp_server
from iterative_rag.serve.rag_pool import RagPool
from iterative_rag.serve.runs.run_manager import RunManager
from iterative_rag.serve.serve_options import ServeOptions

Connected = Callable[[Callable[[Client], Awaitable[Any]]], Any]
BRIDGE = two_article_corpus.TEXTS["Sunday_bridge.md"].strip()


def called(connected: Connected, tool: str, **arguments: Any) -> CallToolResult:
    result = connected(lambda client: client.call_tool(tool, arguments))
    assert isinstance(result, CallToolResult)
    return result


def found(connected: Connected, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool that succeeds returns; its text says the same."""
    result = called(connected, tool, **arguments)
    assert not result.is_error, result.content
    assert json.loads(said(result)) == result.structured_content
    return dict(result.structured_content)


def said(result: CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


def test_every_tool_only_reads_and_describes_what_it_takes_and_returns(connected: Connected) -> None:
    tools = connected(lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == [
        "search", "read_document", "outline", "list_corpora", "ask",
    ]  # fmt: skip
    for tool in tools:
        assert tool.annotations.read_only_hint
        assert not tool.annotations.destructive_hint
        assert not tool.annotations.open_world_hint
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)


def test_passages_are_verbatim_and_say_where_they_stand(connected: Connected) -> None:
    passages = found(connected, "search", query="stone bridge", limit=2)["passages"]
    assert passages[0]["title"] == "Sunday bridge"
    for quoted in passages:
        read = connected(partial(Client.read_resource, uri=quoted["uri"]))
        assert read.contents[0].text[quoted["start"] : quoted["end"]] == quoted["text"]


def test_a_document_is_read_in_parts_that_join(connected: Connected) -> None:
    start, parts = 0, []
    while start is not None:
        part = found(connected, "read_document", document="sunday_bridge", start=start, max_chars=40)
        parts.append(part["text"])
        start = part["next_start"]
    assert "".join(parts).strip() == BRIDGE
    beyond = found(connected, "read_document", document="Sunday bridge", start=10**9)
    assert (beyond["text"], beyond["next_start"]) == ("", None)


def test_a_document_is_outlined_and_read_by_section_and_by_id(connected: Connected) -> None:
    outline = found(connected, "outline", document="Aldermere")
    assert outline["sections"][0]["heading"] == "Aldermere"
    assert outline["tables"][0]["rows"] == 2
    read = found(connected, "read_document", document=outline["document_id"], section="Aldermere")
    assert read["next_start"] is None
    first = found(connected, "read_document", document="Aldermere", section="Aldermere", max_chars=20)
    rest = found(connected, "read_document", document="Aldermere", section="Aldermere", start=first["next_start"])
    assert first["text"] + rest["text"] == read["text"]
    assert read["title"] == "Aldermere"
    assert "Its mayor is Edda Holm." in read["text"]


def test_corpora_are_listed(connected: Connected) -> None:
    entries = found(connected, "list_corpora")["corpora"]
    assert [(one["name"], one["documents"], one["default"]) for one in entries if one["documents"]] == [
        ("towns", 2, True)
    ]


def test_what_a_server_said_in_an_error_stands_in_the_log_alone(
    served: RunningServer, caplog: pytest.LogCaptureFixture
) -> None:
    answered = "http://10.1.2.3:11434 answered 401: no credit left for ada@example.org."

    def fail(request: ChatRequest) -> None:
        raise LLMServerError(answered, status=401, hint="Ask ada@example.org.")

    pool = RagPool(served.services.pool.settings, served=[CORPUS], backends={"failing": PlayingLLM(fail)})
    manager = RunManager(pool, ServeOptions())

    async def ask() -> CallToolResult:
        async with Client(mcp_server(manager)) as client:
            return await client.call_tool("ask", {"question": two_article_corpus.QUESTION})

    result = anyio.run(ask)
    manager.close()
    told = "The server of the language model refused the call.\nHint: The log of this server says more."
    assert (result.is_error, said(result)) == (True, told)
    assert answered in caplog.text


WRONG_CALLS: list[tuple[str, Mapping[str, Any], str]] = [
    ("search", {}, "'query' of search is missing."),
    ("search", {"query": ""}, "'query' of search is not valid: string should have at least 1 character."),
    ("search", {"query": "a" * 1001}, "'query' of search is not valid: string should have at most 1000 characters."),
    ("search", {"query": "bridge", "within": {"where": ["a=b"] * 21}}, "at most 20 items"),
    ("search", {"query": "bridge", "limit": 10**9}, "less than or equal to 50"),
    ("search", {"query": "bridge", "limit": "many"}, "a valid integer"),
    ("search", {"query": {"$ne": None}}, "a valid string"),
    ("search", {"query": "bridge", "index": "qdrant://10.0.0.1:6333"}, "Unknown field 'index' of search."),
    ("search", {"query": "bridge", "corpus": "../../etc"}, "There is no corpus"),
    ("search", {"query": "bridge", "corpus": "towns\x00"}, "There is no corpus"),
    ("search", {"query": "bridge", "corpus": "c" * 501}, "'corpus'"),
    ("read_document", {"document": "../../../etc/passwd"}, "no document titled"),
    ("read_document", {"document": "file:///etc/passwd"}, "no document titled"),
    ("read_document", {"document": "%2e%2e%2fetc"}, "no document titled"),
    ("read_document", {"document": "Aldermere", "start": -1}, "greater than or equal to 0"),
    ("read_document", {"document": "Aldermere", "max_chars": 10**7}, "less than or equal to 50000"),
    ("read_document", {"document": "Aldermere", "section": "Nothing of this"}, "no section like"),
    ("ask", {"question": "   "}, "The question is empty."),
    ("ask", {"question": "x" * 8001}, "at most 8000 characters"),
    ("ask", {"question": "Who?", "strategy": "../full"}, "There is no strategy"),
    ("ask", {"question": "Who?", "llm": "ollama/x@http://10.0.0.1"}, "Unknown field 'llm' of ask."),
    ("ask", {"question": "Who?", "max_seconds": 10**9}, "Unknown field 'max_seconds' of ask."),
]


def test_a_wrong_call_is_a_result_that_says_what_is_wrong(connected: Connected) -> None:
    async def all_of_them(client: Client) -> list[CallToolResult]:
        return [await client.call_tool(tool, dict(arguments)) for tool, arguments, _ in WRONG_CALLS]

    for (tool, arguments, told), result in zip(WRONG_CALLS, connected(all_of_them), strict=True):
        call = f"{tool} {arguments!s:.80}: {said(result)}"
        assert result.is_error, call
        assert told in said(result), call
        assert result.structured_content is None, call
        assert len(said(result)) < 1000, call
        assert not any(word in said(result) for word in ("Traceback", "/tmp", "root:")), call


# URIs of anything but a document.
WRONG_URIS = (
    "file:///etc/passwd",
    "http://127.0.0.1:11434/api/tags",
    "iterative-rag://corpora/towns/documents/../../../etc/passwd",
    "iterative-rag://corpora/towns/documents/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "iterative-rag://corpora/..%2f..%2fetc/documents/passwd",
    "iterative-rag://corpora/towns/documents/x%00y",
    "iterative-rag://corpora/towns/documents/" + "a" * 5000,
    "iterative-rag://corpora/towns/documents/x?y=z",
    "iterative-rag://corpora//documents/",
    "",
)


def test_a_wrong_uri_reads_nothing(connected: Connected) -> None:
    async def refused(request: Callable[..., Awaitable[object]], **arguments: str) -> MCPError | None:
        try:
            await request(**arguments)
        except MCPError as error:
            return error
        return None

    async def all_of_them(client: Client) -> list[MCPError | None]:
        return [await refused(client.read_resource, uri=uri) for uri in WRONG_URIS]

    for given, error in zip(WRONG_URIS, connected(all_of_them), strict=True):
        assert error is not None, given
        assert error.error.code == INVALID_PARAMS, given
        assert "root:" not in str(error), given
        assert len(str(error)) < 6000, given[:100]
