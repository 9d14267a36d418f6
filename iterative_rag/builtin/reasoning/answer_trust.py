"""The trust in an answer: the probability that it is right, from the whole chain of facts behind it; and how much of it
is required.

How sure the weakest step is tells little by itself. An answer whose quotes hold the words of the question, which has no
rivals, whose chain leads through several documents, and which the reader finds again when it reads the whole question
over the quotes is right more often; a yes that another passage denies, and an answer of many look-ups, less often.
`python -m scripts.train.fit_answer_trust` fits the weights on questions about articles that were set aside from all
training, some of them over corpora that do not hold the answer. On 1,631 answers, in ten folds, they tell right from
wrong answers with an area under the curve of 0.86, the weakest step alone with 0.83 (648 of HotpotQA: 0.83 and 0.78).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from iterative_rag.builtin.language.function_words import content
from iterative_rag.builtin.language.value_agreement import agree
from iterative_rag.builtin.networks import log_odds
from iterative_rag.builtin.reading.finding_odds import Features, chance
from iterative_rag.builtin.reasoning.node_result import NodeValue
from iterative_rag.builtin.reasoning.reader_roles import DECISIONS, ReaderRoles
from iterative_rag.text.markdown_rows import is_row
from iterative_rag.types import Fact, Inquiry
from iterative_rag.types.loop import DOUBTFUL_BELOW

# Log-odds of a passage that decides nothing; no tuned value.
WEAK = -3.0
# Least chance of a chain, so that its logarithm stays finite; no tuned value.
LEAST = 1e-3


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Least trust (0 to 1) of facts that are built on (`built_on`), of values that are given as answers (`given`), and
    of those among them that a step leads to which no quote fully bears out (`unsaid`).

    From 0.5 on, the trust in a fact is the probability that it is right, as fitted on articles set aside.
    """

    built_on: float
    given: float
    unsaid: float


# `given` is put here by `python -m scripts.train.fit_caution --write`: the least trust from which on at most three
# answers in ten are wrong, on questions about articles that no model was trained on.
# `unsaid`: between 0.5 and 0.6 such answers were wrong in 15 of 21 cases, on questions of train parts and over the
# starter corpus.
CAREFUL = Thresholds(built_on=DOUBTFUL_BELOW, given=0.5, unsaid=0.6)
# Never abstain: give the best answer whatever its trust.
GUESSING = Thresholds(built_on=0.0, given=0.0, unsaid=0.0)


@dataclass(frozen=True, slots=True)
class Answering:
    """A value that may be given as the answer: the question as it was read (`asked`), and all values that its plan has,
    best first."""

    asked: str
    inquiry: Inquiry
    values: Sequence[NodeValue]

    @property
    def cited(self) -> list[Fact]:
        return [self.inquiry.facts[index] for index in dict.fromkeys(self.values[0].facts)]


class AnswerTrust(Protocol):
    """The trust, 0 to 1, in the first value of an answering."""

    def __call__(self, given: Answering) -> float: ...


def weakest_step(given: Answering) -> float:
    """The trust in the least trusted fact of the chain."""
    return given.values[0].score


class FittedAnswerTrust:
    """Implements AnswerTrust; thread-safe."""

    def __init__(self, reader: ReaderRoles) -> None:
        self._reader = reader

    def __call__(self, given: Answering) -> float:
        if not self.is_fitted_for(given):
            return weakest_step(given)
        return round(chance(self._reader.weights["answer"], self.features(given)), 4)

    def is_fitted_for(self, given: Answering) -> bool:
        """Whether the weights hold for an answering: not for rows of a table, whose trust was fitted on questions about
        tables, nor for a value compared with one that the question gives, which is as sure as that value."""
        compared = given.values[0].computations and len({fact.need.key for fact in given.cited}) == 1
        return bool(given.cited) and not compared and not _is_of_table(given)

    def features(self, given: Answering) -> Features:
        """What tells whether the first value is right, by name."""
        best, cited = given.values[0], given.cited
        said = {word for fact in cited for word in (*content(fact.statement), *content(fact.title))}
        asked, looked_up = set(content(given.asked)), len({fact.need.key for fact in cited})
        documents = len({fact.document_id for fact in cited})
        rivals = [value for value in given.values[1:] if not agree(value.text, best.text)]
        return {
            "bias": 1.0,
            "weakest": log_odds(best.score),
            "chain": math.log(max(best.chain, LEAST)),
            # What is compared or worked out may stand side by side in one document; a chain of look-ups seldom does.
            "documents": float(max(documents, looked_up) if best.computations else documents),
            "facts": float(len(cited)),
            "steps": float(looked_up > 1),
            "rivals": float(min(len(rivals), 4)),
            "covered": len(asked & said) / max(1, len(asked)),
            "needs": float(len({need.key for need in given.inquiry.tried})),
            "opposed": _opposed(given),
            "worked out": float(bool(best.computations)),
            # No quote holds what was worked out.
            "again": 0.0 if best.computations else self._found_again(given, best.text),
        }

    def _found_again(self, given: Answering, value: str) -> float:
        """The share of the value among what the reader finds for the whole question in the quotes together."""
        by_title: dict[str, list[str]] = {}
        for fact in given.cited:
            by_title.setdefault(fact.title, []).append(fact.statement)
        text = " ".join(f"{title}: {' '.join(dict.fromkeys(quotes))}" for title, quotes in by_title.items())
        return self._reader.share(given.asked, value, text)


def _opposed(given: Answering) -> float:
    """How strongly another passage says no where the value is yes, or yes where it is no: 0 for not at all."""
    value = given.values[0].text.casefold()
    if value not in DECISIONS:
        return 0.0
    needs = {fact.need.key for fact in given.cited if fact.value.casefold() == value}
    other = (
        log_odds(fact.score)
        for fact in given.inquiry.facts
        if fact.need.key in needs and fact.value.casefold() in DECISIONS - {value}
    )
    return max(0.0, max(other, default=WEAK) - WEAK)


def _is_of_table(given: Answering) -> bool:
    """Whether rows of a table state the value."""
    stating = [fact for fact in given.cited if fact.value == given.values[0].text]
    return bool(stating) and is_row(stating[0].quote)
