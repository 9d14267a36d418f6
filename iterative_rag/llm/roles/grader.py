"""Grading by an LLM: how well does each text serve a need?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from iterative_rag.errors import LLMError
from iterative_rag.llm.prompts import as_field, fence
from iterative_rag.llm.replies.coercion import Text, as_list, as_number
from iterative_rag.llm.replies.forms import Reply
from iterative_rag.llm.roles.role_call import LLMRole
from iterative_rag.types import Grade, Label, Need
from iterative_rag.types.correcting import labelled

# Texts graded in one call: each grade takes about 50 tokens of the reply.
MOST_TEXTS = 12
UNGRADED = "Not graded: the model left it out or wrote no label."
FAILED = "Not graded: the call failed."
_WORDS = {word.casefold(): word for word in Label}
_FIRST_WORD = re.compile(r"[\W_]*([^\W\d_]+)(?!\s+(?:or|to)\b)")


def _as_label(value: Any) -> str:
    """The word that a label begins with, "**good**" or "Good (it names her)"; "" for anything else."""
    first = _FIRST_WORD.match(value) if isinstance(value, str) else None
    return _WORDS.get(first[1].casefold(), "") if first else ""


def _as_rows(value: Any) -> Any:
    """What is no grade is left out: the grader notices what is missing."""
    return [row for row in as_list(value) if isinstance(row, dict)]


class GradeReply(Reply):
    """`n` is the document's number, -1 where none was given; `label` one of the words, "" where it is unreadable."""

    n: Annotated[int, BeforeValidator(lambda value: as_number(value, -1)), WithJsonSchema({"type": "integer"})] = -1
    reason: Text = ""
    label: Annotated[str, BeforeValidator(_as_label), WithJsonSchema({"type": "string", "enum": list(Label)})] = ""


class GradesReply(Reply):
    grades: Annotated[list[GradeReply], BeforeValidator(_as_rows)]


class LLMGrader(LLMRole[GradesReply]):
    """Implements protocols.Grader: several texts a call, at most `fact_chars` characters together.

    A text that the model leaves out twice, or whose grading fails, is Poor, and the grade's reason says so: a fault
    must neither drop a document nor vouch for it.
    """

    def grade(self, need: Need, texts: Sequence[tuple[str, str]]) -> tuple[Grade, ...]:
        """Raises CapReached, and LLMError where no call can succeed."""
        return tuple(grade for batch in self._batches(texts) for grade in self._graded(need, batch))

    def _batches(self, texts: Sequence[tuple[str, str]]) -> Iterator[list[str]]:
        """The texts as documents, in batches that fit; a text longer than a batch is cut off."""
        batch: list[str] = []
        used = 0
        for title, text in texts:
            document = f"Title: {as_field(title)}\n\n{text}"[: self.call.fact_chars]
            if batch and (len(batch) == MOST_TEXTS or used + len(document) > self.call.fact_chars):
                yield batch
                batch, used = [], 0
            batch.append(document)
            used += len(document)
        if batch:
            yield batch

    def _graded(self, need: Need, documents: Sequence[str]) -> list[Grade]:
        try:
            reply = self.call.ask(
                lambda reply: _complaint(reply, len(documents)),
                labels=", ".join(Label),
                best=Label.PERFECT,
                worst=Label.AWFUL,
                documents="\n".join(fence(text, f"document {n}") for n, text in enumerate(documents, start=1)),
                need=need.question,
            )
        except LLMError as error:
            if error.fatal:
                raise
            # One of the documents may have caused it; ungraded, each is still read.
            return [labelled(Label.POOR, FAILED) for _ in documents]
        rows = _rows(reply, len(documents))
        return [labelled(Label(row.label), row.reason) if row.label else labelled(Label.POOR, UNGRADED) for row in rows]


def _complaint(reply: GradesReply, count: int) -> str:
    missing = [str(n) for n, row in enumerate(_rows(reply, count), start=1) if not row.label]
    if not missing:
        return ""
    return (
        f"the label of document {', '.join(missing)} is missing or none of {', '.join(Label)}; "
        f"grade all {count} documents, each under its own number"
    )


def _rows(reply: GradesReply, count: int) -> list[GradeReply]:
    """The row of each document, the first one where a number repeats, an empty one where there is none."""
    by_number = {row.n: row for row in reversed(reply.grades)}
    return [by_number.get(n, GradeReply()) for n in range(1, count + 1)]
