"""The run of one question: its parts, what a follow-up means, its record, and what its answer is told with. The last
value in another unit ("and in miles?") is computed and not looked up again."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from iterative_rag.app.factory.backends import builtin_reader, fact_check
from iterative_rag.app.factory.notices import check_language, notices
from iterative_rag.builtin.networks import usable_cores
from iterative_rag.computing import ComputeError, compute
from iterative_rag.computing.display import ROUNDED, shown
from iterative_rag.engine.components import RunComponents
from iterative_rag.errors import FollowUpUnclear, IterativeRAGError
from iterative_rag.index.joint_corpus import JointCorpus
from iterative_rag.registry import STRATEGIES
from iterative_rag.retrieval.document_reader import DocumentReader
from iterative_rag.retrieval.reading_memory import ReadingMemory
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Computation, Draft, Earlier, FollowUpStep, StandAlone, Unclear

if TYPE_CHECKING:  # most runs do not need all of these, and importing them takes time
    from iterative_rag.app.factory.rag import IterativeRAG
    from iterative_rag.engine.budget import RunBudget
    from iterative_rag.engine.components import Engine
    from iterative_rag.engine.web_search import WebSearch
    from iterative_rag.protocols import Corpus, Extractor, FollowUpReader, Grader, Roles
    from iterative_rag.storage.trace import Trace
    from iterative_rag.types import Answer, Citation, Earlier, Revision, Step


def run_parts(
    rag: IterativeRAG, budget: RunBudget, corpus: Corpus, revision: Revision | None = None, *, single: bool = False
) -> RunComponents:
    """What the engine of one run works with. `single`: one look-up of the question is known to do. Raises UsageError
    for an edit that cannot be made."""
    settings, begin, web = rag.settings, None, None
    if revision is not None:
        from iterative_rag.engine.revision import revised_state

        begin = revised_state(revision, corpus)
    roles = rag.backend.roles(budget, corpus)
    if single:
        from iterative_rag.engine.flows import SingleLookUp

        roles = dataclasses.replace(roles, analyst=SingleLookUp(roles.analyst))
    grader = roles.grader if settings.grader == "backend" else builtin_reader(rag.store)
    if settings.web:
        corpus, web = _with_web(rag, corpus, roles, grader)
    reader = _reader(rag, corpus, roles.extractor, budget)
    return RunComponents(corpus, reader, roles, grader, budget, settings, rag.backend.traits, web, begin)


def run_steps(
    rag: IterativeRAG,
    question: str,
    strategy: str,
    budget: RunBudget,
    corpus: Corpus,
    *,
    earlier: Earlier | None,
    revision: Revision | None,
) -> Iterator[Step]:
    """The steps of the engine. With `earlier`, what a follow-up means comes first; the run ends at once where the facts
    that were cited before answer it. Raises FollowUpUnclear, and UsageError for a language that is not read."""
    if earlier is None:
        engine: Engine = STRATEGIES.load(strategy)(run_parts(rag, budget, corpus, revision))
        yield from engine.steps(question)
        return
    from iterative_rag.engine.flows import KnownFactsEngine
    from iterative_rag.engine.revision import stands

    # Pages of the web are not read again.
    facts = tuple(fact for fact in earlier.facts if fact.retrieved or stands(fact, corpus))
    earlier = dataclasses.replace(earlier, facts=facts)
    meant = understood(question, earlier, rag.backend.roles(budget, corpus).follow_up)
    check_language(meant.question, rag.settings, rag.backend)
    parts = run_parts(rag, budget, corpus, single=meant.single)
    engine = STRATEGIES.load(strategy)(parts)
    if meant.draft is not None:
        engine = KnownFactsEngine(parts, meant.draft, earlier.facts, engine)
    yield FollowUpStep(question, meant.question, known=meant.draft is not None)
    yield from engine.steps(meant.question)


def understood(follow_up: str, earlier: Earlier, reader: FollowUpReader | None) -> StandAlone:
    """The question that a follow-up stands for: by conversion of the last value, which costs nothing, or as the role of
    the backend understands it. Raises FollowUpUnclear, and what the reader raises."""
    if meant := converted(follow_up, earlier):
        return meant
    if reader is None or not earlier.exchanges:
        return StandAlone(follow_up)
    read = reader.understand(follow_up, earlier)
    if isinstance(read, Unclear):
        raise FollowUpUnclear(
            f"This follow-up cannot be understood: {read.reason.rstrip('.')}.",
            hint='Ask the full question, or say what it means: --as "QUESTION" (in a chat: /edit QUESTION).',
        )
    return read


@contextmanager
def recorded(record: Trace) -> Iterator[None]:
    """While the block runs, a run is written to this trace; how it ended is written, too, where that is no answer."""
    try:
        yield
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


def completed(rag: IterativeRAG, answer: Answer, run_id: str, corpus: Corpus, steps: Sequence[Step]) -> Answer:
    """The engine's answer with what only this run knows."""
    told, missing = notices(rag, answer, corpus, steps)
    if isinstance(corpus, JointCorpus):
        joint = corpus

        def with_corpus(citations: Sequence[Citation]) -> tuple[Citation, ...]:
            return tuple(dataclasses.replace(citation, corpus=joint.corpus_of(citation)) for citation in citations)

        answer = dataclasses.replace(
            answer, citations=with_corpus(answer.citations), nearest=with_corpus(answer.nearest)
        )
    return dataclasses.replace(answer, run_id=run_id, corpus_notice=told, missing=missing, settings=rag.used_settings())


