"""Puts the parts together: the only file that names concrete classes. Everything heavy is imported when it is used."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import CorpusNotFound, IterativeRAGError, UsageError
from iterative_rag.settings import Settings, home, load_settings
from iterative_rag.types import Answer, FinalStep, Step, Strategy

if TYPE_CHECKING:
    from iterative_rag.agent.baselines import ClosedBookEngine, NaiveEngine
    from iterative_rag.agent.metering import RunMeter
    from iterative_rag.agent.step_engine import StepEngine
    from iterative_rag.index.corpora import Corpora, IndexedCorpus
    from iterative_rag.ingest import IngestReport, Progress
    from iterative_rag.protocols import Cache, ChatModel, Corpus, Embedder, Mind

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


def corpora() -> Corpora:
    from iterative_rag.index.corpora import Corpora

    return Corpora(home() / "corpora")


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
    """Open the corpus to search and read; the starter corpus is indexed when it is first asked."""
    name = corpus_name(settings)
    embedder = embedder or make_embedder(settings.embedder, settings)
    try:
        return corpora().open(name, embedder, cache=kept)
    except CorpusNotFound:
        if name != STARTER_CORPUS:
            raise
    with _indexing:
        index_paths([starter_corpus_path()], settings=settings, corpus=STARTER_CORPUS, embedder=embedder)
    return corpora().open(name, embedder, cache=kept)


def index_paths(
    paths: Sequence[Path],
    *,
    settings: Settings,
    corpus: str | None = None,
    embedder: Embedder | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> IngestReport:
    """Bring a corpus up to date with files and folders."""
    from iterative_rag.corpus import open_source
    from iterative_rag.ingest import ingest

    name = corpus or settings.corpus or DEFAULT_CORPUS
    return ingest(
        [open_source(path) for path in paths],
        corpora(),
        name,
        embedder or make_embedder(settings.embedder, settings),
        chunk_chars=settings.chunk_chars,
        chunk_overlap=settings.chunk_overlap,
        # A moved or second checkout has the same articles: they must not stand in the corpus twice.
        alone=name == STARTER_CORPUS and [path.resolve() for path in paths] == [starter_corpus_path().resolve()],
        progress=progress,
    )


__all__ = [
    "IterativeRAG",
    "cache",
    "checked_question",
    "corpora",
    "corpus_name",
    "index_paths",
    "make_embedder",
    "make_mind",
    "open_corpus",
    "starter_corpus_path",
]
