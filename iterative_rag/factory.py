"""Puts the parts together: the only file that names concrete classes. Everything heavy is imported when it is used."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import CorpusMismatch, CorpusNotFound, FetchError, IterativeRAGError, UsageError
from iterative_rag.protocols import BUILTIN
from iterative_rag.settings import Settings, home, load_settings
from iterative_rag.types import Answer, FinalStep, Step, Strategy

if TYPE_CHECKING:
    from iterative_rag.agent.baselines import ClosedBookEngine, NaiveEngine
    from iterative_rag.agent.metering import RunMeter
    from iterative_rag.agent.step_engine import StepEngine
    from iterative_rag.corpus.web.client import Web
    from iterative_rag.corpus.web.pages import WebPage
    from iterative_rag.corpus.web.patience import Patience
    from iterative_rag.corpus.wikipedia.collecting import Collected, Wanted
    from iterative_rag.corpus.wikipedia.fetching import FetchProgress
    from iterative_rag.embedders.ray_engine import RayEngine
    from iterative_rag.index.corpora import Corpora, IndexedCorpus
    from iterative_rag.index.server.pushing import PushReport
    from iterative_rag.ingest import IngestReport, Progress
    from iterative_rag.protocols import Cache, ChatModel, Corpus, Embedder, Mind, Reranker, Skipped
    from iterative_rag.staleness import Staleness

DEFAULT_CORPUS = "default"
STARTER_CORPUS = "starter"
# A question is one or a few sentences. Anything longer is a document pasted by mistake.
LONGEST_QUESTION = 8000


class IterativeRAG:
    """Answers multi-hop questions over one corpus. Build it with `from_settings`; safe to use from several threads."""

    def __init__(self, settings: Settings, *, corpus: Corpus, mind: Mind, cache: Cache, notice: str = "") -> None:
        self.settings = settings
        self.corpus = corpus
        self.mind = mind
        self.notice = notice
        self.store = cache

    @classmethod
    def from_settings(
        cls,
        settings: Settings | None = None,
        *,
        llm: object | None = None,
        fast_llm: object | None = None,
        embed_model: object | None = None,
        **overrides: Any,
    ) -> IterativeRAG:
        """Build from settings files, environment and `overrides` (any field of Settings).

        `llm`, `fast_llm` and `embed_model` may be a spec ("ollama/llama3.1:8b"), a LlamaIndex `LLM` or
        `BaseEmbedding` object, or an object of this package's own protocols.
        """
        for name, value in (("llm", llm), ("fast_llm", fast_llm), ("embedder", embed_model)):
            if isinstance(value, str):
                overrides[name] = value
        settings = settings.model_copy(update=overrides) if settings else load_settings(overrides)
        kept = cache(settings)
        wanted = settings.embedder if isinstance(embed_model, str | None) else embed_model
        embedder = make_embedder(wanted, settings)
        mind, notice = make_mind(settings, kept, embedder, llm=llm, fast_llm=fast_llm)
        return cls(settings, corpus=open_corpus(settings, embedder, kept), mind=mind, cache=kept, notice=notice)

    def over(self, corpus: Corpus, **overrides: Any) -> IterativeRAG:
        """The same mind and cache over another corpus, or a part of this one, perhaps with other settings."""
        settings = self.settings.model_copy(update=overrides)
        return IterativeRAG(settings, corpus=corpus, mind=self.mind, cache=self.store, notice=self.notice)

    def ask(self, question: str, *, strategy: Strategy = Strategy.ITERATIVE, trace: Path | None = None) -> Answer:
        """Run the loop to its end. Raises IterativeRAGError; a cap or a late fault is an `incomplete` answer."""
        answer = None
        for step in self.steps(question, strategy=strategy, trace=trace):
            if isinstance(step, FinalStep):
                answer = step.answer
        assert answer is not None, "the engine ended without a final step"
        return answer

    def steps(
        self, question: str, *, strategy: Strategy = Strategy.ITERATIVE, trace: Path | None = None
    ) -> Iterator[Step]:
        """The typed steps as they happen; the last is a FinalStep. The trace is written meanwhile."""
        from iterative_rag.agent.metering import RunMeter
        from iterative_rag.trace import Trace, new_run_id, trace_folder

        question = checked_question(question)
        run_id = new_run_id()
        record = Trace(run_id, [trace_folder() / f"{run_id}.jsonl", *([trace] if trace else [])])
        try:
            record.write(
                "run_started",
                run_id=run_id,
                question=question,
                strategy=strategy.value,
                mind=self.mind.name,
                settings=self._used(),
            )
            for step in self._engine(strategy, RunMeter(self.settings, record)).steps(question):
                if isinstance(step, FinalStep):
                    step = FinalStep(dataclasses.replace(step.answer, run_id=run_id, settings=self._used()))
                record.write(_event(step), **dataclasses.asdict(step))
                yield step
        except IterativeRAGError as error:
            record.write("fault", error=type(error).__name__, message=str(error), hint=error.hint)
            raise
        except GeneratorExit:
            record.write("left", message="Nobody asked for the next step.")
            raise
        except BaseException as error:
            record.write("fault", error=type(error).__name__, message=str(error))
            raise
        finally:
            record.close()

    def check(self, strategy: Strategy) -> None:
        """Raise UsageError where the mind cannot work by this strategy."""
        from iterative_rag.agent.metering import RunMeter
        from iterative_rag.trace import Trace

        self._engine(strategy, RunMeter(self.settings, Trace("", [])))

    def _engine(self, strategy: Strategy, meter: RunMeter) -> StepEngine | NaiveEngine | ClosedBookEngine:
        from iterative_rag.agent.baselines import ClosedBookEngine, NaiveEngine
        from iterative_rag.agent.data_finder import DataFinder
        from iterative_rag.agent.reading import Reader
        from iterative_rag.agent.step_engine import StepEngine

        settings, roles = self.settings, self.mind.roles(meter)
        reader = Reader(
            self.corpus,
            roles.extractor,
            cache=self.store,
            fact_limit=settings.fact_limit,
            in_flight=settings.calls_in_flight,
            on_hit=meter.cache_hit,
            thrifty=self.mind.thrifty,
        )
        finder = DataFinder(self.corpus, reader, settings)
        match strategy:
            case Strategy.ITERATIVE:
                return StepEngine(roles, finder, meter, settings)
            case Strategy.NAIVE:
                return NaiveEngine(roles, finder, meter, self.corpus, reads=not self.mind.thrifty)
            case Strategy.CLOSED_BOOK:
                return ClosedBookEngine(roles, meter)

    def close(self) -> None:
        self.corpus.close()

    def _used(self) -> dict[str, Any]:
        return {**self.settings.model_dump(), "corpus": self.corpus.name, "mind": self.mind.name}


def checked_question(question: str) -> str:
    """The question without white space around it. Raises UsageError for an empty or an endless one."""
    question = question.strip()
    if not question:
        raise UsageError("The question is empty.", hint='Ask one: iterative-rag ask "Who ...?"')
    if len(question) > LONGEST_QUESTION:
        raise UsageError(
            f"The question has {len(question):,} characters; {LONGEST_QUESTION:,} are the most.",
            hint="Put long texts into a corpus (iterative-rag index PATH) and ask about them.",
        )
    return question


def _event(step: Step) -> str:
    """`AnalysisStep` -> "analysis": the event's name in the trace."""
    return type(step).__name__.removesuffix("Step").lower()