def told_of(revision: Revision | None) -> dict[str, Any]:
    """What the trace of an edited run says of the run that it is a version of."""
    if revision is None:
        return {}
    from iterative_rag.engine.revision import described

    return {"revises": {"run_id": revision.answer.run_id, "change": described(revision)}}


def _with_web(rag: IterativeRAG, corpus: Corpus, roles: Roles, grader: Grader) -> tuple[Corpus, WebSearch | None]:
    """The corpus with room for web pages, and the search that fills it."""
    from iterative_rag.app.factory import web_access
    from iterative_rag.engine.web_search import OverlayCorpus, WebSearch

    overlay, settings = OverlayCorpus(corpus), rag.settings
    if not (built := web_access.make_web(settings)):
        return corpus, None
    sparing = rag.backend.traits.calls_cost and settings.grader == "backend"
    return overlay, WebSearch(
        *built, overlay, rewriter=roles.rewriter, grader=grader, settings=settings, sparing=sparing
    )


def _reader(rag: IterativeRAG, corpus: Corpus, extractor: Extractor, budget: RunBudget) -> DocumentReader:
    settings, traits = rag.settings, rag.backend.traits
    # Windows read at the same time: as many as the user sets, else as many as the server works on at once. The built-in
    # models gain nothing beyond the cores: they would only read windows that are no longer needed.
    in_flight = settings.calls_in_flight
    if not traits.calls_cost:
        in_flight = min(in_flight, usable_cores())
    elif "calls_in_flight" not in settings.model_fields_set:
        in_flight = traits.calls_at_once or in_flight
    return DocumentReader(
        corpus,
        extractor,
        cache=rag.store,
        fact_limit=settings.fact_limit,
        in_flight=in_flight,
        on_hit=budget.cache_hit,
        sparing=traits.calls_cost,
        window_chars=settings.window_chars,
        documents_per_call=settings.documents_per_call,
        call_chars=traits.call_chars or settings.window_chars,
        memory=ReadingMemory(),
        check=fact_check(rag.store, overruled=traits.reads_better),
        ranker=builtin_reader(rag.store),
        reading=budget.reading,
    )


_ASKED = lazy_pattern(
    r"^(?:(?:and|ok|so|but)\b,? *)*(?:(?:what|how much|how many) (?:is|would|was|are) (?:that|it|this) +)?in "
    r"(?P<unit>[a-z°]+(?: [a-z°]+)?)$"
    r"|^(?:(?:and|ok|so)\b,? *)*how many (?P<many>[a-z]+(?: [a-z]+)?) (?:is|are|was) (?:that|it|this)$",
    re.I,
)
_VALUE = lazy_pattern(r"(?P<value>-?\d[\d,]*(?:\.\d+)? ?(?!in \w)[a-zµ°²³]+)", re.I)
_END = lazy_pattern(r" in (?P<unit>[a-z°]+(?: [a-z°]+)?)$", re.I)
_DIGITS = 4


def converted(follow_up: str, earlier: Earlier) -> StandAlone | None:
    """The question in that unit, answered from the facts of the last value; None for any other follow-up, and where the
    two units do not measure the same thing."""
    asked = _ASKED.match(follow_up.strip().rstrip("?.! "))
    if asked is None or not earlier.exchanges:
        return None
    last, unit = earlier.exchanges[-1], asked["unit"] or asked["many"]
    value = _VALUE.search(last.short_answer)
    if value is None:
        return None
    amount = value["value"].replace(",", "")
    expression = f"{amount} to {unit}"
    try:
        short, differs = _rounded(compute(expression))
    except ComputeError:
        return None
    result = f"{ROUNDED}{short}" if differs else short
    question = f"{_without_unit(last.question.strip().rstrip('?. '), amount)} in {unit}?"
    stating = tuple(n for n, fact in enumerate(earlier.facts) if value["value"] in f"{fact.value} {fact.quote}")[-1:]
    if not stating:
        return StandAlone(question)
    done = Computation(expression, result, stating)
    draft = Draft(
        answered=True,
        text=f"{shown(expression, result)} [1]",
        short_answer=short,
        cited=stating,
        confidence=earlier.facts[stating[0]].score,
        computations=(done,),
    )
    return StandAlone(question, draft)


def _without_unit(question: str, amount: str) -> str:
    """The question without a unit at its end, which is one that the amount can be given in; a place is kept."""
    if (end := _END.search(question)) is None:
        return question
    try:
        compute(f"{amount} to {end['unit']}")
    except ComputeError:
        return question
    return question[: end.start()]


def _rounded(result: str) -> tuple[str, bool]:
    """The value with four digits, since what was measured is not known better, and whether it is another one then."""
    match = re.match(r"-?\d[\d,]*(?:\.\d+)?", result)
    if match is None:
        return result, False
    number = float(match[0].replace(",", ""))
    short = float(f"{number:.{_DIGITS}g}")
    return f"{short:,.10g}{result[match.end() :]}", short != number
