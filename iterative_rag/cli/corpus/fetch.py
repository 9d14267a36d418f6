"""`iterative-rag corpus fetch`: articles of Wikipedia, by title, URL, category, links or question file."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.options import AllowPrivateHosts, AsJson, Contact, CorpusToFill, EmbedderSpec, Quiet
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.index.ingest import IngestReport
    from iterative_rag.sources.wikipedia.collecting import Collected, Wanted
    from iterative_rag.sources.wikipedia.page_names import PageName

FAILED = 4
_SHOWN = 20  # pages that were not found
_CHOICES_SHOWN = 10  # titles offered for one of them


Articles = Annotated[
    list[str] | None, typer.Argument(metavar="[TITLE_OR_URL...]", help="Articles by title or address.")
]
Language = Annotated[str, typer.Option("--lang", metavar="CODE", help="The Wikipedia of bare titles.")]
Categories = Annotated[list[str] | None, typer.Option("--category", metavar="NAME", help="All articles of a category.")]
LinksOf = Annotated[
    list[str] | None, typer.Option("--links-of", metavar="PAGE", help="A page and the articles that it links to.")
]
Depth = Annotated[int, typer.Option("--depth", metavar="N", min=1, max=5, help="How many links far --links-of goes.")]
FromDataset = Annotated[
    Path | None, typer.Option("--from-dataset", metavar="FILE", help="The articles that a question file links to.")
]
ArticleLimit = Annotated[
    int | None,
    typer.Option("--limit", metavar="N", min=1, help="Articles of categories, links and datasets. Default: 1000."),
]
ApiUrl = Annotated[
    str, typer.Option("--api", metavar="URL", help="Another wiki's api.php; {language} stands for the language.")
]
Search = Annotated[
    list[str] | None, typer.Option("--search", metavar="WORDS", help="The ten articles that the wiki finds for them.")
]
Via = Annotated[
    str, typer.Option(metavar="api|wikipedia", help="Who looks up titles: our client, or the package pymediawiki.")
]
Refresh = Annotated[
    bool, typer.Option("--refresh", help="Fetch changed articles again; alone: all articles of the corpus.")
]


def fetch(
    pages: Articles = None,
    lang: Language = "en",
    category: Categories = None,
    links_of: LinksOf = None,
    search: Search = None,
    depth: Depth = 1,
    from_dataset: FromDataset = None,
    corpus: CorpusToFill = None,
    limit: ArticleLimit = None,
    contact: Contact = "",
    api: ApiUrl = "",
    allow_private_hosts: AllowPrivateHosts = False,
    via: Via = "api",
    refresh: Refresh = False,
    embedder: EmbedderSpec = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fetch articles of Wikipedia, with their tables, as Markdown files, and index them into a corpus.

    Interrupted or killed, the same command resumes; no article is fetched twice.
    """
    from iterative_rag.app import factory
    from iterative_rag.cli.fetch_progress import (
        corpus_to_fill,
        fetching_progress,
        index_into,
        naming_private_hosts,
    )

    name = corpus_to_fill(corpus)
    by_package = _by_package(via)
    wanted, no_pages = _wanted(
        pages or [], lang, category or [], links_of or [], search or [], depth, from_dataset, limit, refresh
    )
    with naming_private_hosts(allow_private_hosts), fetching_progress(quiet=quiet) as (progress, on_pause):
        found = factory.fetch_wikipedia(
            wanted,
            corpus=name,
            contact=contact,
            api=api,
            private_hosts=allow_private_hosts,
            by_package=by_package,
            progress=progress,
            on_pause=on_pause,
        )
    report = index_into([found.folder], name, embedder, quiet=quiet) if any(found.folder.glob("*.md")) else None
    missed = [*no_pages, *_missed(found)]
    if as_json:
        _write_json(name, found, missed, report)
    else:
        _show(found, missed, report, _Retyped(lang, corpus, api, allow_private_hosts, via), wanted.limit, quiet=quiet)
    if any(one.kind == "failed" or one.asked in wanted.names for one in missed):
        raise typer.Exit(FAILED)


# --- what to fetch ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Missed:
    """A page that was not found: `asked` is its name, or the text that is not a page name."""

    asked: PageName | str
    kind: str
    reason: str
    nearest: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self.asked if isinstance(self.asked, str) else self.asked.title


