"""`iterative-rag keys`: API keys, each kept for one host."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

keys_app = typer.Typer(
    help="List the hosts that have an API key; set or remove a key.",
    invoke_without_command=True,
    rich_markup_mode=None,
    epilog="\b\nExamples:\n  iterative-rag keys set api.groq.com\n"
    "  iterative-rag keys set api.groq.com < key.txt\n"
    "  iterative-rag keys set gpu.lan:8000 --allow-http\n  iterative-rag keys remove api.groq.com",
)

Host = Annotated[str, typer.Argument(metavar="HOST", help="HOST, or HOST:PORT for that port alone.")]
# Far longer than any key; bounds what is read from a pipe.
_MOST_CHARACTERS = 10_000


@keys_app.callback()
def _keys(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        list_keys()


@keys_app.command("list")
def list_keys() -> None:
    """List the hosts that have a key. The keys themselves are never shown."""
    from iterative_rag.cli.console import clean, err, out
    from iterative_rag.remote.api_keys import stored

    held = stored()
    if not held:
        err().line("No key is stored. ", ("iterative-rag keys set HOST", "bold"))
    for host, allow_http in sorted(held.items()):
        out().line(clean(host), "  (also over plain HTTP)" if allow_http else "")


@keys_app.command("set")
def set_key(
    host: Host,
    allow_http: Annotated[
        bool, typer.Option("--allow-http", help="Send it over plain HTTP too, where others could read it.")
    ] = False,
) -> None:
    """Store the key of a host: typed without echo, or read from stdin."""
    from iterative_rag.cli.console import clean, err
    from iterative_rag.remote.api_keys import keys_file, store
    from iterative_rag.remote.hosts import checked_host

    host = checked_host(host)
    if sys.stdin.isatty():
        from getpass import getpass

        value = getpass(f"Key for {host}: ")
    else:
        value = sys.stdin.read(_MOST_CHARACTERS)
    host = store(host, value, allow_http=allow_http)
    err().line(f"Stored for {host} in {clean(str(keys_file()))}.")


@keys_app.command("remove")
def remove_key(host: Host) -> None:
    """Forget the key of a host."""
    from iterative_rag.cli.console import err
    from iterative_rag.remote.api_keys import remove

    err().line(f"Removed the key of {remove(host)}.")
