"""`iterative-rag corpus`: list, describe, fill and remove corpora. One file per command."""

from __future__ import annotations

import typer

from iterative_rag.cli.corpus.add import add
from iterative_rag.cli.corpus.fetch import fetch
from iterative_rag.cli.corpus.list_and_status import list_corpora, status
from iterative_rag.cli.corpus.push import push
from iterative_rag.cli.corpus.remove import remove
from iterative_rag.cli.options import AsJson

corpus_app = typer.Typer(
    help="List the corpora; fill one with files, web pages and articles of Wikipedia; show or remove one.",
    invoke_without_command=True,
    rich_markup_mode=None,
    epilog="\b\nExamples:\n  iterative-rag corpus\n"
    '  iterative-rag corpus fetch "James Buchanan" --contact you@example.org\n'
    "  iterative-rag corpus fetch --category Lighthouses --limit 200 --corpus lights\n"
    "  iterative-rag corpus add articles/ https://example.org/page --corpus mine\n"
    "  iterative-rag corpus status mine\n  iterative-rag corpus remove mine",
)


@corpus_app.callback()
def _corpora(context: typer.Context, as_json: AsJson = False) -> None:
    if context.invoked_subcommand is None:
        list_corpora(as_json=as_json)


corpus_app.command("list")(list_corpora)
for command in (status, add, fetch, push, remove):
    corpus_app.command()(command)

__all__ = ["corpus_app"]
