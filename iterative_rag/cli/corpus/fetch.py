"""`iterative-rag corpus fetch`: articles of Wikipedia, by title, URL, category, links or search."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.console import clean, err, out, write_json
from iterative_rag.cli.corpus.add import FAILED, corpus_to_fill, index_into
from iterative_rag.cli.index import report_as_json, show_report
from iterative_rag.cli.live import fetching
from iterative_rag.cli.options import AllowPrivateHosts, AsJson, Contact, CorpusToFill, Quiet, WikiApi, takes_settings
from iterative_rag.errors import UsageError
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.settings import Settings
    from iterative_rag.sources.wikipedia.article_fetching import Collected, NotFetched, Wanted

_SHOWN = 20  # pages that were not found
_CHOICES_SHOWN = 10  # titles offered for one of them


Titles = Annotated[list[str] | None, typer.Argument(metavar="[TITLE_OR_URL...]", help="Articles by title or address.")]
Category = Annotated[list[str] | None, typer.Option(metavar="NAME", help="All articles of a category.")]
LinksOf = Annotated[list[str] | None, typer.Option(metavar="PAGE", help="A page and the articles that it links to.")]
Search = Annotated[list[str] | None, typer.Option(metavar="WORDS", help="The ten articles that the wiki finds.")]
Limit = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Articles of categories, links and searches. Default: 1000.")
]
Via = Annotated[
    str, typer.Option(metavar="api|wikipedia", help="Who looks up titles: our client, or the package pymediawiki.")
]


@takes_settings(("embedder",))
def fetch(
    settings: Settings,
    pages: Titles = None,
    lang: Annotated[str, typer.Option(metavar="CODE", help="The Wikipedia of bare titles.")] = "en",
    category: Category = None,
    links_of: LinksOf = None,
    search: Search = None,
    corpus: CorpusToFill = None,
    limit: Limit = None,
    contact: Contact = "",
    api: WikiApi = "",
    allow_private_hosts: AllowPrivateHosts = False,
    via: Via = "api",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fetch articles of Wikipedia, with their tables, as Markdown files, and index them into a corpus.

    Interrupted or killed, the same command resumes; no article is fetched twice.
    """
    from iterative_rag.app.factory import fetch_wikipedia, pages_folder
    from iterative_rag.sources.wikipedia.article_fetching import LIMIT, Wanted
    from iterative_rag.sources.wikipedia.page_names import page_name

    if via not in ("api", "wikipedia"):
        raise UsageError(f"There is no way {via!r} to look up titles.", hint="Use --via api or --via wikipedia.")
    names, categories, linking, words = (
        tuple(page_name(title, language=lang) for title in given or ()) for given in (pages, category, links_of, search)
    )
    wanted = Wanted(names, categories=categories, links_of=linking, searches=words, limit=limit or LIMIT)
    if wanted.nothing:
        raise UsageError(
            "There is nothing to fetch.", hint='Name an article: iterative-rag corpus fetch "James Buchanan"'
        )
    name = corpus_to_fill(corpus)
    with fetching(quiet=quiet) as (progress, on_pause):
        collected = fetch_wikipedia(
            wanted,
            folder=pages_folder(name) / "wikipedia",
            contact=contact,
            api=api,
            private_hosts=allow_private_hosts,
            by_package=via == "wikipedia",
            progress=progress,
            on_pause=on_pause,
        )
    _report(collected, wanted, name, settings, as_json=as_json, quiet=quiet)


def _report(
    collected: Collected, wanted: Wanted, corpus: str, settings: Settings, *, as_json: bool, quiet: bool
) -> None:
    """Index what was fetched and tell of both; the exit code says whether something that was named is missing."""
    from iterative_rag.sources.wikipedia.article_fetching import Stored

    there = any(collected.folder.glob("*.md"))
    report = index_into([collected.folder], corpus, settings, quiet=quiet) if there else None
    missed = [outcome for outcome in collected.outcomes if not isinstance(outcome, Stored)]
    if as_json:
        _write_json(corpus, collected, missed, report_as_json(report) if report else None)
    else:
        _show(collected, missed, wanted.limit, quiet=quiet)
        if report and not quiet:
            show_report(report, quiet=quiet)
    if any(page.kind == "failed" or page.name in wanted.names for page in missed):
        raise typer.Exit(FAILED)


def _show(collected: Collected, missed: list[NotFetched], limit: int, *, quiet: bool) -> None:
    """What was fetched, and for each page that was not found the reason and the titles that may be meant."""
    for page in missed[:_SHOWN]:
        meant = page.nearest[:_CHOICES_SHOWN]
        err().line((clean(page.name.title), "bold"), clean(f": {page.reason}{' It may be:' if meant else ''}"))
        for title in meant:
            err().line(clean(shlex.quote(title)), indent="  ")
    if len(missed) > _SHOWN:
        err().line((f"… and {len(missed) - _SHOWN:,} more without a page; all of them: --json", "yellow"))
    if collected.cut:
        taken = counted(limit, "article was", "articles were")
        err().line((f"Only the first {taken} taken; more: --limit {limit * 10}", "yellow"))
    if not quiet:
        out().line(
            f"{counted(len(collected.stored), 'page')} in {collected.folder}, "
            f"{collected.fetched:,} fetched now in {collected.seconds:.0f} s, {len(missed):,} not found"
        )


def _write_json(name: str, collected: Collected, missed: list[NotFetched], indexed: dict[str, object] | None) -> None:
    write_json(
        {
            "corpus": name,
            "folder": str(collected.folder),
            "pages": [
                {"title": page.title, "language": page.name.language, "file": str(page.place), "fetched": page.fetched}
                for page in collected.stored.values()
            ],
            "missing": [
                {"asked": page.name.title, "kind": page.kind, "reason": page.reason, "nearest": list(page.nearest)}
                for page in missed
            ],
            "fetched": collected.fetched,
            "cut": collected.cut,
            "seconds": collected.seconds,
            "indexed": indexed,
        }
    )
