"""A run in inspect_ai: the task (a solver that runs our engine, a scorer that keeps the record), and its logs.

inspect_ai does the concurrency, the limits, the logs and the resuming; its viewer (`inspect view`) shows every hop.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iterative_rag.evaluation.records import Hop, Outcome, QuestionRecord, from_json, to_json

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalSample
    from inspect_ai.scorer import Scorer
    from inspect_ai.solver import Solver

    from iterative_rag.evaluation.answer_modes import Examination

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
                transcript().info(_shown(hop, record.documents), source=f"hop {hop.n}")
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


def _shown(hop: Hop, titles: Mapping[str, str]) -> dict[str, Any]:
    """The hop with the titles of its documents, as JSON types: the viewer takes lists, not tuples."""
    listed, read = (tuple(titles.get(key, key) for key in documents) for documents in (hop.shortlist, hop.read))
    named = dataclasses.replace(hop, shortlist=listed, read=read)
    shown: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(named)))
    return shown


# --- the logs ------------------------------------------------------------------------------------


Key = tuple[str, int]  # the id of a question and its repeat, from 1
_TRANSCRIPT = {"events", "events_data", "messages", "store", "attachments"}


def records(folder: Path) -> tuple[QuestionRecord, ...]:
    """The record of every question that was finished, once, ordered by repeat and by where it stood in the dataset.

    A killed run leaves several logs; each later one has taken over what the earlier ones held.
    """
    from inspect_ai.log import read_eval_log

    newest: dict[Key, QuestionRecord] = {}
    order: dict[str, int] = {}
    for path in _paths(folder):
        # Without their transcripts, which are most of a log and would fill the memory.
        log = read_eval_log(str(path), exclude_fields=_TRANSCRIPT)
        order = {str(question): position for position, question in enumerate(log.eval.dataset.sample_ids or ())}
        for sample in log.samples or ():
            key = (str(sample.id), sample.epoch)
            if sample.invalidation is not None:
                newest.pop(key, None)
            elif (record := _record(sample)) is not None:
                newest[key] = record
    return tuple(newest[key] for key in sorted(newest, key=lambda key: (key[1], order.get(key[0], len(order)), key[0])))


def forget_faults(folder: Path) -> None:
    """Mark the questions that ended in a fault as not done, so that the next run asks them again."""
    from inspect_ai.log import ProvenanceData, invalidate_samples, read_eval_log, write_eval_log

    for path in _paths(folder):
        log = read_eval_log(str(path))
        faulty = [sample.uuid for sample in log.samples or () if _is_fault(sample) and sample.uuid]
        if faulty:
            why = ProvenanceData(timestamp=datetime.now(UTC), author="iterative-rag", reason="--retry-errors")
            write_eval_log(invalidate_samples(log, faulty, why), location=log.location)


def _paths(folder: Path) -> list[Path]:
    """Oldest first: the name of a log begins with its time."""
    return sorted(folder.glob("*.eval"))


def _record(sample: EvalSample) -> QuestionRecord | None:
    """The record that the scorer kept; a sample that broke before it was scored is a fault."""
    rows = ((score.metadata or {}).get(RECORD) for score in (sample.scores or {}).values())
    row = next(filter(None, rows), None)
    return from_json(row) if row else None


def _is_fault(sample: EvalSample) -> bool:
    record = _record(sample)
    return sample.error is not None or (record is not None and record.outcome is Outcome.FAULT)
