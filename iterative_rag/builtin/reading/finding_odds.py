"""The probability that what the evidence reader finds is the answer, from what its heads and the words around say.

`scripts/train/evidence/fit_reading.py` fits the weights on questions and articles set aside from training; they lie in
`evidence.json`, one set for values and one for yes/no.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from iterative_rag.builtin.language.function_words import content
from iterative_rag.builtin.language.text_values import amounts, dates, periods
from iterative_rag.builtin.networks import log_odds
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.answer_form import is_measured
from iterative_rag.builtin.reading.evidence_reader import KINDS, EvidenceReading
from iterative_rag.builtin.reading.findings import NOTHING
from iterative_rag.text.patterns import lazy_pattern

if TYPE_CHECKING:
    from iterative_rag.builtin.reading.page_units import ShownPassage

Features = dict[str, float]

LONG = 8
_SENTENCES = lazy_pattern(r"[.;] ?[A-Z(]")


def chance(weights: Mapping[str, float], features: Features) -> float:
    odds = sum(weights[name] * value for name, value in features.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


def of_value(query: Query, passage: ShownPassage, reading: EvidenceReading, span: tuple[str, float]) -> Features:
    """What tells whether a span (text, probability) answers."""
    value, share = span
    return {
        "bias": 1.0,
        "answerable": log_odds(reading.answerable),
        "share": math.log(max(share, 1e-4)),
        "kind": math.log(max(0.01, of_asked_kind(reading.kinds, value))),
        "crosses": float(bool(_SENTENCES.search(value))),
        "long": float(len(value.split()) > LONG),
        **_names(query, passage),
    }


def of_decision(query: Query, passage: ShownPassage, reading: EvidenceReading) -> Features:
    """What tells whether the likelier of yes and no is right."""
    decided = reading.yes + reading.no
    said_yes = reading.yes > reading.no
    return {
        "bias": 1.0,
        "yes": float(said_yes),
        "decided": log_odds(decided),
        "apart": log_odds(max(reading.yes, reading.no) / max(decided, 1e-6)),
        **_names(query, passage),
    }


def _names(query: Query, passage: ShownPassage) -> Features:
    """Names of the query that neither the passage nor its title mentions: a sign of a namesake."""
    names = query.name_words
    own = {*content(passage.text), *content(passage.title)}
    titled = bool(names & set(content(passage.title)))
    return {"missing": len(names - own) / max(1, len(names)), "titled": float(titled)}


def of_asked_kind(kinds: Sequence[float], value: str) -> float:
    """The probability that a value of this form is of the kind asked for, by the reader's view of that kind."""
    if value == NOTHING:
        return 1.0
    named = any(character.isupper() for character in value)
    someone = named and not is_measured(value)
    dated = bool(dates(value) or periods(value))
    counted = bool(amounts(value))
    fitting = {
        "person": someone,
        "place": someone,
        "date": dated,
        "number": counted,
        "name": named or counted,
    }
    return sum(share for kind, share in zip(KINDS, kinds, strict=True) if fitting.get(kind, True))
