"""`iterative-rag mcp`: the corpora as tools of an agent, over stdin and stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iterative_rag.cli.serve import Served
from iterative_rag.cli.settings_options import WITHIN, takes_settings

if TYPE_CHECKING:
    from iterative_rag.settings import Settings


@takes_settings(without=("corpus", *WITHIN, "web", "search_engine", "fact_limit", "language"))
def mcp(corpus: Served = None, *, settings: Settings) -> None:
    """Serve corpora to an agent by the Model Context Protocol, over stdin and stdout.

    Programs such as Claude Desktop or VS Code start this command themselves; docs/interfaces.md shows what to put into
    their settings. It ends when its stdin does. The tools only read.
    """
    from importlib.util import find_spec

    from iterative_rag.errors import MissingExtra

    if find_spec("mcp") is None:
        raise MissingExtra("serve")
    from iterative_rag.serve.mcp_door.mcp_server import serve_stdio

    serve_stdio(settings, corpus or ())
