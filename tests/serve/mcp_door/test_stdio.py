"""`iterative-rag mcp` as a process: the official client, and one of an older revision that sends nonsense."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from fakes.two_article_corpus import indexed_home
from fakes.two_corpora import index_two_corpora
from iterative_rag.cli import main

COMMAND = ["-m", "iterative_rag", "mcp", "--llm", "builtin"]


def started(*options: str) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=[*COMMAND, *options], env=dict(os.environ))


def test_only_the_corpora_that_are_named_are_served(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index_two_corpora(tmp_path)

    async def seen(*options: str) -> tuple[list[str], list[bool]]:
        async with Client(started(*options)) as client:
            listed = await client.call_tool("list_corpora", {})
            calls: dict[str, dict[str, Any]] = {
                "search": {"query": "mother"},
                "read_document": {"document": "Osric Vane"},
                "outline": {"document": "Osric Vane"},
                "ask": {"question": "Who was the mother of Osric Vane?"},
            }
            done = [await client.call_tool(tool, {**given, "corpus": "people"}) for tool, given in calls.items()]
            return [one["name"] for one in listed.structured_content["corpora"]], [bool(one.is_error) for one in done]

    assert anyio.run(seen, "--corpus", "towns") == (["towns"], [True] * 4)
    with pytest.raises(SystemExit) as ended:
        main(["mcp", "--corpus", "nowhere"])
    assert (ended.value.code, "nowhere" in capsys.readouterr().err) == (4, True)


# What is no request of the protocol. Each line is answered by an error, or not at all.
NONSENSE = (
    "",
    "hello",
    "{",
    "[]",
    "null",
    '"initialize"',
    "[" * 100_000,
    '{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
    '{"jsonrpc": "2.0", "id": {}, "method": "ping"}',
    '{"jsonrpc": "2.0", "id": 2, "method": "../../ping"}',
    '{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": []}',
    '{"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": 5}}',
    '{"jsonrpc": "2.0", "id": 6, "result": {}}',
    '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}',
    '{"jsonrpc": "2.0", "id": 7, "method": "logging/setLevel", "params": {"level": "debug"}}',
    "\x00\x01\x02",
    "\u202e" * 1000,
)


def test_nonsense_on_stdin_is_survived_and_stdout_holds_the_protocol_alone_to_its_end(tmp_path: Path) -> None:
    indexed_home(tmp_path, "towns")
    version = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    opening = {"jsonrpc": "2.0", "id": "open", "method": "initialize", "params": version}
    search = {"name": "search", "arguments": {"query": "stone bridge"}}
    last = {"jsonrpc": "2.0", "id": "last", "method": "tools/call", "params": search}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    lines = [json.dumps(opening), json.dumps(ready), *NONSENSE]
    with subprocess.Popen(
        [sys.executable, *COMMAND, "--corpus", "towns"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("\n".join([*lines, json.dumps(last)]) + "\n")
        process.stdin.flush()
        replies = []
        for line in process.stdout:
            replies.append(json.loads(line))
            if replies[-1].get("id") == "last":
                break
        rest, told = process.communicate(timeout=60)
    assert process.returncode == 0
    assert rest == ""
    assert all(reply["jsonrpc"] == "2.0" for reply in replies)
    assert {reply["id"] for reply in replies if "result" in reply} == {"open", "last"}
    assert replies[-1]["result"]["structuredContent"]["passages"]
    assert "Traceback" not in told