# --- parts -----------------------------------------------------------------------------------


def cache(settings: Settings) -> Cache:
    from iterative_rag.cache import DiskCache, NoCache

    return DiskCache(home() / "cache", settings.cache_megabytes) if settings.cache else NoCache()


def make_embedder(wanted: object | None, settings: Settings) -> Embedder:
    """An embedder from a spec, a LlamaIndex `BaseEmbedding`, or one that already is one."""
    if wanted is None or wanted == "builtin":
        from iterative_rag.builtin.encoder import BuiltinEncoder

        return BuiltinEncoder()
    from iterative_rag.embedders import spec

    return spec.embedder(wanted, timeout=settings.timeout)


def make_reranker(settings: Settings) -> Reranker | None:
    if settings.rerank == "none":
        return None
    from iterative_rag.builtin.reranking import ReaderReranker

    return ReaderReranker()


def make_chat_model(wanted: str, settings: Settings) -> ChatModel | None:
    """The model of a spec; None for the built-in mind, which is none."""
    from iterative_rag.llms import spec

    return spec.chat_model(wanted, settings)[0]


def make_mind(
    settings: Settings, kept: Cache, embedder: Embedder, *, llm: object | None = None, fast_llm: object | None = None
) -> tuple[Mind, str]:
    """Who plays the roles, and one line to tell the user when `auto` had to choose."""
    from iterative_rag.llms import spec

    main, notice = spec.chat_model(settings.llm if isinstance(llm, str | None) else llm, settings)
    if main is None:
        from iterative_rag.builtin.encoder import BuiltinEncoder
        from iterative_rag.builtin.mind import BuiltinMind
        from iterative_rag.builtin.reasoning.caution import CAREFUL, GUESSING

        encoder = embedder if isinstance(embedder, BuiltinEncoder) else BuiltinEncoder()
        return BuiltinMind(encoder, caution=GUESSING if settings.guess else CAREFUL), notice
    from iterative_rag.agent.llm_mind import LLMMind

    fast: ChatModel | None = None
    if wanted := settings.fast_llm if isinstance(fast_llm, str | None) else fast_llm:
        fast, _ = spec.chat_model(wanted, settings)
    return LLMMind(main, fast, kept, settings), notice


