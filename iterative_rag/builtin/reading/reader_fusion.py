"""How likely a value is the answer, from what the trained reader and the rules each say of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from iterative_rag.builtin.language.function_words import content
from iterative_rag.builtin.language.lexicon import AnswerKind
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.page_units import UnitPage
from iterative_rag.text.patterns import lazy_pattern

# Logistic regression over the values that both offer for one-hop questions of half B of 2WikiMultihopQA and MuSiQue
# and of held-out reading articles, which the reader was not trained on: scripts/train/fit_weighing.py.
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
# What stands for the log share and the log odds where one of the two does not offer the value.
NO_SHARE, NO_ODDS = math.log(2e-3), -3.5
LEAST_ODDS, MOST_ODDS = -6.0, 4.0
LONG, LAST = 6, 9
NAMES = frozenset({AnswerKind.PERSON, AnswerKind.PLACE, AnswerKind.NAME})
_SENTENCES = lazy_pattern(r"[.;] ?[A-Z(]")


@dataclass(slots=True)
class Offered:
    """A value as both see it: the share of the reader's spans that say it and the place of the best among them, the
    relevance of that passage; the log-odds of the rules, and whether a set form gives it. None: not offered."""

    value: str
    quote: str
    relevance: float = 0.0
    share: float | None = None
    place: int = LAST
    odds: float | None = None
    form: float = 0.0


def probability(query: Query, page: UnitPage, offered: Offered) -> float:
    """The chance that a value is right."""
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
        # A namesake is told by the names of the need that stand neither in the sentence nor in the title.
        "away": len(names - near) / max(1, len(names)),
        "missing": len(names - near - set(content(page.text))) / max(1, len(names)),
        "rank": math.log(1 + offered.place),
        "small": float(query.kind in NAMES and not any(character.isupper() for character in offered.value)),
    }


def log_odds(chance: float) -> float:
    kept = min(max(chance, 1e-3), 1 - 1e-3)
    return math.log(kept / (1 - kept))


def same_value(known: Iterable[str], key: str) -> str:
    """The known value that is this one, a word more or less aside; "" where there is none."""
    return next((other for other in known if f" {key} " in f" {other} " or f" {other} " in f" {key} "), "")
