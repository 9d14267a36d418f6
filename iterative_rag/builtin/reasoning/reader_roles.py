"""The trained reader as a grader, as a reranker, and as a second pair of eyes on a quote; what it reads is cached."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from pydantic import TypeAdapter

from iterative_rag.builtin.language.value_agreement import agree, says_yes
from iterative_rag.builtin.networks import cached_result, log_odds
from iterative_rag.builtin.reading.evidence_reader import EvidenceReader, PassageText
from iterative_rag.protocols import Cache
from iterative_rag.types import Grade, Need
from iterative_rag.types.correcting import scored

# A text of several that are needed for an answer does not answer by itself, and the reader says so: taken as it is, its
# probability would grade half of the shortlists of multi-hop questions "incorrect" although they hold gold paragraphs.
# So the log odds are weighed down and shifted. Both numbers were set by hand on half B of 2WikiMultihopQA
# and MuSiQue; they were not set anew for later weights of the reader.
WEIGHT, SHIFT = 0.6, 1.0
# Spans of the quote among which the value is looked for, and the least share of one that is it. Where none is, the
# quote answers with something else: so much of its chance is left.
SPANS, SHARE, ELSEWHERE = 3, 0.1, 0.3
DECISIONS = frozenset({"yes", "no"})
# How likely a text answers, says yes and says no, and its likeliest spans with their shares.
Look = tuple[float, float, float, list[tuple[str, float]]]


class ReaderRoles:
    """Implements protocols.Grader, Reranker and QuoteReader. The network is loaded at the first text that the cache
    does not hold. Every method raises WeightsError if the weights are missing or damaged."""

    def __init__(self, reader: EvidenceReader | None = None, cache: Cache | None = None) -> None:
        self._reader = reader or EvidenceReader()
        self._cache = cache

    @property
    def name(self) -> str:
        return self._reader.name

    @property
    def weights(self) -> dict[str, dict[str, float]]:
        """What was fitted for each kind of finding."""
        return self._reader.weights

    def grade(self, need: Need, texts: Sequence[tuple[str, str]]) -> tuple[Grade, ...]:
        """Grade texts, given as (title, text), by their best window; a text without words gets 0."""
        return tuple(map(_grade, self._looks(need.question, texts)))

    def relevance(self, query: str, passages: Sequence[tuple[str, str]]) -> list[float]:
        """The probability that each passage alone answers the question."""
        return [answerable for answerable, *_ in self._looks(query, passages)]

    def chance(self, need: str, value: str, title: str, quote: str) -> float:
        """How likely the quote alone answers the need with the value."""
        (look,) = self._looks(need, [(title, quote)])
        share = _share(value, look)
        if value.casefold() in DECISIONS:
            return share
        return round(look[0] * (1.0 if share >= SHARE else ELSEWHERE), 4)

    def share(self, need: str, value: str, text: str) -> float:
        """The share of the value among what the reader finds for the need in a text; of yes or no, how likely it is."""
        return _share(value, self._looks(need, [("", text)])[0])

    def looks(self, need: str, texts: Sequence[str]) -> list[Look]:
        """What is found in each text."""
        return self._looks(need, [("", text) for text in texts])

    def _looks(self, need: str, texts: Sequence[tuple[str, str]]) -> list[Look]:
        def read() -> list[Look]:
            readings = self._reader.read(need, [PassageText(title, "", text) for title, text in texts], best=SPANS)
            return [
                (seen.answerable, seen.yes, seen.no, [(span.text, min(1.0, span.probability)) for span in seen.spans])
                for seen in readings
            ]

        def fits(looks: Sequence[Look]) -> bool:
            chances = [chance for *heads, spans in looks for chance in (*heads, *(share for _, share in spans))]
            return len(looks) == len(texts) and all(0 <= chance <= 1 for chance in chances)

        return cached_result(self._cache, ["looks", self._reader.name, need, texts], _form(), read, fits)


@lru_cache(maxsize=1)
def _form() -> TypeAdapter[list[Look]]:
    return TypeAdapter(list[Look])


def _share(value: str, look: Look) -> float:
    _, yes, no, spans = look
    if value.casefold() in DECISIONS:
        return yes if says_yes(value) else no
    return max((share for text, share in spans if agree(text, value)), default=0.0)


def _grade(look: Look) -> Grade:
    answerable, _, _, spans = look
    if not spans:
        return scored(0.0, "There are no words to read.")
    score = round(1 / (1 + math.exp(-(WEIGHT * log_odds(answerable) + SHIFT))), 4)
    return scored(score, f"The reader finds “{spans[0][0]}” ({score:.2f}).")
