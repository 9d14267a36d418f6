"""`iterative-rag serve`: a server on this machine, for browsers and other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.completion import corpus_names
from iterative_rag.cli.settings_options import WITHIN, takes_settings

if TYPE_CHECKING:
    from iterative_rag.settings import Settings

# Settings that a server takes no option for; its own --corpus, declared below, may be repeated.
_WITHOUT = (
    "corpus",
    *WITHIN,
    "strategy",
    "web",
    "search_engine",
    "fact_limit",
    "guess",
    "language",
    "answer_language",
    "cache",
)

Served = Annotated[
    list[str] | None,
    typer.Option(
        "--corpus",
        metavar="NAME",
        help="A corpus to serve (or a,b: asked at once), the first by default; repeatable. All if none is named.",
        autocompletion=corpus_names,
    ),
]
Host = Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen; others than loopback need a token.")]
Port = Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="The port; 0 takes a free one.")]
Token = Annotated[str, typer.Option(metavar="TEXT", help="What clients have to send; better in ITERATIVE_RAG_TOKEN.")]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Hide everything that changes what is stored.")]
AllowHost = Annotated[
    list[str] | None,
    typer.Option("--allow-host", metavar="NAME", help="A further name of this server, as behind a proxy; repeatable."),
]
BehindTls = Annotated[
    bool, typer.Option("--behind-tls", help="A proxy before it ends TLS: cookies are sent over https alone.")
]
Evaluations = Annotated[
    Path | None, typer.Option("--evaluations", metavar="FOLDER", help="Evaluation runs to show on the page.")
]
RunsAtOnce = Annotated[int, typer.Option("--runs-at-once", metavar="N", min=1, max=64, help="Questions at once.")]
Queue = Annotated[int, typer.Option("--queue", metavar="N", min=0, max=10_000, help="Questions that may wait.")]
RunsPerClient = Annotated[
    int, typer.Option("--runs-per-client", metavar="N", min=1, max=10_000, help="Questions of one client.")
]
Grace = Annotated[
    float, typer.Option("--grace", metavar="SECONDS", min=0, help="A run ends so long after its client has gone.")
]


@takes_settings(without=_WITHOUT)
def serve(
    corpus: Served = None,
    host: Host = "127.0.0.1",
    port: Port = 8372,
    token: Token = "",
    read_only: ReadOnly = False,
    allow_host: AllowHost = None,
    behind_tls: BehindTls = False,
    evaluations: Evaluations = None,
    runs_at_once: RunsAtOnce = 2,
    queue: Queue = 32,
    runs_per_client: RunsPerClient = 8,
    grace: Grace = 30.0,
    *,
    settings: Settings,
) -> None:
    """Serve questions, searches and documents over HTTP, on this machine alone unless --host says otherwise.

    Clients may lower the limits, never raise them. Needs the extra "serve".
    """
    _check_installed()
    from iterative_rag.cli.console import clean, err
    from iterative_rag.serve.serve_options import ServeOptions
    from iterative_rag.serve.server import serve as run_server
    from iterative_rag.system.memory import limit_arenas

    limit_arenas()
    options = ServeOptions(
        host=host,
        port=port,
        token=token,
        read_only=read_only,
        corpora=tuple(corpus or ()),
        allow_hosts=tuple(allow_host or ()),
        behind_tls=behind_tls,
        evaluations=evaluations,
        runs_at_once=runs_at_once,
        queue=queue,
        runs_per_client=runs_per_client,
        grace_seconds=grace,
    )
    run_server(settings, options, lambda line: err().line(clean(line)))


def _check_installed() -> None:
    """Raise MissingExtra where a package of the server is missing."""
    from importlib.util import find_spec

    from iterative_rag.errors import MissingExtra

    if any(find_spec(name) is None for name in ("starlette", "uvicorn", "sse_starlette", "prometheus_client")):
        raise MissingExtra("serve")
