"""`/mcp` over real HTTP: the official client, and what the guards and the transport turn away."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from fakes.running_server import TOKEN, RunningServer, running_server
from fakes.two_article_corpus import QUESTION
from tests.serve.conftest import check_stopped, held_server

ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
REVISION = "2026-07-28"


def over_http(
    server: RunningServer, talk: Callable[[Client], Awaitable[Any]], *, mode: str = "auto", token: str = ""
) -> Any:
    """Runs a conversation of the official client."""

    async def run() -> Any:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            transport = streamable_http_client(f"{server.address}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                return await talk(client)

    return anyio.run(run)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_question_is_answered_with_progress(served: RunningServer, mode: str) -> None:
    told: list[str] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    async def ask(client: Client) -> tuple[str, Any]:
        result = await client.call_tool("ask", {"question": QUESTION}, progress_callback=heard)
        return client.protocol_version, result.structured_content

    version, answer = over_http(served, ask, mode=mode)
    assert (version == REVISION) is (mode == "auto")
    assert (answer["status"], answer["short_answer"]) == ("answered", "Edda Holm")
    assert {one["title"] for one in answer["citations"]} == {"Aldermere", "Sunday bridge"}
    assert any("Edda Holm" in one["quote"] for one in answer["citations"])
    assert any(line.startswith("Hop 1: need: ") for line in told)
    assert any("fact: Edda Holm" in line for line in told)


def test_the_token_of_the_server_is_the_bearer(tmp_path: Path) -> None:
    with running_server(tmp_path, token=TOKEN) as server:
        tools = over_http(server, lambda client: client.list_tools(), token=TOKEN)
        assert len(tools.tools) == 5


def test_a_client_that_goes_away_ends_its_run(tmp_path: Path) -> None:
    with held_server(tmp_path, grace_seconds=600) as (server, llm):

        async def leave(client: Client) -> None:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "ask", {"question": QUESTION})
                await anyio.to_thread.run_sync(llm.called.wait, 30)
                tasks.cancel_scope.cancel()

        over_http(server, leave)
        check_stopped(server, llm)


def request(method: str, params: Mapping[str, Any] | None = None, **changed: Any) -> dict[str, Any]:
    """A request of the current revision."""
    names = ("protocolVersion", "clientInfo", "clientCapabilities")
    values: tuple[Any, ...] = (REVISION, {"name": "test", "version": "1"}, {})
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in zip(names, values, strict=True)}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**(params or {}), "_meta": meta}, **changed}


def test_nonsense_is_refused_and_the_server_goes_on(served: RunningServer) -> None:
    modern = {**ACCEPT, "mcp-protocol-version": REVISION, "mcp-method": "tools/list"}
    wrong: list[tuple[str, dict[str, str], bytes]] = [
        ("POST", modern, b""),
        ("POST", modern, b"{"),
        ("POST", modern, b"null"),
        ("POST", modern, b"[" * 50_000),
        ("POST", modern, json.dumps([request("tools/list")] * 3).encode()),
        ("POST", modern, json.dumps(request("tools/list", jsonrpc="1.0")).encode()),
        ("POST", modern, json.dumps(request("tools/call", {"name": 5})).encode()),
        ("POST", modern, json.dumps(request("../../etc/passwd")).encode()),
        ("POST", {**modern, "content-type": "text/plain"}, json.dumps(request("tools/list")).encode()),
        ("POST", {**modern, "accept": "text/html"}, json.dumps(request("tools/list")).encode()),
        ("POST", {**modern, "mcp-protocol-version": "1999-01-01"}, json.dumps(request("tools/list")).encode()),
        ("POST", {**modern, "origin": "https://evil.example"}, json.dumps(request("tools/list")).encode()),
        ("POST", {**modern, "host": "evil.example"}, json.dumps(request("tools/list")).encode()),
        ("POST", {**ACCEPT, "mcp-session-id": "../../x"}, json.dumps(request("tools/list")).encode()),
        ("GET", {**ACCEPT, "mcp-session-id": "none"}, b""),
        ("DELETE", {**ACCEPT, "mcp-session-id": "none"}, b""),
        ("PUT", modern, b"{}"),
    ]
    with httpx.Client(base_url=served.address, timeout=30, trust_env=False) as client:
        for method, headers, body in wrong:
            reply = client.request(method, "/mcp", headers=headers, content=body)
            assert 400 <= reply.status_code < 500, (method, headers, body[:80], reply.text)
            assert "Traceback" not in reply.text
            assert len(reply.text) < 2000
        headers = {**ACCEPT, "mcp-protocol-version": REVISION, "mcp-method": "server/discover"}
        reply = client.post("/mcp", headers=headers, json=request("server/discover"))
    assert REVISION in reply.text
    assert reply.status_code == 200
