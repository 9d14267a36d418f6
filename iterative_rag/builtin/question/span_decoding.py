"""How a question is taken apart, and how that is read from the scores of all its stretches of words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Encoding

    Scores = npt.NDArray[np.float32]

CONTINUED: Final = "##"  # opens a word piece that goes on a word
LEAST: Final = 0.5  # of the score of a stretch beside the best one
SURE: Final = 0.8  # of a stretch that only a second look shows
_MOST_STRETCHES: Final = 8


class QuestionKind(StrEnum):
    """How a question is taken apart."""

    SINGLE = "single"  # it is one look-up
    NESTED = "nested"  # it speaks of something by a description, which is looked up first
    COMPARISON = "comparison"  # two things are looked up and compared
    INTERSECTION = "intersection"  # one thing meets two conditions


class Form(StrEnum):
    """How a stretch stands for something."""

    PHRASE = "phrase"  # "the director of X"
    CLAUSE = "clause"  # "X was directed by a man", before "who was born in what year"
    PART = "part"  # one side of a comparison, one of two conditions


class Asks(StrEnum):
    """What a description stands for: a person, a place, a time, a named thing, or anything else."""

    WHO = "who"
    WHERE = "where"
    WHEN = "when"
    WHICH = "which"
    WHAT = "what"


KINDS: Final = tuple(QuestionKind)
FORMS: Final = tuple(Form)
ASKS: Final = tuple(Asks)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of the question, `question[start:end]`, with the network's score for it (0 to 1)."""

    start: int
    end: int
    form: Form
    asks: Asks
    score: float

    def holds(self, other: Stretch) -> bool:
        return self.start <= other.start and other.end <= self.end and self != other


@dataclass(frozen=True, slots=True)
class Split:
    """How a question is taken apart.

    `inner` are the descriptions, the innermost first; `parts` the two sides of a comparison or the two conditions.
    `probabilities` are those of KINDS; `confidence` is the calibrated probability that kind and spans are all right.
    """

    question: str
    kind: QuestionKind
    probabilities: tuple[float, ...]
    inner: tuple[Stretch, ...] = ()
    parts: tuple[Stretch, ...] = ()
    confidence: float = 0.0


# --- from scores to a split -------------------------------------------------------------------


def decoded(
    question: str,
    encoding: Encoding,
    scores: Scores,
    kinds: Scores,
    calibration: dict[str, list[float]],
) -> Split:
    """The likeliest kind with its stretches. Scores have the shape (channels, pieces, pieces): FORMS, then ASKS."""
    import numpy as np

    exponents = np.exp(kinds - kinds.max())
    probabilities = tuple(float(part) for part in exponents / exponents.sum())
    kind = KINDS[int(np.argmax(kinds))]
    stretches = _Stretches(scores, encoding)
    inner: list[Stretch] = []
    parts: list[Stretch] = []
    if kind is not QuestionKind.SINGLE:
        inner = stretches.nested(at_least_one=kind is QuestionKind.NESTED)
    if kind in (QuestionKind.COMPARISON, QuestionKind.INTERSECTION):
        parts = stretches.two_parts()
    inner.sort(key=lambda stretch: (stretch.end - stretch.start, stretch.start))
    confidence = _calibrated(calibration.get(kind.value), max(probabilities), parts or inner)
    return Split(question, kind, probabilities, tuple(inner), tuple(parts), confidence)


def deepened(split: Split, look: Callable[[str], Split]) -> Split:
    """The split with what the descriptions hold in their turn, as far as one look did not show it.

    "the mayor of the city where X was born" is looked at once more as the question "Who is the mayor of ...?".
    """
    if split.kind is not QuestionKind.NESTED:
        return split
    inner = list(split.inner)
    waiting = [one for one in inner if one.form is Form.PHRASE and not any(one.holds(other) for other in inner)]
    while waiting and len(inner) < _MOST_STRETCHES:
        outer = waiting.pop(0)
        opening = "Who is " if outer.asks is Asks.WHO else "What is "
        seen = look(f"{opening}{split.question[outer.start : outer.end]}?")
        if seen.kind is not QuestionKind.NESTED or seen.probabilities[KINDS.index(seen.kind)] < SURE:
            continue
        moved = [_moved(one, outer.start - len(opening)) for one in seen.inner if one.score >= SURE]
        fresh = [one for one in moved if one.form is Form.PHRASE and outer.holds(one) and _shorter(one, outer)]
        fresh = [one for one in fresh if all(_fits(one, other) for other in inner)]
        inner += fresh
        waiting += fresh
    inner.sort(key=lambda one: (one.end - one.start, one.start))
    return replace(split, inner=tuple(inner))


