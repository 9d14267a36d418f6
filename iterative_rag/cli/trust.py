"""`iterative-rag trust`: allow the settings of a working folder to decide where data is sent."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


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
    from iterative_rag.cli.console import clean, err, out
    from iterative_rag.errors import UsageError
    from iterative_rag.settings import trusted_file
    from iterative_rag.settings import trusted_folders as trusted
    from iterative_rag.settings.layers import working_folder

    if list_them:
        _list()
        return
    if remove:
        if not trusted.distrust(folder, trusted_file()):
            raise UsageError("This folder is not trusted.", hint="iterative-rag trust --list")
        err().line("No longer trusted: ", clean(str(folder.resolve())))
        return
    found = working_folder(folder)
    needing = trusted.needing_trust(found)
    if not needing:
        err().line("No setting of this folder needs trust: ", clean(str(folder.resolve())))
        return
    for file, key, value in needing:
        out().line((f"{clean(file.name)}: ", "dim"), clean(f"{key} = {value}"))
    if trusted.is_trusted(found, trusted_file()):
        err().line("Trusted already.")
        return
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("There is no terminal to ask on.", hint="iterative-rag trust --yes")
        typer.confirm("Questions, documents and keys may go there. Trust this folder?", abort=True, err=True)
    trusted.trust(found, trusted_file())
    err().line("Trusted until a file changes: ", clean(str(folder.resolve())))


def _list() -> None:
    from iterative_rag.cli.console import clean, err, out
    from iterative_rag.errors import SettingsError
    from iterative_rag.settings import trusted_file
    from iterative_rag.settings.layers import working_folder
    from iterative_rag.settings.trusted_folders import trusted_folders

    held = trusted_folders(trusted_file())
    if not held:
        err().line("No folder is trusted.")
    for path, digest in sorted(held.items()):
        try:
            same = working_folder(Path(path)).digest == digest
        except SettingsError:
            same = False
        out().line(clean(path), "" if same else "  (changed since: not trusted)")
