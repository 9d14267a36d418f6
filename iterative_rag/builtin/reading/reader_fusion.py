"""Combines the scores of the trained reader and of the rules into the probability that a value is the answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from iterative_rag.builtin.language.function_words import content
from iterative_rag.builtin.language.lexicon import AnswerKind
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.page_units import UnitPage
from iterative_rag.text.patterns import lazy_pattern

# Logistic regression over the values that either reader proposes for one-hop questions of half B of 2WikiMultihopQA and
# MuSiQue and of held-out reading articles, none of which the reader was trained on: scripts/train/fit_weighing.py.
WEIGHTS: dict[str, float] = {
    "bias": -1.261,
    "relevance": 0.349,
    "share": 0.531,
    "read": 1.189,
    "odds": 0.387,
    "ruled": -0.5,
    "both": 0.689,
    "form": 0.391,
    "crosses": -0.166,
    "long": -1.443,
    "away": -0.249,
    "missing": -0.413,
    "rank": 0.288,
    "small": -0.901,
}
# Log share and log odds of a value that one of the readers does not propose.
NO_SHARE, NO_ODDS = math.log(2e-3), -3.5
LEAST_ODDS, MOST_ODDS = -6.0, 4.0
LONG, LAST = 6, 9
NAMES = frozenset({AnswerKind.PERSON, AnswerKind.PLACE, AnswerKind.NAME})
_SENTENCES = lazy_pattern(r"[.;] ?[A-Z(]")


@dataclass(slots=True)
class Offered:
    """A value that at least one of the readers proposes.

    `share` is the probability mass of the trained reader's spans with this value (0 to 1), `place` the rank of the best
    of them (0 is first), `relevance` that of its passage (0 to 1). `odds` are the log odds of the rules, `form` is 1 if
    a set phrase states the value. `share` or `odds` is None if that reader does not propose it.
    """

    value: str
    quote: str
    relevance: float = 0.0
    share: float | None = None
    place: int = LAST
    odds: float | None = None
    form: float = 0.0


def probability(query: Query, page: UnitPage, offered: Offered) -> float:
    """Probability that a value is the answer, 0 to 1."""
    features = features_of(query, page, offered)
    odds = sum(WEIGHTS[name] * value for name, value in features.items())
    return 1.0 / (1.0 + math.exp(-odds))


def features_of(query: Query, page: UnitPage, offered: Offered) -> Mapping[str, float]:
    near = {*content(offered.quote), *content(page.title)}
    names = query.name_words
    read, ruled = offered.share is not None, offered.odds is not None
    return {
        "bias": 1.0,
        "relevance": log_odds(offered.relevance),
        "share": math.log(max(offered.share, 1e-3)) if offered.share is not None else NO_SHARE,
        "read": float(read),
        "odds": max(LEAST_ODDS, min(MOST_ODDS, offered.odds)) if offered.odds is not None else NO_ODDS,
        "ruled": float(ruled),
        "both": float(read and ruled),
        "form": offered.form,
        "crosses": float(bool(_SENTENCES.search(offered.value))),
        "long": float(len(offered.value.split()) > LONG),
        # Names of the query in neither the sentence nor the title are a sign of a namesake.
        "away": len(names - near) / max(1, len(names)),
        "missing": len(names - near - set(content(page.text))) / max(1, len(names)),
        "rank": math.log(1 + offered.place),
        "small": float(query.kind in NAMES and not any(character.isupper() for character in offered.value)),
    }


def log_odds(chance: float) -> float:
    kept = min(max(chance, 1e-3), 1 - 1e-3)
    return math.log(kept / (1 - kept))


def same_value(known: Iterable[str], key: str) -> str:
    """The known value that contains `key` or is contained in it, in whole words; "" if there is none."""
    return next((other for other in known if f" {key} " in f" {other} " or f" {other} " in f" {key} "), "")