def _wanted(
    pages: list[str],
    language: str,
    categories: list[str],
    links_of: list[str],
    searches: list[str],
    depth: int,
    dataset: Path | None,
    limit: int | None,
    refresh: bool,
) -> tuple[Wanted, list[_Missed]]:
    """The pages to fetch, and the links of the dataset that do not lead to Wikipedia. Raises UsageError."""
    from iterative_rag.errors import UsageError
    from iterative_rag.sources.wikipedia.collecting import LIMIT, Wanted
    from iterative_rag.sources.wikipedia.page_names import page_name

    listed, no_pages = _of_dataset(dataset, language) if dataset else ([], [])
    names, categories_, linking, words = (
        tuple(page_name(one, language=language) for one in given) for given in (pages, categories, links_of, searches)
    )
    wanted = Wanted(names, tuple(listed), categories_, linking, words, depth, limit or LIMIT, refresh)
    if wanted.nothing and not refresh:
        raise UsageError(
            "There is nothing to fetch.", hint='Name an article: iterative-rag corpus fetch "James Buchanan"'
        )
    return wanted, no_pages


def _by_package(via: str) -> bool:
    from iterative_rag.errors import UsageError

    if via not in ("api", "wikipedia"):
        raise UsageError(f"There is no way {via!r} to look up titles.", hint="Use --via api or --via wikipedia.")
    return via == "wikipedia"


def _of_dataset(path: Path, language: str) -> tuple[list[PageName], list[_Missed]]:
    from iterative_rag.errors import UsageError
    from iterative_rag.evaluation.datasets import dataset_forms
    from iterative_rag.sources.wikipedia.page_names import page_name

    names: list[PageName] = []
    no_pages: list[_Missed] = []
    questions = dataset_forms.load(path).questions
    for title in dict.fromkeys(title for question in questions for title in question.gold_titles):
        try:
            names.append(page_name(title, language=language))
        except UsageError as error:
            no_pages.append(_Missed(title, "not a page", str(error)))
    return names, no_pages


def _missed(found: Collected) -> Iterator[_Missed]:
    from iterative_rag.sources.wikipedia.article_fetching import Stored

    for outcome in found.outcomes:
        if not isinstance(outcome, Stored):
            yield _Missed(outcome.name, outcome.kind, outcome.reason, outcome.nearest)


# --- output ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Retyped:
    """The options to repeat in a suggested command, so that it fetches into the same corpus."""

    language: str
    corpus: str | None
    api: str
    private_hosts: bool
    via: str

    def command(self, title: str, language: str) -> str:
        parts = ["iterative-rag", "corpus", "fetch", title]
        parts += ["--lang", language] if language != "en" else []
        parts += ["--corpus", self.corpus] if self.corpus else []
        parts += ["--api", self.api] if self.api else []
        parts += ["--allow-private-hosts"] if self.private_hosts else []
        parts += ["--via", self.via] if self.via != "api" else []
        return shlex.join(parts)


def _show(
    found: Collected, missed: list[_Missed], report: IngestReport | None, again: _Retyped, limit: int, *, quiet: bool
) -> None:
    from iterative_rag.cli.console import err, out
    from iterative_rag.cli.index_search_show import show_report

    for one in missed[:_SHOWN]:
        _show_missed(one, again)
    if len(missed) > _SHOWN:
        err().line((f"… and {len(missed) - _SHOWN:,} more without a page; all of them: --json", "yellow"))
    if found.cut:
        err().line(
            (
                f"Only the first {counted(limit, 'article was', 'articles were')} taken; more: --limit {limit * 10}",
                "yellow",
            )
        )
    if quiet:
        return
    out().line(
        f"{counted(len(found.stored), 'page')} in {found.folder}, "
        f"{found.fetched:,} fetched now in {found.seconds:.0f} s, {len(missed):,} not found"
    )
    if report:
        show_report(report, quiet=quiet)


def _show_missed(one: _Missed, again: _Retyped) -> None:
    """Print the reason, and a command for each page that may be meant."""
    from iterative_rag.cli.console import clean, err

    meant = one.nearest[:_CHOICES_SHOWN]
    offer = " It may be:" if meant else ""
    err().line((clean(one.title), "bold"), clean(f": {one.reason}{offer}"))
    language = again.language if isinstance(one.asked, str) else one.asked.language
    for title in meant:
        err().line(clean(again.command(title, language)), indent="  ")
    if len(one.nearest) > len(meant):
        err().line(f"… and {len(one.nearest) - len(meant)} more", indent="  ")


def _write_json(name: str, found: Collected, missed: list[_Missed], report: IngestReport | None) -> None:

    from iterative_rag.cli.console import write_json
    from iterative_rag.cli.fetch_progress import report_as_json

    value = {
        "corpus": name,
        "folder": str(found.folder),
        "pages": [
            {"title": one.title, "language": one.name.language, "file": str(one.place), "fetched": one.fetched}
            for one in found.stored.values()
        ],
        "missing": [
            {"asked": one.title, "kind": one.kind, "reason": one.reason, "nearest": list(one.nearest)} for one in missed
        ],
        "fetched": found.fetched,
        "cut": found.cut,
        "seconds": found.seconds,
        "indexed": report_as_json(report),
    }
    write_json(value)
