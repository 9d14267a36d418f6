"""Reads the records of a run from the logs that inspect_ai writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iterative_rag.evaluation.records import Outcome, QuestionRecord, from_json
from iterative_rag.evaluation.running.inspect_task import RECORD

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

Key = tuple[str, int]  # the id of a question and its repeat, from 1
_TRANSCRIPT = {"events", "events_data", "messages", "store", "attachments"}


def records(folder: Path) -> tuple[QuestionRecord, ...]:
    """The record of every question that was finished, once, ordered by repeat and by where it stood in the dataset.

    A killed run leaves several logs; each later one has taken over what the earlier ones held.
    """
    newest: dict[Key, QuestionRecord] = {}
    for path in _paths(folder):
        for sample in _samples(path):
            key = (str(sample.id), sample.epoch)
            if sample.invalidation is not None:
                newest.pop(key, None)
            elif (record := _record(sample)) is not None:
                newest[key] = record
    order = {question: position for position, question in enumerate(_order(folder))}
    return tuple(newest[key] for key in sorted(newest, key=lambda key: (key[1], order.get(key[0], len(order)), key[0])))


def forget_faults(folder: Path) -> int:
    """Mark the questions that ended in a fault as not done, so that the next run asks them again; how many."""
    from inspect_ai.log import ProvenanceData, invalidate_samples, write_eval_log

    count = 0
    for log in _logs(folder):
        faulty = [sample.uuid for sample in log.samples or () if _is_fault(sample) and sample.uuid]
        if faulty:
            why = ProvenanceData(timestamp=datetime.now(UTC), author="iterative-rag", reason="--retry-errors")
            write_eval_log(invalidate_samples(log, faulty, why), location=log.location)
            count = max(count, len(faulty))
    return count


def _paths(folder: Path) -> list[Path]:
    """Oldest first: the name of a log begins with its time."""
    return sorted(folder.glob("*.eval"))


def _logs(folder: Path) -> Iterator[EvalLog]:
    from inspect_ai.log import read_eval_log

    for path in _paths(folder):
        yield read_eval_log(str(path))


def _samples(path: Path) -> Iterator[EvalSample]:
    """The samples without their transcripts, which are most of a log and would fill the memory."""
    from inspect_ai.log import read_eval_log

    yield from read_eval_log(str(path), exclude_fields=_TRANSCRIPT).samples or ()


def _order(folder: Path) -> Sequence[str]:
    from inspect_ai.log import read_eval_log

    paths = _paths(folder)
    header = read_eval_log(str(paths[-1]), header_only=True) if paths else None
    return [str(sample_id) for sample_id in (header.eval.dataset.sample_ids or ())] if header else ()


def _record(sample: EvalSample) -> QuestionRecord | None:
    """The record that the scorer kept; a sample that broke before it was scored is a fault."""
    for score in (sample.scores or {}).values():
        row: Mapping[str, Any] | None = (score.metadata or {}).get(RECORD)
        if row is not None:
            return from_json(row)
    return None


def _is_fault(sample: EvalSample) -> bool:
    record = _record(sample)
    return sample.error is not None or (record is not None and record.outcome is Outcome.FAULT)
