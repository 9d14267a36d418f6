"""The run as an inspect_ai task: a solver that runs our engine, a scorer that keeps the record.

inspect_ai does the concurrency, the limits, the logs and the resuming; its viewer (`inspect view`) shows every hop.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from iterative_rag.evaluation.records import Hop, QuestionRecord, to_json

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.scorer import Scorer
    from inspect_ai.solver import Solver

    from iterative_rag.evaluation.running.answer_modes import Examination

    Examine = Callable[[Examination, int], QuestionRecord]
    Score = Callable[[QuestionRecord], QuestionRecord]

RECORD = "record"  # the key of a record in a sample's metadata and in its score's
SHOWN = ("em", "f1", "contains", "value")


def make_task(
    name: str,
    exams: Sequence[Examination],
    examine: Examine,
    score: Score,
    *,
    repeat: int,
    concurrency: int,
    done: Callable[[QuestionRecord], None],
) -> Task:
    """`examine` and `score` run in threads of their own, `concurrency` at a time; `done` is called with each record."""
    from inspect_ai import Epochs, Task
    from inspect_ai.dataset import MemoryDataset, Sample

    samples = [
        Sample(id=exam.question.id, input=exam.question.text, target=list(exam.question.answers) or "")
        for exam in exams
    ]
    return Task(
        name=name,
        dataset=MemoryDataset(samples, name=name),
        solver=_solver({exam.question.id: exam for exam in exams}, examine, concurrency),
        scorer=_scorer(score, done),
        epochs=Epochs(repeat, "mean"),
    )


def _solver(exams: Mapping[str, Examination], examine: Examine, concurrency: int) -> Solver:
    import anyio.to_thread
    from inspect_ai.log import transcript
    from inspect_ai.solver import Generate, TaskState, solver

    @solver(name="iterative_rag")
    def engine() -> Solver:
        limiter: list[anyio.CapacityLimiter] = []  # made in the event loop that it belongs to

        async def solve(state: TaskState, generate: Generate) -> TaskState:
            if not limiter:
                limiter.append(anyio.CapacityLimiter(concurrency))

            exam = exams[str(state.sample_id)]
            # On an interrupt the question is dropped; its thread is abandoned.
            record = await anyio.to_thread.run_sync(
                examine, exam, state.epoch, abandon_on_cancel=True, limiter=limiter[0]
            )
            for hop in record.hops:
                transcript().info(_shown(hop), source=f"hop {hop.n}")
            state.metadata[RECORD] = to_json(record)
            state.output.completion = record.short_answer or record.text
            state.completed = True
            return state

        return solve

    return engine()


def _scorer(score: Score, done: Callable[[QuestionRecord], None]) -> Scorer:
    import anyio.to_thread
    from inspect_ai.scorer import Score as InspectScore
    from inspect_ai.scorer import Target, mean, scorer
    from inspect_ai.solver import TaskState

    from iterative_rag.evaluation.records import from_json

    @scorer(name="answers", metrics={"*": [mean()]})
    def answers() -> Scorer:
        async def marked(state: TaskState, target: Target) -> InspectScore:
            record = from_json(state.metadata[RECORD])
            record = await anyio.to_thread.run_sync(lambda: score(record), abandon_on_cancel=True)
            state.metadata.pop(RECORD)  # it is kept once, with its scores
            done(record)
            return InspectScore(
                value={name: getattr(record.scores, name) for name in SHOWN} | {"right": float(record.right or 0)},
                answer=record.short_answer,
                explanation=record.cause.value if record.cause else record.scores.judge_reason,
                metadata={RECORD: to_json(record)},
            )

        return marked

    return answers()


def _shown(hop: Hop) -> dict[str, Any]:
    """The hop as JSON types: the viewer takes lists, not tuples."""
    shown: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(hop)))
    return shown