def _moved(one: Stretch, by: int) -> Stretch:
    return replace(one, start=one.start + by, end=one.end + by)


def _shorter(one: Stretch, outer: Stretch) -> bool:
    """By more than an article: else it is the description itself."""
    return one.end - one.start < outer.end - outer.start - 4


def _calibrated(weights: Sequence[float] | None, kind: float, used: Sequence[Stretch]) -> float:
    """Logistic regression on the log odds of the kind and of the least certain stretch."""
    if weights is None:
        return 0.0
    weakest = min((stretch.score for stretch in used), default=0.5)
    return 1 / (1 + math.exp(-(weights[0] + weights[1] * log_odds(kind) + weights[2] * log_odds(weakest))))


def log_odds(probability: float) -> float:
    kept = min(max(probability, 1e-4), 1 - 1e-4)
    return math.log(kept / (1 - kept))


class _Stretches:
    """The stretches of whole words, with their scores."""

    def __init__(self, scores: Scores, encoding: Encoding) -> None:
        import numpy as np

        special = np.array(encoding.special_tokens_mask, bool)
        goes_on = np.array([token.startswith(CONTINUED) for token in encoding.tokens], bool)
        begins = ~special & ~goes_on
        ends = ~special & ~np.append(goes_on[1:], False)
        allowed = np.triu(np.outer(begins, ends))
        self._scores = np.where(allowed, 1 / (1 + np.exp(-scores[: len(FORMS)])), 0.0)
        self._asks = scores[len(FORMS) :]
        self._offsets = encoding.offsets

    def _stretch(self, form: int, first: int, last: int) -> Stretch:
        asks = ASKS[int(self._asks[:, first, last].argmax())]
        start, end = self._offsets[first][0], self._offsets[last][1]
        return Stretch(start, end, FORMS[form], asks, float(self._scores[form, first, last]))

    def _best(self, forms: Sequence[int], count: int, least: float) -> list[Stretch]:
        """The `count` best stretches of some forms, best first."""
        import numpy as np

        chosen = self._scores[list(forms)]
        order = np.argsort(chosen, axis=None)[::-1][:count]
        found = []
        for place in order:
            form, first, last = (int(part) for part in np.unravel_index(place, chosen.shape))
            if chosen[form, first, last] > max(least, 1e-9):
                found.append(self._stretch(forms[form], first, last))
        return found

    def nested(self, *, at_least_one: bool) -> list[Stretch]:
        """Descriptions that lie apart or one within the other, best first."""
        kept: list[Stretch] = []
        for stretch in self._best((0, 1), 4 * _MOST_STRETCHES, LEAST):
            if all(_fits(stretch, other) for other in kept):
                kept.append(stretch)
        if not kept and at_least_one:
            kept = self._best((0, 1), 1, 0.0)
        return kept[:_MOST_STRETCHES]

    def two_parts(self) -> list[Stretch]:
        """The best part and the best one beside it, in the order of the question; none where only one stands out."""
        found = self._best((2,), 64, 0.0)
        other = next((stretch for stretch in found[1:] if _apart(stretch, found[0])), None)
        return sorted((found[0], other), key=lambda stretch: stretch.start) if other else []


def _apart(one: Stretch, other: Stretch) -> bool:
    return one.end <= other.start or other.end <= one.start


def _fits(one: Stretch, other: Stretch) -> bool:
    """Apart, or one within the other."""
    return _apart(one, other) or one.holds(other) or other.holds(one)
