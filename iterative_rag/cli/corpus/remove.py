"""`iterative-rag corpus remove`."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from iterative_rag.cli.completion import corpus_names
from iterative_rag.cli.history import confirm
from iterative_rag.cli.options import AsJson, IndexAt, settings_from
from iterative_rag.text.plurals import counted


def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", autocompletion=corpus_names)],
    index: IndexAt = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove a corpus's index. The files that it was made from stay, and so do pages that were fetched for it."""
    from iterative_rag.app.factory import corpora, pages_folder
    from iterative_rag.cli.console import err, write_json

    known = corpora(settings_from(index=index).index)
    info = known.info(name)
    if not yes:
        again = f"iterative-rag corpus remove {shlex.quote(name)} --yes"
        confirm(f"Remove {name} ({counted(info.documents, 'document')})?", again=again)
    known.remove(name)
    pages = pages_folder(name)
    kept = pages if pages.is_dir() else None
    if as_json:
        removed = {"removed": name, "documents": info.documents, "pages": str(kept) if kept else None}
        write_json(removed)
        return
    err().line(f"Removed {name}.")
    if kept:
        err().line(f"The pages that were fetched for it stay in {kept}.")
