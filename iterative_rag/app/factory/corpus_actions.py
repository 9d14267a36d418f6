"""What is done with corpora: index, compare with their sources; fetch pages of Wikipedia and of the web into the folder
of one."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from iterative_rag.app.factory.backends import make_embedder
from iterative_rag.app.factory.opening import DEFAULT_CORPUS, STARTER_CORPUS, corpora, starter_corpus_path
from iterative_rag.errors import CorpusDamaged, CorpusError, CorpusNotFound, FetchError, UsageError
from iterative_rag.protocols import GIVEN
from iterative_rag.settings import Settings, home
from iterative_rag.system.files import private_folder, readable, write_whole

if TYPE_CHECKING:
    from iterative_rag.app.staleness import Staleness
    from iterative_rag.index.indexing_progress import Progress
    from iterative_rag.index.ingest import DocumentChange, IngestReport
    from iterative_rag.protocols import Corpus, DocumentSource, Embedder, Skipped
    from iterative_rag.sources.web.page_client import RetryPolicy, Web
    from iterative_rag.sources.web.web_pages import WebPage
    from iterative_rag.sources.wikipedia.article_fetching import Collected, Wanted


class IndexingOptions(TypedDict, total=False):
    """How paths are indexed, beside the settings.

    `given` are documents of a program, which come behind the paths; where they are `adding`, those given before stay.
    `ray` is the address of the Ray cluster that embeds ("": a new one of this machine's cores). `titles` are articles
    to take of the encyclopedia among the paths, besides those taken by title before; without them those are brought up
    to date, or with `whole` all of it is taken. `refused_seconds` is what the files of one folder may take that are
    refused in the end; where they take twice as long, the rest of the folder is not read. `progress` and
    `noticed` are told what is done, and each change of a document.
    """

    given: DocumentSource | None
    adding: bool
    ray: str | None
    titles: Collection[str] | None
    whole: bool
    refused_seconds: float | None
    progress: Callable[[Progress], None] | None
    noticed: Callable[[DocumentChange], None] | None


def index_paths(
    paths: Sequence[Path],
    *,
    settings: Settings,
    corpus: str | None = None,
    embedder: Embedder | None = None,
    **options: Unpack[IndexingOptions],
) -> IngestReport:
    """Bring a corpus up to date with files and folders. Raises UsageError, CorpusError or EmbedderError."""
    from iterative_rag.app.factory.notices import foreign_corpus
    from iterative_rag.index.ingest import ingest

    name = corpus or settings.corpus or DEFAULT_CORPUS
    _private_home()
    embedder = embedder or make_embedder(settings.embedder, settings)
    sources, covered = _sources(paths, name, settings, options)
    if given := options.get("given"):
        sources.append(given)
    with ExitStack() as opened:
        engine = None
        if (ray := options.get("ray")) is not None:
            from iterative_rag.index.embedders.engines import RayEngine

            engine = opened.enter_context(closing(RayEngine(partial(_worker_embedder, settings), embedder, ray)))
        report = ingest(
            sources,
            corpora(settings.index),
            name,
            embedder,
            engine=engine,
            chunk_chars=settings.chunk_chars,
            chunk_overlap=settings.chunk_overlap,
            # A moved or second checkout holds the same articles, which must not be indexed twice.
            alone=name == STARTER_CORPUS and [path.resolve() for path in paths] == [starter_corpus_path().resolve()],
            adding=[given.root] if given and options.get("adding") else [],
            progress=options.get("progress"),
            noticed=options.get("noticed"),
        )
    return replace(report, covered=covered, notice=foreign_corpus(report.language, embedder))


def written_corpus(corpus: Corpus) -> str:
    """The name of an open corpus that documents can be added to. Raises UsageError."""
    from iterative_rag.index.corpora import IndexedCorpus

    hint = "Name another: rag.index(documents, corpus='mine')"
    if not isinstance(corpus, IndexedCorpus):
        raise UsageError(f"The corpus {corpus.name!r} can only be read.", hint=hint)
    if corpus.name == STARTER_CORPUS:
        raise UsageError("The starter corpus keeps to its own articles.", hint=hint)
    return corpus.name


def _private_home() -> None:
    """Create the data folder with private permissions. Raises CorpusError."""
    try:
        private_folder(home())
    except OSError as error:
        raise CorpusError(
            f"The data folder {home()} cannot be written: {error.strerror}.",
            hint="Set ITERATIVE_RAG_HOME to a folder that you may write.",
        ) from error


def _sources(
    paths: Sequence[Path], name: str, settings: Settings, options: IndexingOptions
) -> tuple[list[DocumentSource], tuple[tuple[str, str], ...]]:
    """The sources of the paths, with the chosen articles of encyclopedias, and the paths that other sources cover.

    Raises UsageError.
    """
    from iterative_rag.index.sqlite_errors import roots_of
    from iterative_rag.sources import Limits, encyclopedias_in_words, is_encyclopedia, open_source
    from iterative_rag.sources.folder import root_of

    titles, seconds = options.get("titles"), options.get("refused_seconds")
    limits = None if seconds is None else Limits(refused_seconds=seconds)
    if titles and sum(map(is_encyclopedia, paths)) != 1:
        raise UsageError(
            f"Titles choose the articles of one {encyclopedias_in_words()} file.",
            hint="iterative-rag corpus add FILE.zim --titles FILE",
        )
    opened = partial(open_source, limits=limits)
    folder = corpora(settings.index).folder(name)
    lists, known = TitleLists(folder), roots_of(folder)
    sources: list[DocumentSource] = []
    covered = []
    given = [str(path.expanduser().absolute()) for path in paths]
    for path in paths:
        source = opened(path)
        if not is_encyclopedia(path):
            root = root_of(source.root, [*known, *given])
            if root != source.root:
                if Path(root).resolve() != Path(source.root).resolve():
                    covered.append((source.root, root))
                source = opened(root)
        elif titles:
            if lists.of(source.root) is None:
                _check_not_whole(name, settings, source.root)
            source = open_source(path, titles=lists.add(source.root, titles))
        elif options.get("whole"):
            lists.forget(source.root)
        else:
            source = open_source(path, titles=lists.of(source.root))
        sources.append(source)
    return sources, tuple(covered)


def _check_not_whole(name: str, settings: Settings, root: str) -> None:
    """Raise UsageError if the corpus holds this encyclopedia, of which it has no list: one would drop its articles."""
    try:
        held = root in corpora(settings.index).versions(name)
    except (CorpusNotFound, CorpusDamaged):
        return  # indexing rebuilds it
    if held:
        raise UsageError(
            f"The corpus {name!r} was given all of {root}: there is nothing to choose.",
            hint=f"Use another corpus (--corpus NAME), or start over: iterative-rag corpus remove {shlex.quote(name)}",
        )


def stale(name: str, settings: Settings) -> Staleness:
    """What has changed at the sources of a corpus since they were indexed."""
    from iterative_rag.app.staleness import staleness
    from iterative_rag.sources import open_source

    lists = TitleLists(corpora(settings.index).folder(name))

    def opened(root: str) -> DocumentSource:
        if root == GIVEN:
            raise CorpusError("Documents that a Python program gave are not read again.", hint="Give them again there.")
        if not Path(root).exists():
            start_over = f"Bring it back, or start over: iterative-rag corpus remove {shlex.quote(name)}"
            raise CorpusError(f"There is no {root} any more.", hint=start_over)
        return open_source(root, titles=lists.of(root))

    return staleness(corpora(settings.index), name, opened)


def _worker_embedder(settings: Settings) -> Embedder:
    """The embedder of one of many workers on a machine: one thread, if it has any of its own."""
    if settings.embedder != "builtin":
        return make_embedder(settings.embedder, settings)
    from iterative_rag.builtin.encoder import BuiltinEncoder

    return BuiltinEncoder(threads=1)


TITLES_FILE = "titles.json"


class TitleLists:
    """The articles that were chosen from an encyclopedia in one file for a corpus, by the root of their source, kept
    beside its index: indexing the file again would else add all its articles, or keep only those of the last list. A
    source without a list is indexed whole."""

    def __init__(self, corpus_folder: Path) -> None:
        self._path = corpus_folder / TITLES_FILE

    def of(self, root: str) -> tuple[str, ...] | None:
        """The chosen titles in the order of choosing; None if there is no list. Raises CorpusError."""
        return self._all().get(root)

    def add(self, root: str, titles: Collection[str]) -> tuple[str, ...]:
        """Add titles to the list; returns the whole list."""
        lists = self._all()
        lists[root] = tuple(dict.fromkeys([*lists.get(root, ()), *titles]))
        self._write(lists)
        return lists[root]

    def forget(self, root: str) -> None:
        """Remove the list: the source is indexed whole from now on."""
        lists = self._all()
        if lists.pop(root, None) is not None:
            self._write(lists)

    def _all(self) -> dict[str, tuple[str, ...]]:
        from pydantic import TypeAdapter

        try:
            return TypeAdapter(dict[str, tuple[str, ...]]).validate_json(readable(self._path).read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            told = f"The lists of chosen articles in {self._path} cannot be read ({type(error).__name__})."
            raise CorpusError(told, hint="Remove the file, and add the articles again with --titles.") from error

    def _write(self, lists: dict[str, tuple[str, ...]]) -> None:
        write_whole(self._path, json.dumps(lists, ensure_ascii=False).encode())


def pages_folder(corpus: str) -> Path:
    """The folder of the .md files fetched for a corpus; wiki pages and web pages have separate ones."""
    from iterative_rag.index.corpus_names import encoded

    return home() / "pages" / encoded(corpus)


def fetch_wikipedia(
    wanted: Wanted,
    *,
    folder: Path,
    contact: str = "",
    api: str = "",
    private_hosts: bool = False,
    by_package: bool = False,
    progress: Callable[[int, int], None] | None = None,
    on_pause: Callable[[float, FetchError], None] | None = None,
    allow: Collection[str] = (),
    retry: RetryPolicy | None = None,
) -> Collected:
    """Fetch pages of Wikipedia (or of the wiki at `api`) into a folder; `index_paths` of it comes next.

    `contact` is named to the wikis. `private_hosts`: the host of `api` may be this machine or in its
    network; say so only where the user typed the address. `by_package`: titles are looked up by `pymediawiki`. `allow`
    and `retry` are for tests.
    """
    from iterative_rag.sources.web.page_client import RetryPolicy, Web, user_agent
    from iterative_rag.sources.web.transport import as_named
    from iterative_rag.sources.wikipedia.article_fetching import Wikis, collect
    from iterative_rag.sources.wikipedia.mediawiki_api import API, MediaWiki, PackageWiki, require_package

    if by_package:
        require_package()
    agent = user_agent(contact)
    own = as_named([api] if api else []) if private_hosts else frozenset()
    with Web(agent, allow={*allow, *own}) as web:
        kind = PackageWiki if by_package else MediaWiki
        wikis = Wikis(web, retry or RetryPolicy(on_pause=on_pause), api=api or API, kind=kind)
        return collect(wanted, folder, wikis, progress=progress)


def fetch_web_pages(
    urls: Sequence[str],
    *,
    corpus: str,
    ignore_robots: bool = False,
    on_page: Callable[[WebPage | Skipped], None] | None = None,
    on_pause: Callable[[float, FetchError], None] | None = None,
    web: Web | None = None,
) -> tuple[Path, tuple[WebPage | Skipped, ...]]:
    """Fetch web pages into the corpus's folder: the folder, and each address with its page or why there is none.

    `web` is for tests: a client that may reach what is not public.
    """
    from iterative_rag.sources.web import web_pages
    from iterative_rag.sources.web.page_client import RetryPolicy, Web, user_agent

    folder = pages_folder(corpus) / "web"
    outcomes = []
    # Only wikis ask for a contact.
    with web or Web(user_agent("", required=False), max_bytes=web_pages.MAX_BYTES) as client:
        pages = web_pages.WebPages(
            client,
            ignore_robots=ignore_robots,
            retry=RetryPolicy(tries=web_pages.TRIES, on_pause=on_pause),
        )
        for outcome in pages.fetch(urls, web_pages.WebFolder(folder)):
            outcomes.append(outcome)
            if on_page:
                on_page(outcome)
    return folder, tuple(outcomes)
