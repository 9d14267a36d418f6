"""What is done with corpora: list, open, index, push to a server, compare with their sources."""

from __future__ import annotations

import shlex
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from iterative_rag.app.factory.backends import cache, make_embedder, make_reranker, ranking_of
from iterative_rag.errors import (
    CorpusDamaged,
    CorpusError,
    CorpusHeld,
    CorpusMismatch,
    CorpusNotFound,
    NothingWithin,
    UsageError,
)
from iterative_rag.protocols import BUILTIN, GIVEN
from iterative_rag.settings import Settings, home
from iterative_rag.system.private_files import private_folder

if TYPE_CHECKING:
    from iterative_rag.app.staleness import Staleness
    from iterative_rag.index.corpora import Corpora, IndexedCorpus
    from iterative_rag.index.embedders.engines import RayEngine
    from iterative_rag.index.indexing_progress import Progress
    from iterative_rag.index.ingest import DocumentChange, IngestReport
    from iterative_rag.index.joint_corpus import JointCorpus
    from iterative_rag.index.server.vector_copy import PushReport
    from iterative_rag.protocols import Cache, Corpus, DocumentSource, Embedder
    from iterative_rag.sources import Limits
    from iterative_rag.sources.title_lists import TitleLists
    from iterative_rag.types import Within

DEFAULT_CORPUS = "default"
STARTER_CORPUS = "starter"


def corpora(index: str = "local") -> Corpora:
    """All corpora, with their vectors at `index`, the value of that setting."""
    from iterative_rag.index.corpora import Corpora
    from iterative_rag.index.vector_store import places_at

    return Corpora(home() / "corpora", place_of=places_at(index))


def push_corpus(name: str, index: str, *, progress: Callable[[int, int], None] | None = None) -> PushReport:
    """Copy the vectors of a local corpus to another store, which can be searched from then on; resumable."""
    target = corpora(index).place(name)
    return corpora().push(name, target, progress)


def starter_corpus_path() -> Path:
    """The starter articles: package data of an installed package, `input_wikipedia/` in a checkout."""
    package = Path(__file__).resolve().parents[2]
    installed = package / "starter_corpus"
    return installed if installed.is_dir() else package.parent / "input_wikipedia"


def corpus_name(settings: Settings) -> str:
    """The corpus to use: the one named, else 'default' if it exists, else the starter corpus."""
    if settings.corpus:
        return settings.corpus
    return DEFAULT_CORPUS if DEFAULT_CORPUS in corpora().names() else STARTER_CORPUS


_indexing = threading.Lock()
# Indexing the starter corpus takes seconds, longer on a busy machine.
_STARTER_SECONDS = 300.0


def open_asked(
    settings: Settings, embedder: Embedder | None = None, kept: Cache | None = None, *, rerank: object | None = None
) -> IndexedCorpus | JointCorpus:
    """The corpus to ask: one, or several whose names stand between commas. Raises CorpusMismatch where they were made
    with different embedders, and what `open_corpus` raises."""
    from iterative_rag.index.joint_corpus import JointCorpus

    names = asked_names(settings)
    if len(names) < 2:
        return open_corpus(settings, embedder, kept, rerank=rerank)
    embedder = embedder or make_embedder(settings.embedder, settings, kept)
    with ExitStack() as opened:
        parts = []
        for name in names:
            chosen = settings.model_copy(update={"corpus": name})
            try:
                part = open_corpus(chosen, embedder, kept, rerank=rerank)
            except CorpusMismatch as error:
                told = f"{error} Corpora that are asked together need the same embedder."
                raise CorpusMismatch(told, hint=error.hint) from error
            opened.callback(part.close)
            parts.append(part)
        opened.pop_all()
    return JointCorpus(parts)


def asked_names(settings: Settings) -> list[str]:
    """The corpora that are asked: the names between commas, each once, unless there is a corpus of the whole name."""
    name = corpus_name(settings)
    if "," not in name or name in corpora(settings.index).names():
        return [name]
    return list(dict.fromkeys(one.strip() for one in name.split(",") if one.strip()))


def open_corpus(
    settings: Settings, embedder: Embedder | None = None, kept: Cache | None = None, *, rerank: object | None = None
) -> IndexedCorpus:
    """Open the corpus to search and read; the starter corpus is indexed when it is first asked, and again when a newer
    package brings another encoder or another layout of the index."""
    name = corpus_name(settings)
    embedder = embedder or make_embedder(settings.embedder, settings, kept)
    held, reranker = corpora(settings.index), make_reranker(settings, kept, rerank)
    opened = partial(
        held.open,
        name,
        embedder,
        cache=kept,
        reranker=reranker,
        ranking=ranking_of(settings),
    )
    try:
        return opened()
    except CorpusNotFound:
        if name != STARTER_CORPUS:
            raise
    except CorpusMismatch:
        # Unknown while another process rebuilds it.
        made_by = held.info(name).embedder or BUILTIN
        ours = made_by.startswith(BUILTIN) and embedder.name.startswith(BUILTIN)
        if name != STARTER_CORPUS or not ours:
            raise
    with _indexing:
        return _starter_corpus(settings, embedder, opened)


