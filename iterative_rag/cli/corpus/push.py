"""`iterative-rag corpus push`: the vectors of a local index to another store."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from iterative_rag.cli.completion import corpus_names
from iterative_rag.cli.options import AsJson, Quiet
from iterative_rag.text.plurals import counted


def push(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The corpus.", autocompletion=corpus_names)],
    index: Annotated[
        str,
        typer.Argument(metavar="URL", help="Where to: the address of a store, as for --index."),
    ],
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Copy the vectors of a corpus to another store; interrupted, the same command resumes.

    The texts stay here. Afterwards: --index URL, or ITERATIVE_RAG_INDEX. A Qdrant server's key is read from
    QDRANT_API_KEY, and a new collection of it may have options (qdrants: https):
    qdrant://HOST:6333[/COLLECTION][?shards=N&replicas=N&quantisation=scalar|binary]

    \b
    With --json, one object:
      place                     the server and the collection
      points                    passages that lie there now
      copied, removed           by this run; removed are those of older versions
      compared                  passages that were read back and found equal
      seconds
    """
    from iterative_rag.app.factory import push_corpus
    from iterative_rag.cli.progress import bar

    with bar() as show:
        progress = show if show and not quiet else None
        report = push_corpus(
            name,
            index,
            progress=progress
            and (lambda done, total: progress(done, total, lambda: [f"{done:,} of {counted(total, 'passage')}"])),
        )
    if as_json:
        import dataclasses

        from iterative_rag.cli.console import write_json

        write_json(dataclasses.asdict(report))
    elif not quiet:
        from iterative_rag.cli.console import out

        out().line(
            f"{counted(report.points, 'passage')} at {report.place}: {report.copied:,} copied now, "
            f"{report.removed:,} removed; {report.compared:,} compared, all equal; {report.seconds:.1f} s"
        )
        out().line("Next: ", (f"iterative-rag search WORDS --corpus {shlex.quote(name)} --index '{index}'", "bold"))
