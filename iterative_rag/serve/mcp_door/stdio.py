"""MCP over stdin and stdout: one client, which started this process."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from iterative_rag.serve.mcp_door.mcp_server import mcp_server
from iterative_rag.serve.rag_pool import RagPool
from iterative_rag.serve.runs.run_manager import RunManager
from iterative_rag.serve.serve_options import ServeOptions
from iterative_rag.settings import Settings


def serve_stdio(settings: Settings, corpora: Sequence[str] = ()) -> None:
    """Serve these corpora, or all, until stdin ends. stdout is the protocol's alone: while this runs, whatever else is
    printed there goes to stderr. Raises CorpusNotFound."""
    import anyio

    with closing(RagPool(settings, served=corpora)) as pool, closing(RunManager(pool, ServeOptions())) as runs:
        pool.check()
        anyio.run(_serve, runs)


async def _serve(runs: RunManager) -> None:
    from mcp.server.stdio import stdio_server

    server = mcp_server(runs)
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())
