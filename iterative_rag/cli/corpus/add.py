"""`iterative-rag corpus add`: folders, files, encyclopedias and web pages into a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.options import AsJson, CorpusToFill, EmbedderSpec, Quiet, RefusedSeconds
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.index.ingest import IngestReport
    from iterative_rag.protocols import Skipped
    from iterative_rag.sources.web.web_pages import WebPage

FAILED = 4
_TITLES_SHOWN = 10


Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE...",
        help="Folders and files, as for `index`; ZIM archives and MediaWiki dumps; web pages.",
    ),
]
TitlesFile = Annotated[
    str,
    typer.Option(
        metavar="FILE", help="Only these articles of the ZIM archive or dump, one title a line; - reads stdin."
    ),
]
IgnoreRobots = Annotated[
    bool, typer.Option("--ignore-robots", help="Fetch pages that robots.txt forbids: only if you may.")
]


def add(
    sources: Sources,
    corpus: CorpusToFill = None,
    titles: TitlesFile = "",
    ignore_robots: IgnoreRobots = False,
    embedder: EmbedderSpec = None,
    refused_seconds: RefusedSeconds = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Add folders, files, encyclopedias and web pages (http or https) to a corpus.

    Web pages are kept as Markdown files, so indexing them again needs no network. Adding a page again fetches it again.

    A list of titles adds to those chosen before; an article that another list lacks stays in the corpus. `index` and
    `corpus status` look at the chosen articles. Without --titles the whole archive or dump is added.
    """
    from iterative_rag.cli.fetch_progress import corpus_to_fill
    from iterative_rag.cli.index_search_show import show_report
    from iterative_rag.protocols import Skipped
    from iterative_rag.sources.web.web_pages import is_url

    name = corpus_to_fill(corpus)
    chosen = _titles(titles) if titles else None
    urls = [one for one in sources if is_url(one)]
    paths = [Path(one) for one in sources if not is_url(one)]
    results: tuple[WebPage | Skipped, ...] = ()
    if urls:
        folder, results = _fetch(urls, name, ignore_robots=ignore_robots, as_json=as_json, quiet=quiet)
        if any(folder.glob("*.md")):
            paths.append(folder)
    report = _index(paths, name, embedder, chosen, refused_seconds, quiet=quiet) if paths or chosen else None
    pages = [one for one in results if not isinstance(one, Skipped)]
    skipped = [one for one in results if isinstance(one, Skipped)]
    if as_json:
        _write_json(name, pages, skipped, report, chosen)
    elif report:
        show_report(report, quiet=quiet)
        if (missing := _missing(report, chosen)) and chosen:
            _say_missing(list(missing), len(chosen))
    if skipped:
        raise typer.Exit(FAILED)


def _fetch(
    urls: list[str], corpus: str, *, ignore_robots: bool, as_json: bool, quiet: bool
) -> tuple[Path, tuple[WebPage | Skipped, ...]]:
    """Fetch web pages into the folder of the corpus, showing each as it arrives."""
    from iterative_rag.app import factory
    from iterative_rag.cli.fetch_progress import say_pause

    return factory.fetch_web_pages(
        urls,
        corpus=corpus,
        ignore_robots=ignore_robots,
        on_page=None if as_json else lambda one: _show_page(one, quiet=quiet),
        on_pause=None if quiet else say_pause,
    )


def _titles(place: str) -> list[str]:
    """The titles in a file or on stdin, each once. Raises UsageError."""
    import sys

    from iterative_rag.errors import UsageError
    from iterative_rag.system.files import readable

    try:
        data = sys.stdin.buffer.read() if place == "-" else readable(Path(place).expanduser()).read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"The titles in {place} cannot be read: {error.strerror}.", hint="Check the path.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{place} is not UTF-8 text.", hint="Write one title a line.") from error
    titles = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
    if not titles:
        raise UsageError(f"There is no title in {place}.", hint="Write one title a line.")
    return titles


def _index(
    paths: list[Path],
    name: str,
    embedder: str | None,
    titles: list[str] | None,
    refused_seconds: float | None,
    *,
    quiet: bool,
) -> IngestReport:
    from iterative_rag.app.factory import index_paths
    from iterative_rag.cli.options import settings_from
    from iterative_rag.cli.progress import indexing

    settings = settings_from(corpus=name, embedder=embedder)
    with indexing(quiet=quiet) as progress:
        return index_paths(
            paths,
            settings=settings,
            corpus=name,
            titles=titles,
            whole=titles is None,
            refused_seconds=refused_seconds,
            progress=progress,
        )


def _missing(report: IngestReport | None, titles: list[str] | None) -> dict[str, str]:
    """The titles without a document, and why. The source names of skipped items end in their titles."""
    asked = set(titles or ())
    missing: dict[str, str] = {}
    for one in report.skipped if report else ():
        ends = (one.source[place + 1 :] for place, letter in enumerate(one.source) if letter == ":")
        if title := next((end for end in ends if end in asked), ""):
            missing[title] = one.reason
    return missing


def _say_missing(missing: list[str], asked: int) -> None:
    from iterative_rag.cli.console import clean, err

    more = ", …" if len(missing) > _TITLES_SHOWN else ""
    shown = ", ".join(repr(title) for title in missing[:_TITLES_SHOWN]) + more
    err().line((f"{len(missing)} of {counted(asked, 'title')} matched no article: ", "yellow"), clean(shown))


def _show_page(one: WebPage | Skipped, *, quiet: bool) -> None:
    """Show one page as it arrives, which also serves as progress."""
    from iterative_rag.cli.console import clean, err, out
    from iterative_rag.protocols import Skipped

    if isinstance(one, Skipped):
        err().line(("skipped ", "yellow"), clean(f"{one.source}: {one.reason}"))
    elif not quiet:
        out().line((clean(one.title), "bold"), "  " + clean(one.url))


def _write_json(
    name: str,
    pages: list[WebPage],
    skipped: list[Skipped],
    report: IngestReport | None,
    titles: list[str] | None,
) -> None:
    from iterative_rag.cli.console import write_json
    from iterative_rag.cli.fetch_progress import report_as_json, skipped_as_json

    found: dict[str, object] = {
        "corpus": name,
        "pages": [{"asked": one.asked, "url": one.url, "title": one.title, "file": str(one.place)} for one in pages],
        "skipped": skipped_as_json(skipped),
        "indexed": report_as_json(report),
    }
    if titles is not None:
        missing = [{"title": title, "reason": why} for title, why in _missing(report, titles).items()]
        found["titles"] = {"asked": len(titles), "missing": missing}
    write_json(found)
