"""Recognizes questions that passages answer rather than a value: "Why ...?", "What was ... like?", "Compare ..."."""

from __future__ import annotations

from iterative_rag.text.asked_forms import asked_form
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import AnswerForm

_EXTRACT = lazy_pattern(
    r"^(?:why\b|(?:for what|what (?:is|was|were|are) the) reasons?\b|how come\b|what is known about "
    r"|explain\b|describe\b"
    r"|what (?:is|was|are|were|does|did|do)\b.{2,200} like\W*$|what happened (?:to|in|at|on|during|after|when)\b"
    # "How did she die?" asks for a cause, "How do you spell it?" for a word.
    r"|(?:in what way|how) (?:do|does|did)\b(?!.{2,200}\b(?:die|spell|pronounce|call|name)\b)"
    r"|how (?:was|were)\b.{2,200}\b(?:built|chosen|created|designed|discovered|formed|founded|made)\b)",
)
_TEXTS = frozenset({AnswerForm.TABLE, AnswerForm.SUMMARY, AnswerForm.REPORT})


def wants_extract(question: str) -> bool:
    """Whether the answer to a question is what passages say, quoted, rather than a name, a number or a date."""
    return _EXTRACT.match(question.strip().lower()) is not None or asked_form(question) in _TEXTS
