"""Grading by an LLM: how well does each text serve a need?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iterative_rag.errors import LLMError
from iterative_rag.llm.prompts import fence, titled
from iterative_rag.llm.replies.grading_forms import NO, YES, GradeReply, GradesReply
from iterative_rag.llm.roles.role_call import LLMRole, RoleCall
from iterative_rag.types import Grade, Label, Need
from iterative_rag.types.correcting import SCORES, labelled

# Texts graded in one call: each grade takes about 50 tokens of the reply.
MOST_TEXTS = 12
UNGRADED = "Not graded: the model left it out or wrote no label."
FAILED = "Not graded: the call failed."
_LABELS, _BINARY = tuple(Label), (YES, NO)


class LLMGrader(LLMRole[GradesReply]):
    """Implements protocols.Grader: several texts a call, at most `fact_chars` characters together.

    `binary`: the model answers yes or no. A text that the model leaves out twice, or whose grading fails, is Poor, and
    the grade's reason says so: a fault must neither drop a document nor vouch for it.
    """

    def __init__(self, call: RoleCall[GradesReply], binary: bool = False) -> None:
        super().__init__(call)
        self._binary = binary

    def grade(self, need: Need, texts: Sequence[tuple[str, str]]) -> tuple[Grade, ...]:
        """Raises CapReached, and LLMError where no call can succeed."""
        return tuple(grade for batch in self._batches(texts) for grade in self._graded(need, batch))

    def _batches(self, texts: Sequence[tuple[str, str]]) -> Iterator[list[str]]:
        """The texts as documents, in batches that fit; a text longer than a batch is cut off."""
        batch: list[str] = []
        used = 0
        for title, text in texts:
            document = titled(title, text)[: self.call.fact_chars]
            if batch and (len(batch) == MOST_TEXTS or used + len(document) > self.call.fact_chars):
                yield batch
                batch, used = [], 0
            batch.append(document)
            used += len(document)
        if batch:
            yield batch

    def _graded(self, need: Need, documents: Sequence[str]) -> list[Grade]:
        words = _BINARY if self._binary else _LABELS
        try:
            reply = self.call.ask(
                lambda reply: self._complaint(reply, len(documents)),
                labels=", ".join(words),
                best=YES if self._binary else Label.PERFECT,
                worst=NO if self._binary else Label.AWFUL,
                documents="\n".join(fence(text, f"document {n}") for n, text in enumerate(documents, start=1)),
                need=need.question,
            )
        except LLMError as error:
            if error.fatal:
                raise
            # One of the documents may have caused it; ungraded, each is still read.
            return [labelled(Label.POOR, FAILED) for _ in documents]
        return self._read(reply, len(documents))

    def _read(self, reply: GradesReply, count: int) -> list[Grade]:
        rows = _by_number(reply)
        grades = []
        for n in range(1, count + 1):
            label = self._label(rows[n]) if n in rows else None
            grades.append(labelled(label, rows[n].reason) if label else labelled(Label.POOR, UNGRADED))
        return grades

    def _label(self, row: GradeReply) -> Label | None:
        """The label of a row; None where it has none of those that were asked for."""
        if self._binary:
            word = row.label
            if word in _LABELS:  # finer than it was asked for, and a yes or a no all the same
                word = YES if SCORES[Label(word)] > SCORES[Label.POOR] else NO
            return {YES: Label.GOOD, NO: Label.AWFUL}.get(word)
        return Label(row.label) if row.label in _LABELS else None

    def _complaint(self, reply: GradesReply, count: int) -> str:
        rows = _by_number(reply)
        missing = [str(n) for n in range(1, count + 1) if n not in rows or self._label(rows[n]) is None]
        if not missing:
            return ""
        words = ", ".join(_BINARY if self._binary else _LABELS)
        return (
            f"the label of document {', '.join(missing)} is missing or none of {words}; "
            f"grade all {count} documents, each under its own number"
        )


def _by_number(reply: GradesReply) -> dict[int, GradeReply]:
    """The row of each document, the first one where a number repeats."""
    return {row.n: row for row in reversed(reply.grades)}
