"""`iterative-rag serve`: a server on this machine, for browsers and other programs; `iterative-rag mcp`: the corpora as
tools of an agent, over stdin and stdout."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.console import clean, err
from iterative_rag.cli.options import WITHIN, corpus_names, takes_settings
from iterative_rag.errors import MissingExtra

if TYPE_CHECKING:
    from iterative_rag.settings import Settings

# Settings that neither takes an option for; their own --corpus, declared below, may be repeated.
_WITHOUT = ("corpus", *WITHIN, "web", "search_engine", "fact_limit", "language")

Served = Annotated[
    list[str] | None,
    typer.Option(
        "--corpus",
        metavar="NAME",
        help="A corpus to serve (or a,b: asked at once), the first by default; repeatable. All if none is named.",
        autocompletion=corpus_names,
    ),
]


@takes_settings(without=(*_WITHOUT, "strategy", "guess", "answer_language", "cache"))
def serve(
    corpus: Served = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; others than loopback need a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="The port; 0 takes a free one.")] = 8372,
    token: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="What clients have to send; better in ITERATIVE_RAG_TOKEN.",
            envvar="ITERATIVE_RAG_TOKEN",
            show_envvar=False,
        ),
    ] = "",
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Hide everything that changes what is stored.")
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A further name of this server, as behind a proxy; repeatable."),
    ] = None,
    behind_tls: Annotated[
        bool, typer.Option("--behind-tls", help="A proxy before it ends TLS: cookies are sent over https alone.")
    ] = False,
    runs_at_once: Annotated[int, typer.Option(metavar="N", min=1, max=64, help="Questions at once.")] = 2,
    grace: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="A run ends so long after its client has gone.")
    ] = 30.0,
    *,
    settings: Settings,
) -> None:
    """Serve questions, searches and documents over HTTP, on this machine alone unless --host says otherwise.

    Clients may lower the limits, never raise them. Needs the extra "serve".
    """
    _need("starlette", "uvicorn", "sse_starlette")
    from iterative_rag.serve.app import serve as run_server
    from iterative_rag.serve.serve_options import ServeOptions
    from iterative_rag.system.threads import limit_arenas

    limit_arenas()
    options = ServeOptions(
        host=host,
        port=port,
        token=token,
        read_only=read_only,
        corpora=tuple(corpus or ()),
        allow_hosts=tuple(allow_host or ()),
        behind_tls=behind_tls,
        runs_at_once=runs_at_once,
        grace_seconds=grace,
    )
    run_server(settings, options, lambda line: err().line(clean(line)))


@takes_settings(without=_WITHOUT)
def mcp(corpus: Served = None, *, settings: Settings) -> None:
    """Serve corpora to an agent by the Model Context Protocol, over stdin and stdout.

    Programs such as Claude Desktop or VS Code start this command themselves; docs/interfaces.md shows what to put into
    their settings. It ends when its stdin does. The tools only read.
    """
    _need("mcp")
    from iterative_rag.serve.mcp_door.mcp_server import serve_stdio

    serve_stdio(settings, corpus or ())


def _need(*packages: str) -> None:
    """Raise MissingExtra where a package of the server is missing."""
    if any(importlib.util.find_spec(name) is None for name in packages):
        raise MissingExtra("serve")
