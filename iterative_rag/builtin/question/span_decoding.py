"""Decodes the splitter's scores for all spans of a question into a split: its kind and the spans it consists of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from iterative_rag.builtin.question.wording import HEADS, Act, Wording

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Encoding

    Scores = npt.NDArray[np.float32]

CONTINUED: Final = "##"  # prefix of a WordPiece that continues a word
LEAST: Final = 0.5  # score from which a span besides the best one is kept
# Score from which the best span of a question taken for a single look-up is looked up first all the same: the question
# as it stands is tried after it. 4 % of plain questions have such a span, and a fifth of the chains that were taken for
# single.
UNSURE: Final = 0.1
_MAX_SPANS: Final = 8


class QuestionKind(StrEnum):
    """How a question decomposes."""

    SINGLE = "single"  # a single look-up
    NESTED = "nested"  # contains a description that is looked up first
    COMPARISON = "comparison"  # looks up two things and compares them
    INTERSECTION = "intersection"  # one thing that meets two conditions


class Form(StrEnum):
    """The syntactic form of a span."""

    PHRASE = "phrase"  # "the director of X"
    CLAUSE = "clause"  # "X was directed by a man", before "who was born in what year"
    PART = "part"  # one side of a comparison, one of two conditions


class Asks(StrEnum):
    """What a description refers to: a person, a place, a time, a named thing, or anything else."""

    WHO = "who"
    WHERE = "where"
    WHEN = "when"
    WHICH = "which"
    WHAT = "what"


KINDS: Final = tuple(QuestionKind)
FORMS: Final = tuple(Form)
ASKS: Final = tuple(Asks)


@dataclass(frozen=True, slots=True)
class QuestionSpan:
    """A span of the question, `question[start:end]` in characters, with the network's score (0 to 1)."""

    start: int
    end: int
    form: Form
    asks: Asks
    score: float

    def holds(self, other: QuestionSpan) -> bool:
        return self.start <= other.start and other.end <= self.end and self != other


@dataclass(frozen=True, slots=True)
class Split:
    """A question with its kind and spans.

    `inner` holds the descriptions, innermost first; `probabilities` are those of KINDS.
    """

    question: str
    kind: QuestionKind
    probabilities: tuple[float, ...]
    inner: tuple[QuestionSpan, ...] = ()
    wording: Wording | None = None

    @property
    def is_sure(self) -> bool:
        """Whether the network takes the question for one of its kind; else its best description is a try."""
        return self.probabilities[KINDS.index(self.kind)] == max(self.probabilities)


# --- from scores to a split -------------------------------------------------------------------


def decoded(
    question: str,
    encoding: Encoding,
    outputs: Sequence[Scores],
) -> Split:
    """Decode the likeliest kind and its spans.

    The outputs of the network are logits: of spans, shape (len(FORMS) + len(ASKS) + 1, pieces, pieces) over (first,
    last) pieces, the last channel for names; of KINDS; and of the classes of all HEADS in a row.
    """
    import numpy as np

    scores, kinds, wordings = outputs
    probabilities = tuple(float(part) for part in _softmax(kinds))
    kind = KINDS[int(np.argmax(kinds))]
    spans = _SpanScores(scores, encoding)
    inner: list[QuestionSpan] = []
    if kind is QuestionKind.NESTED:
        inner = spans.nested()
    elif kind is QuestionKind.SINGLE and (inner := spans.best_description(UNSURE)):
        kind = QuestionKind.NESTED
    inner.sort(key=lambda span: (span.end - span.start, span.start))
    return Split(question, kind, probabilities, tuple(inner), _wording(question, wordings, spans))


def _softmax(logits: Scores) -> Scores:
    import numpy as np

    exponents = np.exp(logits - logits.max())
    probabilities: Scores = exponents / exponents.sum()
    return probabilities


def _wording(question: str, logits: Scores, spans: _SpanScores) -> Wording | None:
    """The likeliest class of each head, and the names; None for a question that the classes do not express."""
    classes, confidence, at = [], 1.0, 0
    for head in HEADS:
        probabilities = _softmax(logits[at : at + len(head)])
        best = int(probabilities.argmax())
        classes.append(head[best])
        confidence *= float(probabilities[best])
        at += len(head)
    act = Act(classes[0])
    if act is Act.OTHER:
        return None
    names, least = spans.names(1 if act is Act.LOOKUP else 2)
    texts = tuple(question[start:end] for start, end in names)
    return Wording(act, classes[1], classes[2], classes[3], texts, confidence * least)


class _SpanScores:
    """The scores of all spans that begin and end at word boundaries."""

    def __init__(self, scores: Scores, encoding: Encoding) -> None:
        import numpy as np

        special = np.array(encoding.special_tokens_mask, bool)
        goes_on = np.array([token.startswith(CONTINUED) for token in encoding.tokens], bool)
        begins = ~special & ~goes_on
        ends = ~special & ~np.append(goes_on[1:], False)
        allowed = np.triu(np.outer(begins, ends))
        self._scores = np.where(allowed, 1 / (1 + np.exp(-scores[: len(FORMS)])), 0.0)
        self._asks = scores[len(FORMS) : len(FORMS) + len(ASKS)]
        self._names = np.where(allowed, 1 / (1 + np.exp(-scores[-1])), 0.0)
        self._offsets = encoding.offsets

    def _span(self, form: int, first: int, last: int) -> QuestionSpan:
        asks = ASKS[int(self._asks[:, first, last].argmax())]
        start, end = self._offsets[first][0], self._offsets[last][1]
        return QuestionSpan(start, end, FORMS[form], asks, float(self._scores[form, first, last]))

    def _best(self, forms: Sequence[int], count: int, least: float) -> list[QuestionSpan]:
        """The `count` best spans of the given forms with a score above `least`, best first."""
        import numpy as np

        chosen = self._scores[list(forms)]
        order = np.argsort(chosen, axis=None)[::-1][:count]
        spans = []
        for index in order:
            form, first, last = (int(part) for part in np.unravel_index(index, chosen.shape))
            if chosen[form, first, last] > max(least, 1e-9):
                spans.append(self._span(forms[form], first, last))
        return spans

    def nested(self) -> list[QuestionSpan]:
        """The best descriptions that are pairwise disjoint or nested, best first; at least one."""
        kept: list[QuestionSpan] = []
        for span in self._best((0, 1), 4 * _MAX_SPANS, LEAST):
            if all(_fits(span, other) for other in kept):
                kept.append(span)
        return kept[:_MAX_SPANS] or self.best_description(0.0)

    def best_description(self, least: float) -> list[QuestionSpan]:
        return self._best((0, 1), 1, least)

    def names(self, count: int) -> tuple[list[tuple[int, int]], float]:
        """The best `count` names that do not overlap, in question order, and the score of the weakest."""
        import numpy as np

        spans: list[tuple[int, int]] = []
        least = 1.0
        for index in np.argsort(self._names, axis=None)[::-1][:64]:
            first, last = divmod(int(index), self._names.shape[1])
            start, end = self._offsets[first][0], self._offsets[last][1]
            if all(end <= other[0] or other[1] <= start for other in spans):
                spans.append((start, end))
                least = min(least, float(self._names[first, last]))
            if len(spans) == count:
                return sorted(spans), least
        return [], 0.0


def _fits(span: QuestionSpan, other: QuestionSpan) -> bool:
    """Whether two spans are disjoint or nested."""
    apart = span.end <= other.start or other.end <= span.start
    return apart or span.holds(other) or other.holds(span)
