"""`IterativeRAG`, the public entry point: settings, corpus, backend and cache, and the runs over them."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator, Sequence
from contextlib import aclosing, closing, suppress
from contextvars import copy_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from iterative_rag.app.factory.asked_corpus import AskedCorpus
from iterative_rag.app.factory.backends import cache, make_backend, make_embedder, with_profile
from iterative_rag.app.factory.notices import check_language
from iterative_rag.app.factory.opening import for_one_run, open_to_read
from iterative_rag.errors import UsageError
from iterative_rag.llm.providers.model_choice import chosen
from iterative_rag.registry import STRATEGIES
from iterative_rag.settings import Settings, load_settings
from iterative_rag.storage.cache import cache_key
from iterative_rag.storage.output import recorded_parts
from iterative_rag.system.threads import RunStopped, refuse_stopped, stoppable
from iterative_rag.text.folding import readable
from iterative_rag.types import Answer, Earlier, Edit, FinalStep, Revision, RunProgress, Step, Within

if TYPE_CHECKING:
    from iterative_rag.app.conversations import ConversationSession

# The strategies that go hop by hop, and so can go on from an edit.
HOP_BY_HOP = frozenset({"iterative", "full"})
# A question is one or a few sentences; anything longer is a document pasted by mistake.
LONGEST_QUESTION = 8000


class IterativeRAG(AskedCorpus):
    """Answers multi-hop questions over one corpus. Build it with `from_settings`, and `close` it after use, or use it
    in a `with` statement.

    Safe to use from several threads: each question is a run with its own state, budget and trace.
    """

    @classmethod
    def from_settings(
        cls,
        settings: Settings | None = None,
        *,
        llm: object | None = None,
        fast_llm: object | None = None,
        embed_model: object | None = None,
        rerank: object | None = None,
        index: object | None = None,
        question: str = "",
        **overrides: Any,
    ) -> IterativeRAG:
        """Build from settings files, environment and `overrides` (any field of Settings).

        `llm`, `fast_llm` and `embed_model` may be a spec ("ollama/llama3.1:8b"), a LlamaIndex `LLM` or
        `BaseEmbedding` object, or an implementation of `ChatModel` or `Embedder`. `rerank` may be a spec, any
        LlamaIndex node postprocessor, or a `Reranker`. `index` may be an address, a `QdrantVectorStore`, or a
        `VectorStoreIndex` over one, whose embedding object is taken unless another is given. `question` is the first
        question, if it is known already: the models are then loaded while the corpus opens, unless it was answered
        before.
        Where the model of a spec has a profile (`iterative-rag doctor --qualify`), that sets what nobody else has set.

        Raises SettingsError, CorpusError, LLMError or EmbedderError.
        """
        given = {"llm": llm, "fast_llm": fast_llm, "embedder": embed_model, "rerank": rerank, "index": index}
        overrides |= {name: value for name, value in given.items() if isinstance(value, str)}
        settings = settings.changed(**overrides) if settings else load_settings(overrides, given_in="the call")
        objects: dict[str, Any] = {name: value for name, value in given.items() if not isinstance(value, str | None)}
        settings = settings.changed(**{name: getattr(settings, name) for name in objects})
        choice = profile = ""
        if isinstance(llm, str | None):
            llm, choice = chosen(settings.llm)
            settings, profile = with_profile(settings, llm)
        kept = cache(settings)
        store = None if isinstance(index, str) else index
        if embed_model is None and "embedder" not in overrides:
            embed_model = getattr(store, "_embed_model", None)  # that of a VectorStoreIndex
        wanted = settings.embedder if isinstance(embed_model, str | None) else embed_model
        embedder = make_embedder(wanted, settings, kept)
        new = bool(question) and kept.get(_asked_key(settings, question), bool) is None
        backend, notice = make_backend(settings, kept, embedder, llm=llm, fast_llm=fast_llm, preload=new)
        corpus = open_to_read(settings, embedder, kept, rerank=rerank, store=store)
        notice = "\n".join(filter(None, (choice, profile, notice)))
        return cls(settings, corpus=corpus, backend=backend, cache=kept, notice=notice, embedder=embedder)

    def ask(
        self, question: str, *, strategy: str | None = None, trace: Path | None = None, within: Within | None = None
    ) -> Answer:
        """Answer a question by `strategy`, or by the strategy of the settings, from the part of the corpus `within`.

        `trace` is a file that the trace is also written to. A limit of the run, or an error after the first facts were
        found, gives an `incomplete` answer; any other error is raised as an IterativeRAGError: NothingWithin where no
        passage is within that part.
        """
        return answer_of(self.steps(question, strategy=strategy, trace=trace, within=within))

    def steps(
        self,
        question: str,
        *,
        strategy: str | None = None,
        trace: Path | None = None,
        progress: Callable[[RunProgress], None] | None = None,
        written: Callable[[str], None] | None = None,
        run_id: str = "",
        earlier: Earlier | None = None,
        revision: Revision | None = None,
        within: Within | None = None,
        evaluated: bool = False,
    ) -> Iterator[Step]:
        """The same run as `ask`, as typed steps while they happen; the last one is a FinalStep with the answer.

        With `earlier` the question is a follow-up: a FollowUpStep comes first and tells how it is understood. Raises
        FollowUpUnclear where it cannot be. With `revision` the run goes on from an edit, as `revise` says.

        `progress` is called when a model call or the reading of a document begins or ends, from the thread where that
        happens, never twice at once; it must return at once. So is `written` while an LLM writes the answer, with its
        text so far, which is checked afterwards. `run_id` names the run and its trace where the caller has
        told it to somebody already. The trace of an `evaluated` run lies apart: it is no part of the history.
        """
        from iterative_rag.app.factory.runs import completed, recorded, run_steps, told_of
        from iterative_rag.engine.budget import RunBudget
        from iterative_rag.storage.trace import Trace, event_name, new_run_id, trace_folder

        strategy = strategy or self.settings.strategy
        asked = self.over(self.corpus, within=within, strategy=strategy)
        question = checked_question(question)
        if earlier is None:
            check_language(question, self.settings, self.backend)
        run_id = run_id or new_run_id()
        kept = trace_folder(evaluated=evaluated) / f"{run_id}.jsonl"
        record = Trace(run_id, [trace] if trace else [], kept)
        told = {"backend": self.backend.name, "settings": asked.used_settings(), **told_of(revision)}
        with recorded(record):
            record.write("run_started", run_id=run_id, question=question, strategy=strategy, **told)
            with for_one_run(self.corpus, asked.parts) as corpus:
                budget = RunBudget(self.settings, record, progress, written)
                steps: list[Step] = []
                for step in run_steps(asked, question, strategy, budget, corpus, earlier=earlier, revision=revision):
                    steps.append(step)
                    if isinstance(step, FinalStep):
                        step = FinalStep(completed(asked, step.answer, run_id, corpus, steps))
                    record.write(event_name(type(step)), **dataclasses.asdict(step))
                    yield step
            self.store.put(_asked_key(self.settings, question, asked.within), True)

    async def aask(
        self, question: str, *, strategy: str | None = None, trace: Path | None = None, within: Within | None = None
    ) -> Answer:
        """`ask` for async callers. It runs on a thread of its own; to cancel it ends the run."""
        steps = self.asteps(question, strategy=strategy, trace=trace, within=within)
        return answer_of([step async for step in steps])

    async def asteps(self, question: str, **options: Any) -> AsyncGenerator[Step]:
        """`steps` for async callers, with the same options. The run goes on while a step is looked at; it ends when the
        caller is cancelled, or leaves the loop and closes the iterator (`contextlib.aclosing`)."""
        async with aclosing(in_thread(lambda: self.steps(question, **options))) as steps:
            async for step in steps:
                yield step

    def revise(self, answer: Answer, edit: Edit) -> Answer:
        """Another version of the run that ended in `answer`: a fact or need of one of its hops is corrected, pinned or
        struck, and only what follows is worked out again. Both versions stay in the history.

        Raises UsageError for an edit that cannot be made, and what `ask` raises.
        """
        return answer_of(self.revised_steps(Revision(answer, edit)))

    def revised_steps(
        self,
        revision: Revision,
        *,
        strategy: str = "",
        progress: Callable[[RunProgress], None] | None = None,
        written: Callable[[str], None] | None = None,
        run_id: str = "",
    ) -> Iterator[Step]:
        """The same run as `revise`, as typed steps while they happen. `strategy` is that of the first version, where
        its settings name another. One that does not go hop by hop gives way to the default, which takes up what the
        other has found. It is kept within the same part of the corpus."""
        used = strategy or revision.answer.settings.get("strategy")
        strategy = used if used in HOP_BY_HOP else "iterative"
        question = revision.answer.question
        asked = self
        for part in recorded_parts(revision.answer.settings):
            asked = asked.over(self.corpus, within=part)
        return asked.steps(
            question, strategy=strategy, progress=progress, written=written, run_id=run_id, revision=revision
        )

    def check_revision(self, revision: Revision) -> None:
        """Raise UsageError if the edit cannot be made."""
        from iterative_rag.engine.revision import revised_state

        revised_state(revision, self.corpus)

    def conversation(self, name: str = "", *, keep: bool = True) -> ConversationSession:
        """A conversation that understands follow-ups: the one of this name or id, begun where there is none; `"last"`
        for the one that the last answer belongs to, "" for a new one that is named by its first question. With `keep`
        it is kept in the data folder, where all doors find it.

        Raises UsageError, CorpusHeld or another CorpusError where it cannot be opened.
        """
        from iterative_rag.app.conversations import ConversationSession, ConversationStore
        from iterative_rag.app.conversations.going_on import conversation_named

        store = ConversationStore()
        return ConversationSession(self, conversation_named(name, store), store if keep else None)

    def check(self, strategy: str) -> None:
        """Raise UsageError if the backend cannot work by this strategy."""
        from iterative_rag.app.factory.runs import run_parts
        from iterative_rag.engine.budget import RunBudget
        from iterative_rag.storage.trace import Trace

        STRATEGIES.load(strategy)(run_parts(self, RunBudget(self.settings, Trace("", [])), self.corpus))


def _asked_key(settings: Settings, question: str, within: Sequence[Within] = ()) -> str:
    """The cache key which says that the question was answered before with these settings."""
    return cache_key("asked", settings.model_dump(mode="json"), question, *map(str, within))


def answer_of(steps: Iterable[Step]) -> Answer:
    """The answer that all steps of a run lead to."""
    *_, last = steps
    assert isinstance(last, FinalStep), "the engine ended without a final step"
    return last.answer


def checked_question(question: str) -> str:
    """The question as a reader sees it, stripped. Raises UsageError if it is empty or too long."""
    question = readable(question).strip()
    if not question:
        raise UsageError("The question is empty.", hint='Ask one: iterative-rag ask "Who ...?"')
    if len(question) > LONGEST_QUESTION:
        raise UsageError(
            f"The question has {len(question):,} characters; at most {LONGEST_QUESTION:,} are allowed.",
            hint="Put long texts into a corpus (iterative-rag index PATH) and ask about them.",
        )
    return question


T = TypeVar("T")


async def in_thread(items: Callable[[], Iterator[T]]) -> AsyncGenerator[T]:
    """The items, made on a thread of their own, which waits for none of them to be taken.

    Where the caller is cancelled or takes no more, the work is stopped before its next model call or item; its thread
    is not waited for.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    # Each item in a tuple of its own; behind the last one the error that ended the work, None where there was none.
    arrived: asyncio.Queue[tuple[T] | BaseException | None] = asyncio.Queue()
    stopped = threading.Event()

    def arrive(item: tuple[T] | BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop was closed: nobody is left to tell
            loop.call_soon_threadsafe(arrived.put_nowait, item)

    def work() -> None:
        try:
            with stoppable(stopped), closing(cast(Generator[T], items())) as made:
                for item in made:
                    refuse_stopped()
                    arrive((item,))
            arrive(None)
        except RunStopped:
            arrive(asyncio.CancelledError())
        except BaseException as error:  # noqa: BLE001 - raised again where the caller waits
            arrive(error)

    # A daemon: a program that ends does not wait for a run that was cancelled.
    threading.Thread(target=copy_context().run, args=(work,), name="iterative-rag-run", daemon=True).start()
    try:
        while isinstance(item := await arrived.get(), tuple):
            yield item[0]
        if item is not None:
            raise item
    finally:
        stopped.set()