# --- corpora ---------------------------------------------------------------------------------


def corpora(index: str = "local") -> Corpora:
    """All corpora, with their vectors at `index`: `local`, or the address of a Qdrant server."""
    from iterative_rag.index.corpora import Corpora
    from iterative_rag.index.server.address import parse_address

    address = parse_address(index)
    if address is None:
        return Corpora(home() / "corpora")
    from iterative_rag.index.server.place import ServerPlace

    return Corpora(home() / "corpora", place=lambda name: ServerPlace(address, name))


def push_corpus(name: str, index: str, *, progress: Callable[[int, int], None] | None = None) -> PushReport:
    """Copy the vectors of a local corpus to a Qdrant server, from where it can be asked then; resumable."""
    target = corpora(index).place(name)
    return corpora().push(name, target, progress)


def starter_corpus_path() -> Path:
    """The starter articles: package data of an installed package, `input_wikipedia/` in a checkout."""
    package = Path(__file__).resolve().parent
    installed = package / "starter_corpus"
    return installed if installed.is_dir() else package.parent / "input_wikipedia"


def corpus_name(settings: Settings) -> str:
    """The corpus that is asked: the one named, else 'default' once it exists, else the starter corpus."""
    if settings.corpus:
        return settings.corpus
    return DEFAULT_CORPUS if DEFAULT_CORPUS in corpora().names() else STARTER_CORPUS


_indexing = threading.Lock()


def open_corpus(settings: Settings, embedder: Embedder | None = None, kept: Cache | None = None) -> IndexedCorpus:
    """Open the corpus to search and read; the starter corpus is indexed when it is first asked, and again when a newer
    package brings another encoder."""
    name = corpus_name(settings)
    embedder = embedder or make_embedder(settings.embedder, settings)
    held, reranker = corpora(settings.index), make_reranker(settings)
    try:
        return held.open(name, embedder, cache=kept, reranker=reranker)
    except CorpusNotFound:
        if name != STARTER_CORPUS:
            raise
    except CorpusMismatch:
        ours = held.info(name).embedder.startswith(BUILTIN) and embedder.name.startswith(BUILTIN)
        if name != STARTER_CORPUS or not ours:
            raise
    with _indexing:
        index_paths([starter_corpus_path()], settings=settings, corpus=STARTER_CORPUS, embedder=embedder)
    return held.open(name, embedder, cache=kept, reranker=reranker)


