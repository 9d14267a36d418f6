"""Recognizes questions that passages answer rather than a value: "Why ...?", "What was ... like?"."""

from __future__ import annotations

from iterative_rag.text.patterns import lazy_pattern

_EXTRACT = lazy_pattern(
    r"^(?:why\b|(?:for what|what (?:is|was|were|are) the) reasons?\b|how come\b|what is known about "
    r"|what (?:is|was|are|were|does|did|do)\b.{2,200} like\W*$|what happened (?:to|in|at|on|during|after|when)\b"
    r"|(?:in what way|how) (?:do|does|did)\b.{2,200} (?:work|function|operate)\W*$)",
)


def wants_extract(question: str) -> bool:
    """Whether the answer to a question is what passages say, quoted, rather than a name, a number or a date."""
    return _EXTRACT.match(question.strip().lower()) is not None
