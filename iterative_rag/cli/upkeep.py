"""`iterative-rag cache`, `keys` and `trust`: what is kept on this machine besides corpora and runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.console import clean, confirm, err, out, size
from iterative_rag.errors import SettingsError, UsageError
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.storage.cache import DiskCache

# Far longer than any key; bounds what is read from a pipe.
_MOST_CHARACTERS = 10_000

cache_app = typer.Typer(
    help="Show what the cache holds, or clear it.",
    invoke_without_command=True,
    rich_markup_mode=None,
    epilog="\b\nExamples:\n  iterative-rag cache\n  iterative-rag cache clear",
)
keys_app = typer.Typer(
    help="List the hosts that have an API key; set or remove a key.",
    invoke_without_command=True,
    rich_markup_mode=None,
    epilog="\b\nExamples:\n  iterative-rag keys set api.groq.com\n"
    "  iterative-rag keys set api.groq.com < key.txt\n"
    "  iterative-rag keys set gpu.lan:8000 --allow-http\n  iterative-rag keys remove api.groq.com",
)
Host = Annotated[str, typer.Argument(metavar="HOST", help="HOST, or HOST:PORT for that port alone.")]


@cache_app.callback()
def _cache(context: typer.Context) -> None:
    if context.invoked_subcommand is not None:
        return
    entries, used = _disk_cache().size()
    out().line(("entries  ", "dim"), f"{entries:,}")
    out().line(("size     ", "dim"), size(used))


@cache_app.command("clear")
def clear() -> None:
    """Remove every entry."""
    kept = _disk_cache()
    entries, _ = kept.size()
    kept.clear()
    err().line(f"Removed {counted(entries, 'entry', 'entries')}.")


def _disk_cache() -> DiskCache:
    from iterative_rag.settings import home
    from iterative_rag.storage.cache import DiskCache

    return DiskCache(home() / "cache")


@keys_app.callback()
def _keys(context: typer.Context) -> None:
    """The keys themselves are never shown."""
    from iterative_rag.remote.api_keys import stored

    if context.invoked_subcommand is not None:
        return
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
    from iterative_rag.remote.api_keys import remove

    err().line(f"Removed the key of {remove(host)}.")


def trust(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="The folder; by default the one you are in.")
    ] = Path("."),
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Trust it without asking.")] = False,
    list_them: Annotated[bool, typer.Option("--list", help="List the trusted folders.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Trust the folder no longer.")] = False,
) -> None:
    """Show which settings of a folder decide where data is sent, and trust the folder.

    Without trust, iterative-rag.toml and .env of a working folder cannot set llm, fast_llm, embedder, index,
    search_engine and web to anything that leaves this machine. A change of either file asks again.
    """
    from iterative_rag.settings.layers import distrust, working_folder

    if list_them:
        _list_trusted()
        return
    if remove:
        if not distrust(folder):
            raise UsageError("This folder is not trusted.", hint="iterative-rag trust --list")
        err().line("No longer trusted: ", clean(str(folder.resolve())))
        return
    contents = working_folder(folder)
    if not contents.needing_trust:
        err().line("No setting of this folder needs trust: ", clean(str(folder.resolve())))
        return
    for file, key, value in contents.needing_trust:
        out().line((f"{clean(file.name)}: ", "dim"), clean(f"{key} = {value}"))
    if contents.is_trusted:
        err().line("Trusted already.")
        return
    if not yes:
        confirm("Questions, documents and keys may go there. Trust this folder?", again="iterative-rag trust --yes")
    contents.trust()
    err().line("Trusted until a file changes: ", clean(str(folder.resolve())))


def _list_trusted() -> None:
    from iterative_rag.settings.layers import trusted_folders, working_folder

    held = trusted_folders()
    if not held:
        err().line("No folder is trusted.")
    for path, digest in sorted(held.items()):
        try:
            same = working_folder(Path(path)).digest == digest
        except SettingsError:
            same = False
        out().line(clean(path), "" if same else "  (changed since: not trusted)")
