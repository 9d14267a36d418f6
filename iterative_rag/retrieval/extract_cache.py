"""Caches what was extracted from a window. Quotes are verified again by the reader: a cached extract is input, too.

There is one entry for each need, whatever other needs a call asked for, so a window that was read for two needs is
found for one of them alone, and the other way round. What serves another part of the question has an entry of its own,
since it depends on the question; a need that another question asked before is found without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from iterative_rag.protocols import Cache, Extractor
from iterative_rag.remote.reply_limits import MAX_FIELD_CHARS
from iterative_rag.storage.cache import cache_key
from iterative_rag.types import Extract, Need, Window

# Which needs and which window an extract belongs to says the key, not the entry.
_TEXTS = ("statement", "quote", "value")
# The extracts of one window, far more than a model is asked for.
MOST_EXTRACTS = 1000


@dataclass(frozen=True, slots=True)
class ExtractCache:
    cache: Cache
    extractor: Extractor

    def get(self, needs: Sequence[Need], window: Window, question: str) -> tuple[Extract, ...] | None:
        """What the window says about all the needs and the question; None if it was not read for one of the needs."""
        gathered: list[Extract] = []
        for n, need in enumerate(needs):
            extracts = self.cache.get(self._key(window, need.key), _extracts)
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
        if question:
            unasked = [extract for extract in extracts if not extract.needs]
            self._put(self._key(window, "question", Need(question).key), unasked)

    def _put(self, key: str, extracts: Sequence[Extract]) -> None:
        self.cache.put(key, [{name: getattr(extract, name) for name in (*_TEXTS, "score")} for extract in extracts])

    def _key(self, window: Window, *asked: str) -> str:
        """The content, what was asked, and the version of model, prompt and schema: an edited document misses."""
        return cache_key("extract", self.extractor.fingerprint, window.title, window.text, *asked)


def _extracts(value: Any) -> tuple[Extract, ...]:
    """The extracts of a JSON value, which serve no need yet. Raises ValueError where it has another form."""
    if not isinstance(value, list) or len(value) > MOST_EXTRACTS or not all(map(_is_extract, value)):
        raise ValueError("not a list of facts")
    return tuple(Extract(**row, needs=()) for row in value)


def _is_extract(row: Any) -> bool:
    if not isinstance(row, dict) or row.keys() != {*_TEXTS, "score"}:
        return False
    short = all(isinstance(row[name], str) and len(row[name]) <= MAX_FIELD_CHARS for name in _TEXTS)
    return short and type(row["score"]) in (int, float) and 0 <= row["score"] <= 1