def _starter_corpus(settings: Settings, embedder: Embedder, opened: Callable[[], IndexedCorpus]) -> IndexedCorpus:
    """Index and open the starter corpus, or wait for the process that is indexing it."""
    # It is indexed unasked, so it costs no LLM call.
    settings = settings.model_copy(update={"index_questions": 0})
    deadline = time.monotonic() + _STARTER_SECONDS
    while True:
        try:
            index_paths([starter_corpus_path()], settings=settings, corpus=STARTER_CORPUS, embedder=embedder)
            return opened()
        except CorpusHeld:
            if time.monotonic() > deadline:
                raise
        with suppress(CorpusNotFound, CorpusMismatch):
            return opened()


@contextmanager
def for_one_run(corpus: Corpus, within: Sequence[Within] = ()) -> Iterator[Corpus]:
    """The corpus pinned to its present generation: documents that a run has found stay readable. With `within`, that
    part of it. Raises NothingWithin."""
    from iterative_rag.index.collections.collection_corpus import CollectionCorpus, only_as_a_whole
    from iterative_rag.index.corpora import IndexedCorpus
    from iterative_rag.index.corpus_subset import CorpusWithin
    from iterative_rag.index.joint_corpus import JointCorpus

    if isinstance(corpus, CollectionCorpus):
        if any(within):
            raise only_as_a_whole(corpus.name)
        with closing(corpus.pinned()) as whole:
            yield whole
        return
    if isinstance(corpus, JointCorpus):
        with _joint_for_one_run(corpus, within) as parts:
            yield parts
        return
    if not isinstance(corpus, IndexedCorpus):
        if any(within):
            raise UsageError("Only a whole corpus can be asked within a part of it.", hint="Leave out the part.")
        yield corpus
        return
    with closing(corpus.pinned()) as pinned:
        yield CorpusWithin(pinned, within) if any(within) else pinned


@contextmanager
def _joint_for_one_run(corpus: JointCorpus, within: Sequence[Within]) -> Iterator[Corpus]:
    """Those corpora that have anything within the part. Raises the NothingWithin of the first where none has."""
    from iterative_rag.index.joint_corpus import JointCorpus

    with ExitStack() as opened:
        parts, empty = [], []
        for part in corpus.parts:
            try:
                parts.append(opened.enter_context(for_one_run(part, within)))
            except NothingWithin as error:
                empty.append(error)
        if not parts:
            raise empty[0]
        yield JointCorpus(parts)


def notice_of(corpus: Corpus) -> str:
    """What the user has to know of the corpus: that it was not fully indexed, or that this is a part of it; else ""."""
    return str(getattr(corpus, "notice", ""))


def index_paths(
    paths: Sequence[Path],
    *,
    settings: Settings,
    corpus: str | None = None,
    embedder: Embedder | None = None,
    given: DocumentSource | None = None,
    adding: bool = False,
    ray: str | None = None,
    titles: Collection[str] | None = None,
    whole: bool = False,
    refused_seconds: float | None = None,
    may_be_empty: bool = False,
    llm: object | None = None,
    max_calls: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    noticed: Callable[[DocumentChange], None] | None = None,
) -> IngestReport:
    """Bring a corpus up to date with files and folders; on the Ray cluster at `ray`, if that is given ("": a new one of
    this machine's cores).

    `given` are documents of a program, which come behind the paths; where they are `adding`, those given before stay.
    `titles` are articles to take of the encyclopedia among the paths, besides those taken by title before; without
    them those are brought up to date, or with `whole` all of it is taken. `refused_seconds` is what the files of one
    folder may take that are refused in the end; where they take twice as long, the rest of the folder is not read.
    Documents of a folder that holds no file any more are removed where it `may_be_empty`; else that is a CorpusError.
    With `settings.index_questions` an LLM (`llm`, else that of the settings) writes so many questions for each passage,
    with at most `max_calls` calls; documents that then have none are taken up by the next run.
    """
    from iterative_rag.app.factory.index_questions import IndexingBudget, passage_questions
    from iterative_rag.app.factory.language_checks import foreign_corpus
    from iterative_rag.index.ingest import ingest
    from iterative_rag.sources import Limits

    name = corpus or settings.corpus or DEFAULT_CORPUS
    _check_new(name, settings)
    _private_home()
    embedder = embedder or make_embedder(settings.embedder, settings)
    limits = None if refused_seconds is None else Limits(refused_seconds=refused_seconds)
    sources, covered = _sources(paths, name, settings, titles, limits, whole=whole, may_be_empty=may_be_empty)
    if given is not None:
        sources.append(given)
    budget = IndexingBudget(max_calls)
    with ExitStack() as opened:
        questions = None
        if settings.index_questions:
            kept = opened.enter_context(closing(cache(settings)))
            questions = passage_questions(settings, kept, budget, llm)
        engine = None if ray is None else opened.enter_context(closing(_ray_engine(embedder, settings, ray)))
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
            adding=[given.root] if given is not None and adding else [],
            questions=questions,
            progress=progress,
            noticed=noticed,
        )
    if titles:
        _forget_missing(name, settings, sources, report)
    return replace(
        report,
        covered=covered,
        questions=report.questions and budget.added_to(report.questions),
        notice=foreign_corpus(report.language, embedder),
    )


