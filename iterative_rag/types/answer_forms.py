"""What kind of text an answer is."""

from __future__ import annotations

from enum import StrEnum


class AnswerForm(StrEnum):
    """What kind of text an answer is."""

    VALUE = "value"  # a name, a number, a date, yes or no, or a sentence with one
    LIST = "list"  # several values of one kind
    TABLE = "table"  # a comparison: a Markdown table with a citation in every cell
    EXPLANATION = "explanation"  # paragraphs that say why, how, or what something was like
    SUMMARY = "summary"  # paragraphs that say what is known about something
    REPORT = "report"  # sections with headings, written one by one after an outline
    EXTRACT = "extract"  # the passages nearest to the question, quoted: nothing is concluded from them

    @property
    def is_text(self) -> bool:
        """Whether it is made of sentences or cells that are checked and cited one by one."""
        return self in _TEXTS


_TEXTS = frozenset({AnswerForm.TABLE, AnswerForm.EXPLANATION, AnswerForm.SUMMARY, AnswerForm.REPORT})
