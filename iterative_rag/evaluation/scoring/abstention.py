"""Precision and recall of abstentions, over records of which some have no answer in the corpus.

Precision and recall of "this cannot be answered" as a class, as SQuAD 2.0 (Rajpurkar et al. 2018) brought it into
question answering. A fault or a reached cap is not an abstention.
"""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.evaluation.questions import Answerability
from iterative_rag.evaluation.records import Outcome, QuestionRecord


def precision(records: Sequence[QuestionRecord]) -> float | None:
    """Of the abstentions, the share on unanswerable questions; None without abstentions or without such questions."""
    abstained = [record for record in records if record.outcome is Outcome.ABSTAINED]
    if not abstained or not any(map(unanswerable, records)):
        return None
    return sum(map(unanswerable, abstained)) / len(abstained)


def recall(records: Sequence[QuestionRecord]) -> float | None:
    """Of the unanswerable questions, the share that was abstained from; None without such questions."""
    asked = [record for record in records if unanswerable(record)]
    return sum(record.outcome is Outcome.ABSTAINED for record in asked) / len(asked) if asked else None


def unanswerable(record: QuestionRecord) -> bool:
    """Whether abstaining is right for this question."""
    return record.kind is not Answerability.ANSWERABLE
