"""Prepares a run: opens questions, corpus, backends and judge, and writes the manifest."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Ge

from iterative_rag.errors import UsageError
from iterative_rag.evaluation.answer_modes import AUTO, ORACLE, Examination, examine, modes
from iterative_rag.evaluation.failure_causes import cause
from iterative_rag.evaluation.frames import ids_of, rests_on
from iterative_rag.evaluation.records import Dataset, Outcome, Question, QuestionRecord, Scores
from iterative_rag.evaluation.run_folder import package_versions
from iterative_rag.settings import Settings
from iterative_rag.settings.model import Int, one_of

if TYPE_CHECKING:
    from iterative_rag.app.factory import IterativeRAG
    from iterative_rag.evaluation.search_scope import Scope
    from iterative_rag.index.indexing_progress import Progress as IndexProgress
    from iterative_rag.protocols import ChatModel

# A server under the load of a run fails now and then: more retries than for a single question.
RETRIES = 6


@dataclass(frozen=True, slots=True)
class RunConfig:
    """What to run. `corpus` is a name, "own" (each question's paragraphs) or "pooled" (those of all). `frames`: the
    dataset is FRAMES, of which this subset is asked, and the report shows the published figures beside the run's.
    """

    dataset: Path
    corpus: str
    mode: Annotated[str, one_of(modes())]
    settings: Settings
    judge: str = ""
    limit: Int | None = None
    sample: Int | None = None
    seed: Int = 0
    repeat: Annotated[Int, Ge(1)] = 1
    concurrency: Annotated[Int, Ge(1)] = 4
    frames: str = ""


class Preparation:
    """The open parts of a run; close it."""

    def __init__(self, config: RunConfig, indexing: Callable[[IndexProgress], None] | None) -> None:
        from iterative_rag.app.factory import cache
        from iterative_rag.evaluation.dataset_forms import load, select
        from iterative_rag.evaluation.judge import Judge
        from iterative_rag.evaluation.search_scope import open_scope

        self.config = config
        self.dataset: Dataset = load(config.dataset)
        ids = ids_of(self.dataset, config.frames) if config.frames else ()
        questions = select(self.dataset, limit=config.limit, sample=config.sample, seed=config.seed, ids=ids)
        settings, self._profiled = _as_asked(config)
        self.settings = settings
        self._strategy = {ORACLE: "iterative", AUTO: settings.strategy}.get(config.mode, config.mode)
        judging = judging_model(config.judge, settings)
        self.judge = Judge(judging, cache(settings)) if judging else None
        self.scope: Scope = open_scope(config.corpus, self.dataset, settings, progress=indexing)
        try:
            self._rags = self._engines()
            self._rags[0].check(self._strategy)
            exams = [self._exam(question) for question in questions]
            # The mode oracle needs gold articles.
            self.exams = [exam for exam in exams if exam.gold or config.mode != ORACLE]
            if not self.exams:
                raise UsageError(
                    "No question has a gold article that the corpus holds.",
                    hint="The mode oracle needs gold articles; use another mode or --corpus.",
                )
            self.manifest = self._manifest(len(exams) - len(self.exams))
        except BaseException:
            self.close()
            raise

    def examine(self, exam: Examination, repeat: int) -> QuestionRecord:
        """Ask a question for the `repeat`-th time, from 1, over all that it may search. Safe in several threads."""
        rag = self._rags[repeat - 1]
        if exam.within is not None:
            rag = rag.over(self.scope.part(exam.within))
        return examine(rag, exam, self._strategy, repeat=repeat)

    def score(self, record: QuestionRecord) -> QuestionRecord:
        """The record with its scores, the judge's verdict and the cause of its failure."""
        from iterative_rag.evaluation.answer_match import score

        answerable = bool(record.answers) and record.outcome is not Outcome.FAULT
        scores = score(record.short_answer, record.answers, record.question) if answerable else Scores()
        judging = record.judging
        if self.judge is not None and answerable and record.short_answer:
            verdict, reason, judging = self.judge.verdict(record.question, record.answers, record.short_answer)
            scores = dataclasses.replace(scores, judge=verdict, judge_reason=reason)
        record = dataclasses.replace(record, scores=scores, judging=judging)
        return dataclasses.replace(record, cause=cause(record))

    def close(self) -> None:
        self.scope.corpus.close()

    def _exam(self, question: Question) -> Examination:
        gold, missing = self.scope.gold(question)
        within = frozenset(gold) if self.config.mode == ORACLE else self.scope.own(question)
        return Examination(question, gold, missing, within)

    def _engines(self) -> tuple[IterativeRAG, ...]:
        """One engine per repeat, each with another seed, so that the cache does not return the first answer."""
        from iterative_rag.app.factory import IterativeRAG, cache, make_backend

        kept, corpus, embedder = cache(self.settings), self.scope.corpus, self.scope.embedder
        engines = []
        for repeat in range(self.config.repeat):
            settings = self.settings.model_copy(update={"seed": self.settings.seed + repeat})
            backend, notice = make_backend(settings, kept, embedder)
            rag = IterativeRAG(settings, corpus=corpus, backend=backend, cache=kept, notice=notice, embedder=embedder)
            engines.append(rag)
        return tuple(engines)

    def _manifest(self, excluded: int) -> dict[str, Any]:
        from iterative_rag import __version__
        from iterative_rag.evaluation.judge import judges_itself
        from iterative_rag.llm import prompts

        config, corpus = self.config, self.scope.corpus
        return {
            "dataset": {"name": self.dataset.name, "form": self.dataset.form, "digest": self.dataset.digest},
            "corpus": {"name": config.corpus, "index": corpus.name, "fingerprint": corpus.digest()},
            "mode": config.mode,
            "profile": dict(self._profiled),
            "backend": self._rags[0].backend.name,
            "judge": self.judge.name if self.judge else "",
            "self_judged": self.judge is not None and judges_itself(self.judge.name, self._rags[0].backend.name),
            "settings": self.settings.model_dump(exclude={"corpus", "calls_in_flight"}),
            "seed": config.seed,
            "sample": config.sample,
            "limit": config.limit,
            "questions": len(self.exams),
            "excluded": excluded,
            "benchmark": rests_on(config.frames, self.exams, corpus) if config.frames else None,
            "repeat": config.repeat,
            "prompts": prompts.versions(),
            "code": __version__,
            "concurrency": config.concurrency,
            "versions": package_versions(),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
        }


def _as_asked(config: RunConfig) -> tuple[Settings, Mapping[str, Any]]:
    """The settings of a run, and those of them that came from the model's profile: in the mode auto, as `ask` does.

    Raises SettingsError for a profile that cannot be used.
    """
    settings = config.settings
    profiled: Mapping[str, Any] = {}
    if config.mode == AUTO:
        from iterative_rag.app.factory import profile_of

        if (profile := profile_of(settings)) is not None:
            profiled, settings = profile.changes(settings), profile.applied(settings)
    if "retries" not in settings.model_fields_set:
        settings = settings.model_copy(update={"retries": RETRIES})
    return settings, profiled


def judging_model(judge: str, settings: Settings) -> ChatModel | None:
    """The model of a spec of a judge, None where none is named. Raises UsageError for one that cannot judge."""
    if not judge:
        return None
    from iterative_rag.app.factory import make_chat_model

    model = make_chat_model(judge, settings)
    if model is None:
        raise UsageError("The built-in backend cannot judge.", hint="Name an LLM: --judge ollama/MODEL")
    return model
