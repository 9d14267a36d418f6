"""A question that is known to be one look-up: neither its analysis nor an answer that stands in a text costs a call."""

from __future__ import annotations

import re
from dataclasses import replace

from iterative_rag.protocols import Analyst, Answerer
from iterative_rag.retrieval.same_need import shape
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import is_negation, language
from iterative_rag.text.mentions import mentions
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.spoken_language import ENGLISH, language_of_text
from iterative_rag.types import Analysis, Draft, Fact, Inquiry, Need, Needs
from iterative_rag.verification.answer_type import Asked, kind_asked
from iterative_rag.verification.rule_reflector import ClaimGuard

# As an answering model rates what a quote says in so many words.
CONFIDENCE = 0.9
# Ages, counts and other units ("how tall in feet") may have to be worked out from what a document says.
_WORKED_OUT = lazy_pattern(r"\bhow (?:old|many|much)\b|\bin [a-z]+\W*$|\b(?:more|less|\w+er) than\b", re.IGNORECASE)


class SingleLookUp:
    """Implements protocols.Analyst: a question that one look-up answers is its own need; where that brought nothing, or
    not enough, `analyst` is asked as ever."""

    def __init__(self, analyst: Analyst) -> None:
        self._analyst = analyst

    def analyse(self, inquiry: Inquiry) -> Analysis:
        if inquiry.facts or inquiry.tried:
            return self._analyst.analyse(inquiry)
        return Needs((Need(inquiry.original),), last=True)


class StatedAnswer:
    """Implements protocols.Answerer. Where all facts give the question the same value, in a sentence and a quote that
    hold it, that is the answer, if the quote bears out the sentence; else `answerer` writes it."""

    def __init__(self, answerer: Answerer) -> None:
        self._answerer = answerer

    def answer(self, inquiry: Inquiry, *, last_attempt: bool = False, advice: str = "") -> Draft:
        if not advice and (fact := _stated(inquiry)):
            draft = Draft(True, f"{fact.statement.rstrip(' .')} [1].", fact.value, (0,), confidence=CONFIDENCE)
            if _is_borne_out(draft, inquiry):
                return draft
        return self._answerer.answer(inquiry, last_attempt=last_attempt, advice=advice)


def _stated(inquiry: Inquiry) -> Fact | None:
    """The first fact, if it and all others state the answer."""
    question, facts = inquiry.original, inquiry.facts
    values = {folded(fact.value).strip(" .") for fact in facts}
    if len(values) != 1 or any(fact.need.key != Need(question).key for fact in facts):
        return None
    first = facts[0]
    if not shape(question).open or _WORKED_OUT.search(question):
        return None
    if kind_asked(question) is not Asked.ANY and not mentions(first.value, language(question)):
        return None
    if language_of_text(question) != ENGLISH or language_of_text(first.statement) != ENGLISH:
        return None  # a document's language need not be that of the answer
    if any(_is_negated(text) for text in (question, first.statement, first.quote)):
        return None  # that somebody did not do it does not say who did
    return first if _holds(first.statement, first.value) and _holds(first.quote, first.value) else None


def _is_borne_out(draft: Draft, inquiry: Inquiry) -> bool:
    """Whether the quotes alone prove the draft: its own statement is no witness."""
    quoted = tuple(replace(fact, statement=fact.quote) for fact in inquiry.facts)
    return ClaimGuard().reflect(replace(inquiry, facts=quoted), draft).grounded


def _is_negated(text: str) -> bool:
    return any(is_negation(word, ENGLISH) for word in re.findall(r"[^\W_]+", folded(text)))


def _holds(text: str, value: str) -> bool:
    return bool(value) and re.search(rf"(?<!\w){re.escape(folded(value))}(?!\w)", folded(text)) is not None
