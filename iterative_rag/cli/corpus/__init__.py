"""`iterative-rag corpus`: list, describe, fill and remove corpora. Those that fill one have a file each."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.console import clean, confirm, err, out, size, write_json
from iterative_rag.cli.corpus.add import add
from iterative_rag.cli.corpus.fetch import fetch
from iterative_rag.cli.options import AsJson, Yes, corpus_names, settings_from, takes_settings
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.app.staleness import Staleness
    from iterative_rag.index.corpora import CorpusInfo
    from iterative_rag.settings import Settings

_KEYS_SHOWN = 20

Name = Annotated[str, typer.Argument(metavar="NAME", help="The corpus.", autocompletion=corpus_names)]

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


@corpus_app.command("list")
def list_corpora(as_json: AsJson = False) -> None:
    """List the corpora."""
    from iterative_rag.app.factory import corpora

    known = corpora()
    infos = [known.info(name) for name in known.names()]
    if as_json:
        write_json({"corpora": [dataclasses.asdict(info) for info in infos]})
        return
    if not infos:
        more = " makes one; the starter corpus is indexed when you first ask something."
        err().line("No corpus yet: ", ("iterative-rag index PATH", "bold"), more)
    for info in infos:
        counts = [counted(info.documents, "document"), counted(info.passages, "passage")]
        if info.file:
            counts = [counted(info.documents, "article"), *info.languages, info.updated, size(info.bytes)]
        out().line((info.name, "bold"), "  " + ", ".join(filter(None, [*counts, info.state])))


@corpus_app.command()
def status(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="All of them if none is named.", autocompletion=corpus_names)
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check/--no-check", help="Read the sources of NAME again and tell what is stale; check a ZIM file."
        ),
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Show documents, passages, embedder, size and date of a corpus, and what has changed since at its sources."""
    from iterative_rag.app.factory import corpora, stale
    from iterative_rag.sources.zim_file import ZimFile

    known = corpora()
    infos = [known.info(corpus) for corpus in ([name] if name else known.names())]
    indexed = bool(name) and not infos[0].file
    readable = indexed and infos[0].state in ("ready", "incomplete")
    compared = bool(name) and check and infos[0].state not in ("damaged", "missing")
    staleness = stale(name, settings_from()) if name and indexed and compared else None
    keys = dict(known.keys(name)) if name and readable else {}
    if compared and infos[0].file and not ZimFile(Path(infos[0].place)).is_whole():
        infos[0] = dataclasses.replace(infos[0], state="damaged: its checksum is wrong, fetch it again")
    if as_json:
        told = {"corpora": [dataclasses.asdict(info) for info in infos]}
        if keys:
            told["corpora"][0]["keys"] = keys
        if staleness:
            told["corpora"][0]["stale"] = dataclasses.asdict(staleness)
        write_json(told)
        return
    for number, info in enumerate(infos):
        if number:
            out().blank()
        for label, value in _facts(info, staleness, keys).items():
            if value:
                out().line((f"{label:<11}", "dim"), value)
    for root, reason in staleness.unread if staleness else ():
        err().line(("not compared ", "yellow"), clean(f"{root}: {reason}"))


def _facts(info: CorpusInfo, staleness: Staleness | None, keys: dict[str, int]) -> dict[str, str]:
    named = ", ".join(f"{clean(key)} ({documents:,})" for key, documents in list(keys.items())[:_KEYS_SHOWN])
    return {
        "corpus": info.name,
        "documents": f"{info.documents:,}",
        "passages": "" if info.file else f"{info.passages:,}",
        "file": info.place if info.file else "",
        "language": ", ".join(info.languages) if info.file else "",
        "embedder": info.embedder,
        "size": size(info.bytes),
        "updated": str(info.updated),
        "state": str(info.state),
        "--where": named + (f" and {len(keys) - _KEYS_SHOWN} more" if len(keys) > _KEYS_SHOWN else ""),
        "stale": _stale(info.name, staleness) if staleness else "",
    }


def _stale(name: str, staleness: Staleness) -> str:
    if not staleness.roots:
        return "not known of all its sources" if staleness.unread else "nothing"
    again = shlex.join(["iterative-rag", "index", *staleness.roots, "--corpus", name])
    return f"{staleness.new} new, {staleness.changed} changed, {staleness.gone} gone; {again} brings it up to date"


corpus_app.command()(add)
corpus_app.command()(fetch)


@corpus_app.command()
@takes_settings(("index",))
def remove(name: Name, settings: Settings, yes: Yes = False, as_json: AsJson = False) -> None:
    """Remove a corpus's index. The files that it was made from stay, and so do pages that were fetched for it."""
    from iterative_rag.app.factory import corpora, pages_folder

    known = corpora(settings.index)
    info = known.info(name)
    if not yes:
        again = f"iterative-rag corpus remove {shlex.quote(name)} --yes"
        confirm(f"Remove {name} ({counted(info.documents, 'document')})?", again=again)
    known.remove(name)
    pages = pages_folder(name)
    kept = pages if pages.is_dir() else None
    if as_json:
        write_json({"removed": name, "documents": info.documents, "pages": str(kept) if kept else None})
        return
    err().line(f"Removed {name}.")
    if kept:
        err().line(f"The pages that were fetched for it stay in {kept}.")


__all__ = ["corpus_app"]
