"""Derives from a comparison the question for each side, and whether the least or the greatest answer wins."""

from __future__ import annotations

import re

from iterative_rag.builtin.language.function_words import word_set
from iterative_rag.builtin.language.lexicon import MEASURES
from iterative_rag.builtin.language.nouns import NOT_PERSON_WORDS
from iterative_rag.builtin.language.tokens import base_form
from iterative_rag.builtin.question.plan import Operation
from iterative_rag.text.patterns import lazy_pattern

_FIRST = lazy_pattern(r"\b(?:first|earlier|earliest|older|oldest|elder|before|sooner)\b", re.I)
_LATER = lazy_pattern(
    r"\b(?:later|last|latest|younger|youngest|newer|more recently|most recently|recently|second)\b", re.I
)
# Comparisons in time: a pattern in the question, and the question template for one side.
EVENTS = (
    (r"\b(?:born|older|oldest|elder|younger|youngest)\b", "When was {} born?"),
    (r"\b(?:die|died|dies|death)\b", "When did {} die?"),
    (r"\b(?:came|come|comes|released|release)\b.*\bout\b|\breleased\b|\bpremiered\b", "When did {} come out?"),
    (r"\b(?:published|started|founded|formed|established|created)\b", "When was {} founded or published?"),
    (r"\b(?:open|opened|opens|opening)\b", "When was {} opened?"),
    (r"\b(?:built|completed|finished|constructed)\b", "When was {} completed?"),
)
# "Which is older" asks of things when they were made, not when they were born.
_MADE = "In which year was {} completed or opened or founded?"
_AGE_WORDS = lazy_pattern(r"\b(?:older|oldest|younger|youngest|newer|newest)\b", re.I)


# "has a higher population", "has the greatest number of species"
_AMOUNT = lazy_pattern(
    r"\b(?P<more>higher|highest|greater|greatest|larger|largest|bigger|biggest|smaller|smallest|lower|lowest|longer|longest"
    r"|shorter|shortest) (?P<what>population|elevation|altitude|budget|capacity|seating capacity|circulation|runtime"
    r"|running time|lifespan|enrollment|attendance|number of (?P<counted>[a-z ]+?)(?=$| (?:as|in|than)\b))",
    re.I,
)
_LESS = word_set("smaller smallest lower lowest shorter shortest")
_PAST = lazy_pattern(r"\b(?:(?P<was>was|were) )?(?:first |last )?(?P<verb>[a-z]{3,}ed|built|made|written|won|begun)\b")


def _happened(ask: str) -> str:
    """The template that asks when the verb's event happened: "closed first" -> "When did {} close?"."""
    if re.search(r"\bfirst to\b", ask):
        return "When was {} founded or published?"
    match = _PAST.search(ask)
    if match is None or match["verb"] in {"happened", "occurred", "need"}:
        return "In which year was {}?"
    verb = match["verb"]
    return f"When was {{}} {verb}?" if match["was"] else f"When did {{}} {base_form(verb) or verb}?"


def for_things(template: str, ask: str, labels: tuple[str, ...]) -> str:
    """The template to use for these labels: for things, "older" asks when they were made."""
    things = any(label.startswith("the ") or set(label.lower().split()) & NOT_PERSON_WORDS for label in labels)
    born = template.endswith(" born?")
    plain = not re.search(r"\bborn\b|\bwho\b|\bwhose\b", ask, re.I)
    return _MADE if things and born and plain and _AGE_WORDS.search(ask) else template


def asked_of(ask: str) -> tuple[Operation, str] | None:
    """The comparison (least or greatest) and the question template for one side; None where nothing is compared."""
    if _FIRST.search(ask) or _LATER.search(ask):
        template = next((template for pattern, template in EVENTS if re.search(pattern, ask, re.I)), _happened(ask))
        return (Operation.GREATEST if _LATER.search(ask) else Operation.LEAST), template
    if amount := _AMOUNT.search(ask):
        counted = amount["counted"]
        template = f"How many {counted} does {{}} have?" if counted else f"What is the {amount['what']} of {{}}?"
        return (Operation.LEAST if amount["more"].lower() in _LESS else Operation.GREATEST), template
    for word in re.findall(r"[a-z]+", ask.lower()):
        if word in MEASURES and word.endswith(("er", "est")):
            least = word in {"shorter", "smaller", "lighter", "lower", "shortest", "smallest", "lowest"}
            return (Operation.LEAST if least else Operation.GREATEST), f"What is the {MEASURES[word]} of {{}}?"
    if match := re.search(
        r"\b(has|have|had|won|scored|made|wrote) (?:the )?(more|most|fewer|fewest|less|least) (.+)$", ask
    ):
        least = match[2] in {"fewer", "fewest", "less", "least"}
        aux = {"won": "did {} win", "scored": "did {} score", "made": "did {} make", "wrote": "did {} write"}.get(
            match[1], "does {} have"
        )
        return (Operation.LEAST if least else Operation.GREATEST), f"How many {match[3]} {aux}?"
    return None
