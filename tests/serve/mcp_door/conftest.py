"""The official client, connected in this process to a server over two articles."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from fakes.running_server import RunningServer
from iterative_rag.serve.mcp_door.mcp_server import mcp_server

T = TypeVar("T")
Connected = Callable[[Callable[[Client], Awaitable[T]]], T]


@pytest.fixture
def connected(served: RunningServer) -> Connected[T]:
    """Runs a conversation of the official client with the server."""

    def call(talk: Callable[[Client], Awaitable[T]]) -> T:
        refused: list[MCPError] = []  # raised outside of the client, which would wrap it in a group

        async def run() -> T | None:
            async with Client(mcp_server(served.services.runs)) as client:
                try:
                    return await talk(client)
                except MCPError as error:
                    refused.append(error)
                    return None

        result = anyio.run(run)
        if refused:
            raise refused[0]
        return cast(T, result)

    return call
