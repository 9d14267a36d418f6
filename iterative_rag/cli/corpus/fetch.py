"""`iterative-rag corpus fetch`: articles of Wikipedia, by title, URL, category, links or search."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.console import clean, err, out, write_json
from iterative_rag.cli.corpus.add import FAILED, corpus_to_fill, index_into, naming_private_hosts
from iterative_rag.cli.index import report_as_json, show_report
from iterative_rag.cli.live import fetching
from iterative_rag.cli.options import AllowPrivateHosts, AsJson, Contact, CorpusToFill, Quiet, WikiApi, takes_settings
from iterative_rag.errors import UsageError
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.settings import Settings
    from iterative_rag.sources.wikipedia.article_fetching import NotFetched
    from iterative_rag.sources.wikipedia.collecting import Collected, Wanted

_SHOWN = 20  # pages that were not found
_CHOICES_SHOWN = 10  # titles offered for one of them


@takes_settings(("embedder",))
def fetch(
    settings: Settings,
    pages: Annotated[
        list[str] | None, typer.Argument(metavar="[TITLE_OR_URL...]", help="Articles by title or address.")
    ] = None,
    lang: Annotated[str, typer.Option("--lang", metavar="CODE", help="The Wikipedia of bare titles.")] = "en",
    category: Annotated[
        list[str] | None, typer.Option("--category", metavar="NAME", help="All articles of a category.")
    ] = None,
    links_of: Annotated[
        list[str] | None,
        typer.Option("--links-of", metavar="PAGE", help="A page and the articles that it links to."),
    ] = None,
    search: Annotated[
        list[str] | None,
        typer.Option("--search", metavar="WORDS", help="The ten articles that the wiki finds for them."),
    ] = None,
    corpus: CorpusToFill = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="Articles of categories, links and searches. Default: 1000."),
    ] = None,
    contact: Contact = "",
    api: WikiApi = "",
    allow_private_hosts: AllowPrivateHosts = False,
    via: Annotated[
        str, typer.Option(metavar="api|wikipedia", help="Who looks up titles: our client, or the package pymediawiki.")
    ] = "api",
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Fetch changed articles again; alone: all articles of the corpus.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fetch articles of Wikipedia, with their tables, as Markdown files, and index them into a corpus.

    Interrupted or killed, the same command resumes; no article is fetched twice.
    """
    from iterative_rag.sources.wikipedia.collecting import LIMIT, Wanted
    from iterative_rag.sources.wikipedia.page_names import page_name

    if via not in ("api", "wikipedia"):
        raise UsageError(f"There is no way {via!r} to look up titles.", hint="Use --via api or --via wikipedia.")
    names, categories, linking, words = (
        tuple(page_name(title, language=lang) for title in given or ()) for given in (pages, category, links_of, search)
    )
    wanted = Wanted(
        names, categories=categories, links_of=linking, searches=words, limit=limit or LIMIT, refresh=refresh
    )
    if wanted.nothing and not refresh:
        raise UsageError(
            "There is nothing to fetch.", hint='Name an article: iterative-rag corpus fetch "James Buchanan"'
        )
    _fetch(wanted, corpus, settings, _Client(contact, api, allow_private_hosts, via), as_json=as_json, quiet=quiet)


@dataclass(frozen=True, slots=True)
class _Client:
    """Which wiki is asked, and how."""

    contact: str
    api: str
    private_hosts: bool
    via: str

    @property
    def again(self) -> list[str]:
        """The options that a suggested command repeats."""
        words = ["--api", self.api] if self.api else []
        words += ["--allow-private-hosts"] if self.private_hosts else []
        return [*words, *(["--via", self.via] if self.via != "api" else [])]


def _fetch(
    wanted: Wanted, corpus: str | None, settings: Settings, client: _Client, *, as_json: bool, quiet: bool
) -> None:
    from iterative_rag.app.factory import fetch_wikipedia
    from iterative_rag.sources.wikipedia.article_fetching import Stored

    name = corpus_to_fill(corpus)
    with naming_private_hosts(client.private_hosts), fetching(quiet=quiet) as (progress, on_pause):
        collected = fetch_wikipedia(
            wanted,
            corpus=name,
            contact=client.contact,
            api=client.api,
            private_hosts=client.private_hosts,
            by_package=client.via == "wikipedia",
            progress=progress,
            on_pause=on_pause,
        )
    report = index_into([collected.folder], name, settings, quiet=quiet) if any(collected.folder.glob("*.md")) else None
    missed = [outcome for outcome in collected.outcomes if not isinstance(outcome, Stored)]
    if as_json:
        _write_json(name, collected, missed, report_as_json(report) if report else None)
    else:
        _show(collected, missed, [*(["--corpus", corpus] if corpus else []), *client.again], wanted.limit, quiet=quiet)
        if report and not quiet:
            show_report(report, quiet=quiet)
    if any(page.kind == "failed" or page.name in wanted.names for page in missed):
        raise typer.Exit(FAILED)


def _show(collected: Collected, missed: list[NotFetched], again: list[str], limit: int, *, quiet: bool) -> None:
    """What was fetched, and for each page that was not found the reason and commands for those that may be meant."""
    for page in missed[:_SHOWN]:
        meant = page.nearest[:_CHOICES_SHOWN]
        err().line((clean(page.name.title), "bold"), clean(f": {page.reason}{' It may be:' if meant else ''}"))
        own = ["--lang", page.name.language] if page.name.language != "en" else []
        for title in meant:
            err().line(clean(shlex.join(["iterative-rag", "corpus", "fetch", title, *own, *again])), indent="  ")
        if len(page.nearest) > len(meant):
            err().line(f"… and {len(page.nearest) - len(meant)} more", indent="  ")
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
