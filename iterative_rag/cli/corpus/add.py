"""`iterative-rag corpus add`: folders, files and web pages into a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.options import AsJson, CorpusToFill, EmbedderSpec, Quiet

if TYPE_CHECKING:
    from iterative_rag.corpus.web.pages import WebPage
    from iterative_rag.ingest import IngestReport
    from iterative_rag.protocols import Skipped

FAILED = 4


def add(
    sources: Annotated[
        list[str], typer.Argument(metavar="SOURCE...", help="Folders and files, as `index` reads them, and web pages.")
    ],
    corpus: CorpusToFill = None,
    ignore_robots: Annotated[
        bool, typer.Option("--ignore-robots", help="Fetch what a site's robots.txt forbids: if you may.")
    ] = False,
    embedder: EmbedderSpec = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Add folders, files and web pages (http or https) to a corpus.

    Web pages are kept as Markdown files: indexing them again needs no network. Adding one again fetches it anew.
    """
    from iterative_rag import factory
    from iterative_rag.cli.corpora import show_report
    from iterative_rag.cli.fetching import corpus_to_fill, index_into, say_how_to_go_on, say_pause
    from iterative_rag.corpus.web.pages import is_url
    from iterative_rag.protocols import Skipped

    name = corpus_to_fill(corpus)
    urls = [one for one in sources if is_url(one)]
    paths = [Path(one) for one in sources if not is_url(one)]
    results: tuple[WebPage | Skipped, ...] = ()
    try:
        if urls:
            folder, results = factory.fetch_web_pages(
                urls,
                corpus=name,
                ignore_robots=ignore_robots,
                on_page=None if as_json else lambda one: _show_page(one, quiet=quiet),
                on_pause=None if quiet else say_pause,
            )
            if any(folder.glob("*.md")):
                paths.append(folder)
        report = index_into(paths, name, embedder, quiet=quiet) if paths else None
    except KeyboardInterrupt:
        say_how_to_go_on()
        raise
    pages = [one for one in results if not isinstance(one, Skipped)]
    skipped = [one for one in results if isinstance(one, Skipped)]
    if as_json:
        _write_json(name, pages, skipped, report)
    elif report:
        show_report(report, quiet=quiet)
    if skipped:
        raise typer.Exit(FAILED)


def _show_page(one: WebPage | Skipped, *, quiet: bool) -> None:
    """As each comes in: that is the progress too."""
    from iterative_rag.cli.console import clean, err, out
    from iterative_rag.protocols import Skipped

    if isinstance(one, Skipped):
        err().line(("skipped ", "yellow"), clean(f"{one.source}: {one.reason}"))
    elif not quiet:
        out().line((clean(one.title), "bold"), "  " + clean(one.url))


def _write_json(name: str, pages: list[WebPage], skipped: list[Skipped], report: IngestReport | None) -> None:
    import json

    from iterative_rag.cli.console import write
    from iterative_rag.cli.fetching import report_as_json, skipped_as_json

    found = {
        "corpus": name,
        "pages": [{"asked": one.asked, "url": one.url, "title": one.title, "file": str(one.place)} for one in pages],
        "skipped": skipped_as_json(skipped),
        "indexed": report_as_json(report),
    }
    write(json.dumps(found, ensure_ascii=False, indent=2))
