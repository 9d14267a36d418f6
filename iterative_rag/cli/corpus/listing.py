"""`iterative-rag corpus list` and `corpus status`: which corpora there are, and what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.options import AsJson

if TYPE_CHECKING:
    from iterative_rag.index.corpora import CorpusInfo


def list_corpora(as_json: AsJson = False) -> None:
    """List the corpora."""
    from iterative_rag.cli.console import err, out
    from iterative_rag.factory import corpora

    known = corpora()
    infos = [known.info(name) for name in known.names()]
    if as_json:
        _write_json(infos)
        return
    if not infos:
        more = " makes one; the starter corpus is indexed when you first ask something."
        err().line("No corpus yet: ", ("iterative-rag index PATH", "bold"), more)
    for info in infos:
        out().line((info.name, "bold"), f"  {info.documents:,} documents, {info.passages:,} passages, {info.state}")


def status(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="All of them if none is named.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show documents, passages, embedder, size and date of a corpus."""
    from iterative_rag.cli.console import out
    from iterative_rag.factory import corpora

    known = corpora()
    infos = [known.info(one) for one in ([name] if name else known.names())]
    if as_json:
        _write_json(infos)
        return
    for number, info in enumerate(infos):
        if number:
            out().blank()
        for label, value in _facts(info):
            out().line((f"{label:<11}", "dim"), value)


def _facts(info: CorpusInfo) -> list[tuple[str, str]]:
    from iterative_rag.cli.console import size

    return [
        ("corpus", info.name),
        ("documents", f"{info.documents:,}"),
        ("passages", f"{info.passages:,}"),
        ("embedder", info.embedder),
        ("size", size(info.bytes)),
        ("updated", str(info.updated)),
        ("state", str(info.state)),
    ]


def _write_json(infos: Sequence[CorpusInfo]) -> None:
    import dataclasses
    import json

    from iterative_rag.cli.console import write

    found = {"corpora": [dataclasses.asdict(info) for info in infos]}
    write(json.dumps(found, ensure_ascii=False, indent=2))
