"""`index`, `corpus`, `search` and `show`: what can be asked, without any LLM."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.options import AsJson, CorpusName, EmbedderSpec, Quiet, announce_starter, settings_from

if TYPE_CHECKING:
    from iterative_rag.index.corpora import CorpusInfo
    from iterative_rag.ingest import IngestReport

_SKIPPED_SHOWN = 20


def index(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Folders of .txt/.md files, or .jsonl/.jsonl.gz files.")
    ],
    corpus: CorpusName = None,
    embedder: EmbedderSpec = None,
    quiet: Quiet = False,
) -> None:
    """Bring a corpus up to date with folders or JSON Lines files.

    A line of a .jsonl file is {"title": ..., "text": ..., "url": ...} ("passage" does for "text").
    Only new and changed documents are embedded; those that are gone are removed.
    """
    settings = settings_from(corpus=corpus, embedder=embedder)
    from iterative_rag.cli.progress import indexing
    from iterative_rag.factory import index_paths

    with indexing(quiet=quiet) as progress:
        report = index_paths(paths, settings=settings, corpus=corpus, progress=progress)
    _show_report(report, quiet=quiet)


def _show_report(report: IngestReport, *, quiet: bool) -> None:
    from iterative_rag.cli.console import clean, err, out

    for skipped in report.skipped[:_SKIPPED_SHOWN]:
        err().line(("skipped ", "yellow"), clean(f"{skipped.source}: {skipped.reason}"))
    if len(report.skipped) > _SKIPPED_SHOWN:
        err().line((f"… and {len(report.skipped) - _SKIPPED_SHOWN} more skipped", "yellow"))
    if quiet:
        return
    rate = f", {report.passages / report.seconds:,.0f} passages/s" if report.passages and report.seconds else ""
    out().line(
        f"{report.added} added, {report.changed} changed, {report.unchanged} unchanged, {report.removed} removed, "
        f"{len(report.skipped)} skipped; {report.passages:,} passages embedded in {report.seconds:.1f} s{rate}"
    )


# --- corpus ----------------------------------------------------------------------------------

corpus_app = typer.Typer(
    help="List the corpora; show or remove one.",
    invoke_without_command=True,
    rich_markup_mode=None,
    epilog="\b\nExamples:\n  iterative-rag corpus\n  iterative-rag corpus status mine\n"
    "  iterative-rag corpus remove mine",
)


@corpus_app.callback()
def _corpora(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        list_corpora()


@corpus_app.command("list")
def list_corpora() -> None:
    """List the corpora."""
    from iterative_rag.cli.console import err, out
    from iterative_rag.factory import corpora

    known = corpora()
    names = known.names()
    if not names:
        more = " makes one; the starter corpus is indexed when you first ask something."
        err().line("No corpus yet: ", ("iterative-rag index PATH", "bold"), more)
    for name in names:
        info = known.info(name)
        out().line((name, "bold"), f"  {info.documents:,} documents, {info.passages:,} passages, {info.state}")


@corpus_app.command("status")
def status(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="All of them if none is named.")] = None,
) -> None:
    """Show documents, passages, embedder, size and date of a corpus."""
    from iterative_rag.cli.console import out
    from iterative_rag.factory import corpora

    known = corpora()
    for number, one in enumerate([name] if name else known.names()):
        if number:
            out().blank()
        for label, value in _facts(known.info(one)):
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


@corpus_app.command("remove")
def remove(
    name: Annotated[str, typer.Argument(metavar="NAME")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove a corpus's index. The files that it was made from stay."""
    from iterative_rag.cli.console import err
    from iterative_rag.factory import corpora

    known = corpora()
    info = known.info(name)
    if not yes:
        typer.confirm(f"Remove {name} ({info.documents:,} documents)?", abort=True, err=True)
    known.remove(name)
    err().line(f"Removed {name}.")


# --- looking things up -----------------------------------------------------------------------


def search(
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="What to look for.")],
    corpus: CorpusName = None,
    embedder: EmbedderSpec = None,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, max=100, help="Passages.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Show the shortlist for some words: passages with their scores and ranks, without any LLM."""
    from iterative_rag.errors import UsageError

    query = " ".join(words).strip()
    if not query:
        raise UsageError("There is nothing to search for.", hint='iterative-rag search "WORDS"')
    from iterative_rag.factory import open_corpus

    settings = settings_from(corpus=corpus, embedder=embedder)
    announce_starter(settings)
    opened = open_corpus(settings)
    try:
        (hits,) = opened.search([query], limit)
        found = [(hit, opened.document(hit.document_id).text[hit.start : hit.end]) for hit in hits]
    finally:
        opened.close()
    if as_json:
        import dataclasses
        import json

        from iterative_rag.cli.console import write

        write(json.dumps([{**dataclasses.asdict(hit), "text": text} for hit, text in found], indent=2))
        return
    from iterative_rag.cli.console import clean, err, out

    if not found:
        err().line(f"Nothing found in {opened.name}.")
    for number, (hit, text) in enumerate(found, 1):
        ranks = f"dense {hit.dense_rank or '–'}, BM25 {hit.sparse_rank or '–'}"
        place = f"  {hit.score:.4f} ({ranks})  characters {hit.start}–{hit.end}"
        out().line((f"{number:>2} ", "cyan"), (clean(hit.title), "bold"), (place, "dim"))
        out().line(clean(text), indent="   ")


def show(
    title: Annotated[list[str], typer.Argument(metavar="TITLE", help="The title of a document.")],
    corpus: CorpusName = None,
    embedder: EmbedderSpec = None,
) -> None:
    """Print the documents of a title."""
    from iterative_rag.cli.console import err
    from iterative_rag.factory import open_corpus

    settings = settings_from(corpus=corpus, embedder=embedder)
    announce_starter(settings)
    opened = open_corpus(settings)
    try:
        documents = opened.find(" ".join(title))
    finally:
        opened.close()
    for document in documents:
        err().line((document.title, "bold"), (f"  {document.source}", "dim"))
        _write_document(document.text)


def _write_document(text: str) -> None:
    """As it is into a pipe; without control characters onto a terminal."""
    import sys

    from iterative_rag.cli.console import clean, write

    write("\n".join(clean(line) for line in text.splitlines()) if sys.stdout.isatty() else text)
