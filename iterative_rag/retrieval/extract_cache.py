"""Caches what was extracted from a window. Quotes are verified again by the reader: a cached extract is input, too.

There is one entry for each need, whatever other needs a call asked for, so a window that was read for two needs is
found for one of them alone, and the other way round. What serves another part of the question has an entry of its own,
since it depends on the question; a need that another question asked before is found without it.

A need in other words is found, too, where `same_need` takes it for the same and its window had a value for it: each
window has a list of the needs that it answered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from iterative_rag.protocols import Cache, Extractor, Vectors
from iterative_rag.remote.reply_limits import MAX_FIELD_CHARS
from iterative_rag.retrieval.same_need import same_need
from iterative_rag.storage.cache_keys import cache_key
from iterative_rag.types import Extract, Need, Window

# Which needs and which window an extract belongs to says the key, not the entry.
_ANSWERED = ("answered needs", "")
_TEXTS = ("statement", "quote", "value")


# The needs that are remembered of a window, and the characters of one; a longer need is found in its own words only.
MOST_NEEDS, LONGEST_NEED = 32, 500
# The extracts of one window, far more than a model is asked for.
MOST_EXTRACTS = 1000


@dataclass(frozen=True, slots=True)
class ExtractCache:
    """`embed` makes the vector of a need; None finds needs in the same words only."""

    cache: Cache
    extractor: Extractor
    embed: Callable[[str], Vectors] | None = None

    def get(self, needs: Sequence[Need], window: Window, question: str) -> tuple[Extract, ...] | None:
        """What the window says about all the needs and the question; None if it was not read for one of the needs."""
        gathered: list[Extract] = []
        for n, need in enumerate(needs):
            extracts = self.cache.get(self._key(window, need.key), _extracts)
            if extracts is None:
                extracts = self._in_other_words(need, window)
            if extracts is None:
                return None
            gathered += [replace(extract, needs=(n,)) for extract in extracts]
        if question:
            gathered += self.cache.get(self._key(window, "question", Need(question).key), _extracts) or ()
        return tuple(gathered)

    def put(self, needs: Sequence[Need], window: Window, question: str, extracts: Sequence[Extract]) -> None:
        for n, need in enumerate(needs):
            served = [extract for extract in extracts if n in extract.needs]
            self._put(self._key(window, need.key), served)
            if self.embed and any(extract.value for extract in served):
                self._remember(need, window)
        if question:
            unasked = [extract for extract in extracts if not extract.needs]
            self._put(self._key(window, "question", Need(question).key), unasked)

    def _in_other_words(self, need: Need, window: Window) -> tuple[Extract, ...] | None:
        """What the window said about the same need in other words; None where it was not asked so."""
        if self.embed is None:
            return None
        same = same_need(need.question, self._answered(window), self.embed)
        extracts = self.cache.get(self._key(window, Need(same).key), _extracts) if same else None
        return extracts if extracts and any(extract.value for extract in extracts) else None

    def _answered(self, window: Window) -> list[str]:
        """The needs that the window had a value for, the latest last."""
        return self.cache.get(self._key(window, *_ANSWERED), _needs) or []

    def _remember(self, need: Need, window: Window) -> None:
        question = " ".join(need.question.split())
        others = [other for other in self._answered(window) if other != question]
        if len(question) <= LONGEST_NEED:
            self.cache.put(self._key(window, *_ANSWERED), [*others, question][-MOST_NEEDS:])

    def _put(self, key: str, extracts: Sequence[Extract]) -> None:
        self.cache.put(key, [{name: getattr(extract, name) for name in (*_TEXTS, "score")} for extract in extracts])

    def _key(self, window: Window, *asked: str) -> str:
        """The content, what was asked, and the version of model, prompt and schema: an edited document misses."""
        return cache_key("extract", self.extractor.fingerprint, window.title, window.text, *asked)


def _needs(value: Any) -> list[str]:
    """The needs of a JSON value. Raises ValueError where it has another form."""
    if not isinstance(value, list) or len(value) > MOST_NEEDS:
        raise ValueError("not a list of needs")
    if not all(isinstance(need, str) and len(need) <= LONGEST_NEED for need in value):
        raise ValueError("a need is not a short text")
    return value


def checked_rows(value: Any, texts: Sequence[str], most: int, longest: int) -> list[dict[str, Any]]:
    """A JSON value as rows with these texts and a score from 0 to 1. Raises ValueError where it has another form."""
    if not isinstance(value, list) or len(value) > most:
        raise ValueError("not a list of facts")
    for row in value:
        if not isinstance(row, dict) or row.keys() != {*texts, "score"}:
            raise ValueError("not a fact")
        if not all(isinstance(row[name], str) and len(row[name]) <= longest for name in texts):
            raise ValueError("a text of a fact is not a short string")
        if type(row["score"]) not in (int, float) or not 0 <= row["score"] <= 1:
            raise ValueError("the score of a fact is not between 0 and 1")
    return value


def _extracts(value: Any) -> tuple[Extract, ...]:
    """The extracts of a JSON value, which serve no need yet. Raises ValueError where it has another form."""
    rows = checked_rows(value, _TEXTS, MOST_EXTRACTS, MAX_FIELD_CHARS)
    return tuple(Extract(**row, needs=()) for row in rows)
