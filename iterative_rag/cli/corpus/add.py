"""`iterative-rag corpus add`: folders, files, encyclopedias and web pages into a corpus."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from iterative_rag.cli.console import clean, err, out, write_json
from iterative_rag.cli.index import report_as_json, show_report, skipped_as_json
from iterative_rag.cli.live import indexing, say_pause
from iterative_rag.cli.options import AsJson, CorpusToFill, Quiet, RefusedSeconds, settings_from, takes_settings
from iterative_rag.errors import UsageError
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.index.ingest import IngestReport
    from iterative_rag.protocols import Skipped
    from iterative_rag.settings import Settings
    from iterative_rag.sources.web.web_pages import WebPage

FAILED = 4
_TITLES_SHOWN = 10


@takes_settings(("embedder",))
def add(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...", help="Folders and files, as for `index`; ZIM archives and MediaWiki dumps; web pages."
        ),
    ],
    settings: Settings,
    corpus: CorpusToFill = None,
    titles: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="Only these articles of the ZIM archive or dump, one title a line; - reads stdin."
        ),
    ] = "",
    ignore_robots: Annotated[
        bool, typer.Option("--ignore-robots", help="Fetch pages that robots.txt forbids: only if you may.")
    ] = False,
    refused_seconds: RefusedSeconds = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Add folders, files, encyclopedias and web pages (http or https) to a corpus.

    Web pages are kept as Markdown files, so indexing them again needs no network. Adding a page again fetches it again.

    A list of titles adds to those chosen before; an article that another list lacks stays in the corpus. `index` and
    `corpus status` look at the chosen articles. Without --titles the whole archive or dump is added.
    """
    from iterative_rag.protocols import Skipped
    from iterative_rag.sources.web.web_pages import is_url

    name = corpus_to_fill(corpus)
    chosen = _titles(titles) if titles else None
    urls = [source for source in sources if is_url(source)]
    paths = [Path(source) for source in sources if not is_url(source)]
    folders, results = _fetched(urls, name, ignore_robots=ignore_robots, quiet=quiet, as_json=as_json)
    report = None
    if paths or folders or chosen:
        articles = {"titles": chosen, "whole": chosen is None, "refused_seconds": refused_seconds}
        report = index_into([*paths, *folders], name, settings, quiet=quiet, **articles)
    skipped = [result for result in results if isinstance(result, Skipped)]
    missing = _missing(report, chosen)
    if as_json:
        pages = [page for page in results if not isinstance(page, Skipped)]
        _write_json(name, pages, skipped, report, chosen, missing)
    elif report:
        show_report(report, quiet=quiet)
        if missing and chosen:
            shown = ", ".join(map(repr, list(missing)[:_TITLES_SHOWN]))
            matched = f"{len(missing)} of {counted(len(chosen), 'title')} matched no article: "
            err().line((matched, "yellow"), clean(shown + (", …" if len(missing) > _TITLES_SHOWN else "")))
    if skipped:
        raise typer.Exit(FAILED)


def _fetched(
    urls: Sequence[str], corpus: str, *, ignore_robots: bool, quiet: bool, as_json: bool
) -> tuple[list[Path], tuple[WebPage | Skipped, ...]]:
    """The folder of the pages, if there is any, and what became of each address."""
    from iterative_rag.app.factory import fetch_web_pages

    if not urls:
        return [], ()
    folder, results = fetch_web_pages(
        urls,
        corpus=corpus,
        ignore_robots=ignore_robots,
        on_page=None if as_json else lambda page: _show_page(page, quiet=quiet),
        on_pause=None if quiet else say_pause,
    )
    return [folder] if any(folder.glob("*.md")) else [], results


def _titles(path: str) -> list[str]:
    """The titles in a file or on stdin, each once. Raises UsageError."""
    from iterative_rag.system.files import readable

    try:
        data = sys.stdin.buffer.read() if path == "-" else readable(Path(path).expanduser()).read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"The titles in {path} cannot be read: {error.strerror}.", hint="Check the path.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text.", hint="Write one title a line.") from error
    titles = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
    if not titles:
        raise UsageError(f"There is no title in {path}.", hint="Write one title a line.")
    return titles


def _missing(report: IngestReport | None, titles: list[str] | None) -> dict[str, str]:
    """The titles without a document, and why. The source names of skipped items end in their titles."""
    asked = set(titles or ())
    missing: dict[str, str] = {}
    for item in report.skipped if report else ():
        ends = (item.source[at + 1 :] for at, letter in enumerate(item.source) if letter == ":")
        if title := next((end for end in ends if end in asked), ""):
            missing[title] = item.reason
    return missing


def _show_page(page: WebPage | Skipped, *, quiet: bool) -> None:
    """Show one page as it arrives, which also serves as progress."""
    from iterative_rag.protocols import Skipped

    if isinstance(page, Skipped):
        err().line(("skipped ", "yellow"), clean(f"{page.source}: {page.reason}"))
    elif not quiet:
        out().line((clean(page.title), "bold"), "  " + clean(page.url))


def _write_json(
    name: str,
    pages: list[WebPage],
    skipped: list[Skipped],
    report: IngestReport | None,
    titles: list[str] | None,
    missing: dict[str, str],
) -> None:
    value: dict[str, object] = {
        "corpus": name,
        "pages": [
            {"asked": page.asked, "url": page.url, "title": page.title, "file": str(page.place)} for page in pages
        ],
        "skipped": skipped_as_json(skipped),
        "indexed": report_as_json(report) if report else None,
    }
    if titles is not None:
        lacking = [{"title": title, "reason": why} for title, why in missing.items()]
        value["titles"] = {"asked": len(titles), "missing": lacking}
    write_json(value)


# --- shared by the commands that fetch documents first ---------------------------------------


def index_into(paths: Sequence[Path], corpus: str, settings: Settings, *, quiet: bool, **chosen: Any) -> IngestReport:
    """Update the corpus from folders and files, with a progress bar."""
    from iterative_rag.app.factory import index_paths

    with indexing(quiet=quiet) as progress:
        return index_paths(paths, settings=settings, corpus=corpus, progress=progress, **chosen)


def corpus_to_fill(given: str | None) -> str:
    """The corpus to fill; its name is checked before anything is fetched."""
    from iterative_rag.app.factory import DEFAULT_CORPUS, pages_folder

    name = given or settings_from().corpus or DEFAULT_CORPUS
    pages_folder(name)
    return name