def _check_new(name: str, settings: Settings) -> None:
    """Raise UsageError for a corpus that would be taken for several when it is asked. One that is there is kept up."""
    if "," in name and name not in corpora(settings.index).names():
        first = shlex.quote(next(filter(None, map(str.strip, name.split(","))), name))
        raise UsageError(
            f"{name!r} would be asked as several corpora: a comma stands between their names.",
            hint=f"Index into one of them (--corpus {first}), or choose a name without a comma.",
        )


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
    paths: Sequence[Path],
    name: str,
    settings: Settings,
    titles: Collection[str] | None,
    limits: Limits | None,
    *,
    whole: bool,
    may_be_empty: bool,
) -> tuple[list[DocumentSource], tuple[tuple[str, str], ...]]:
    """The sources of the paths, with the chosen articles of encyclopedias, and the paths that other sources cover.

    Raises UsageError.
    """
    from iterative_rag.sources import encyclopedias_in_words, is_encyclopedia, open_source
    from iterative_rag.sources.folder import root_of

    if titles and sum(map(is_encyclopedia, paths)) != 1:
        raise UsageError(
            f"Titles choose the articles of one {encyclopedias_in_words()} file.",
            hint="iterative-rag corpus add FILE.zim --titles FILE",
        )
    lists = _title_lists(name, settings)
    sources: list[DocumentSource] = []
    covered = []
    known = sorted(corpora(settings.index).roots(name))
    given = [str(path.expanduser().absolute()) for path in paths]
    for path in paths:
        source = open_source(path, limits=limits, may_be_empty=may_be_empty)
        if not is_encyclopedia(path):
            root = root_of(source.root, [*known, *given])
            if root != source.root:
                if Path(root).resolve() != Path(source.root).resolve():
                    covered.append((source.root, root))
                source = open_source(root, limits=limits, may_be_empty=may_be_empty)
        elif titles:
            _check_not_whole(name, settings, source.root)
            source = open_source(path, titles=lists.add(source.root, titles))
        elif whole:
            lists.forget(source.root)
        else:
            source = open_source(path, titles=lists.of(source.root))
        sources.append(source)
    return sources, tuple(covered)


def _title_lists(name: str, settings: Settings) -> TitleLists:
    from iterative_rag.sources.title_lists import TitleLists

    return TitleLists(corpora(settings.index).folder(name))


def _check_not_whole(name: str, settings: Settings, root: str) -> None:
    """Raise UsageError if the corpus holds the whole encyclopedia: a list would drop its other articles."""
    if _title_lists(name, settings).of(root) is not None:
        return
    try:
        held = root in corpora(settings.index).versions(name)
    except (CorpusNotFound, CorpusDamaged):
        return  # indexing rebuilds it
    if held:
        raise UsageError(
            f"The corpus {name!r} was given all of {root}: there is nothing to choose.",
            hint=f"Use another corpus (--corpus NAME), or start over: iterative-rag corpus remove {shlex.quote(name)}",
        )


def _forget_missing(name: str, settings: Settings, sources: Sequence[DocumentSource], report: IngestReport) -> None:
    """Do not look for unknown titles again, unless the source broke off before reaching them."""
    if any(skipped.rest_unread for skipped in report.skipped):
        return
    told = [skipped.source for skipped in report.skipped]
    for root in (source.root for source in sources):
        missing = {one.removeprefix(f"{root}:") for one in told if one.startswith(f"{root}:")}
        _title_lists(name, settings).leave_out(root, missing)


def stale(name: str, settings: Settings) -> Staleness:
    """What has changed at the sources of a corpus since they were indexed."""
    from iterative_rag.app.staleness import staleness
    from iterative_rag.sources import open_source

    lists = _title_lists(name, settings)

    def opened(root: str) -> DocumentSource:
        if root == GIVEN:
            raise CorpusError("Documents that a Python program gave are not read again.", hint="Give them again there.")
        if not Path(root).exists():
            start_over = f"Bring it back, or start over: iterative-rag corpus remove {shlex.quote(name)}"
            raise CorpusError(f"There is no {root} any more.", hint=start_over)
        return open_source(root, titles=lists.of(root))

    return staleness(corpora(settings.index), name, opened)


def _ray_engine(embedder: Embedder, settings: Settings, address: str) -> RayEngine:
    from iterative_rag.index.embedders.engines import RayEngine

    return RayEngine(partial(_worker_embedder, settings), embedder, address)


def _worker_embedder(settings: Settings) -> Embedder:
    """The embedder of one of many workers on a machine: one thread, if it has any of its own."""
    if settings.embedder != "builtin":
        return make_embedder(settings.embedder, settings)
    from iterative_rag.builtin.encoder import BuiltinEncoder

    return BuiltinEncoder(threads=1)