def index_paths(
    paths: Sequence[Path],
    *,
    settings: Settings,
    corpus: str | None = None,
    embedder: Embedder | None = None,
    ray: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> IngestReport:
    """Bring a corpus up to date with files and folders; on the Ray cluster at `ray`, if that is given ("": a new one of
    this machine's cores)."""
    from contextlib import ExitStack, closing

    from iterative_rag.corpus import open_source
    from iterative_rag.ingest import ingest

    name = corpus or settings.corpus or DEFAULT_CORPUS
    embedder = embedder or make_embedder(settings.embedder, settings)
    with ExitStack() as opened:
        engine = None if ray is None else opened.enter_context(closing(_ray_engine(embedder, settings, ray)))
        return ingest(
            [open_source(path) for path in paths],
            corpora(settings.index),
            name,
            embedder,
            engine=engine,
            chunk_chars=settings.chunk_chars,
            chunk_overlap=settings.chunk_overlap,
            # A moved or second checkout has the same articles: they must not stand in the corpus twice.
            alone=name == STARTER_CORPUS and [path.resolve() for path in paths] == [starter_corpus_path().resolve()],
            progress=progress,
        )


def stale(name: str, settings: Settings) -> Staleness:
    """What has changed at the sources of a corpus since they were indexed."""
    from iterative_rag.corpus import open_source
    from iterative_rag.errors import CorpusError
    from iterative_rag.ingest import RootedSource
    from iterative_rag.staleness import staleness

    def opened(root: str) -> RootedSource:
        if not Path(root).exists():
            raise CorpusError(f"There is no {root} any more.")
        return open_source(root)

    return staleness(corpora(settings.index), name, opened)


def _ray_engine(embedder: Embedder, settings: Settings, address: str) -> RayEngine:
    from functools import partial

    from iterative_rag.embedders.ray_engine import RayEngine

    return RayEngine(partial(_worker_embedder, settings), embedder, address)


def _worker_embedder(settings: Settings) -> Embedder:
    """The embedder of one of many workers on a machine: one thread, if it has any of its own."""
    if settings.embedder != "builtin":
        return make_embedder(settings.embedder, settings)
    from iterative_rag.builtin.encoder import BuiltinEncoder

    return BuiltinEncoder(threads=1)


# --- pages of the web ------------------------------------------------------------------------


def pages_folder(corpus: str) -> Path:
    """Where the pages lie that were fetched for a corpus, as .md files: wiki pages and web pages apart."""
    from iterative_rag.index.corpora import checked_name

    return home() / "pages" / checked_name(corpus)


def fetch_wikipedia(
    wanted: Wanted,
    *,
    corpus: str,
    contact: str = "",
    api: str = "",
    progress: Callable[[FetchProgress], None] | None = None,
    on_pause: Callable[[float, FetchError], None] | None = None,
    allow: Collection[str] = (),
    patience: Patience | None = None,
) -> Collected:
    """Fetch pages of Wikipedia (or of the wiki at `api`) into the corpus's folder; `index_paths` of it comes next.

    `contact` is named to the wikis and remembered. `allow` and `patience` are for tests and wikis of one's own.
    """
    from iterative_rag.corpus.web.client import Web
    from iterative_rag.corpus.web.contact import remembered_contact, user_agent
    from iterative_rag.corpus.web.patience import Patience
    from iterative_rag.corpus.wikipedia.client import API
    from iterative_rag.corpus.wikipedia.collecting import collect
    from iterative_rag.corpus.wikipedia.fetching import Wikis

    folder = pages_folder(corpus) / "wikipedia"
    agent = user_agent(remembered_contact(contact, home() / "pages" / ".contact"))
    with Web(agent, allow=allow) as web:
        wikis = Wikis(web, patience or Patience(on_pause=on_pause), api=api or API)
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
    from iterative_rag.corpus.web import pages as web_pages
    from iterative_rag.corpus.web.client import Web
    from iterative_rag.corpus.web.contact import agent_of, homepage
    from iterative_rag.corpus.web.patience import Patience

    folder = pages_folder(corpus) / "web"
    found = []
    # A contact of the user's own is for those who ask for one.
    with web or Web(agent_of(homepage()), max_bytes=web_pages.MAX_BYTES) as client:
        pages = web_pages.WebPages(
            client,
            ignore_robots=ignore_robots,
            patience=lambda: Patience(tries=web_pages.TRIES, on_pause=on_pause),
        )
        for one in pages.fetch(urls, web_pages.WebFolder(folder)):
            found.append(one)
            if on_page:
                on_page(one)
    return folder, tuple(found)


__all__ = [
    "IterativeRAG",
    "cache",
    "checked_question",
    "corpora",
    "corpus_name",
    "fetch_web_pages",
    "fetch_wikipedia",
    "index_paths",
    "make_embedder",
    "make_mind",
    "open_corpus",
    "pages_folder",
    "starter_corpus_path",
]
