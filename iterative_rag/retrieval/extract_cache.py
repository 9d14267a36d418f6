"""Caches what was extracted from a window. Quotes are verified again by the reader: a cached extract is input, too.

There is one entry for each need, whatever other needs a call asked for, so a window that was read for two needs is
found for one of them alone, and the other way round. What serves another part of the question has an entry of its own,
since it depends on the question; a need that another question asked before is found without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from iterative_rag.cache_keys import cache_key
from iterative_rag.protocols import Cache, Extractor
from iterative_rag.types import Extract, Need, Window

# Which needs and which window an extract belongs to says the key, not the entry.
_FIELDS = [field.name for field in fields(Extract) if field.name not in ("needs", "window")]


@dataclass(frozen=True, slots=True)
class ExtractCache:
    cache: Cache
    extractor: Extractor

    def get(self, needs: Sequence[Need], window: Window, question: str) -> tuple[Extract, ...] | None:
        """What the window says about all the needs and the question; None if it was not read for one of the needs."""
        found: list[Extract] = []
        for n, need in enumerate(needs):
            extracts = self.cache.get(self._key(window, need.key), _extracts)
            if extracts is None:
                return None
            found += [replace(extract, needs=(n,)) for extract in extracts]
        if question:
            found += self.cache.get(self._key(window, "question", Need(question).key), _extracts) or ()
        return tuple(found)

    def put(self, needs: Sequence[Need], window: Window, question: str, extracts: Sequence[Extract]) -> None:
        for n, need in enumerate(needs):
            self._put(self._key(window, need.key), [extract for extract in extracts if n in extract.needs])
        if question:
            unasked = [extract for extract in extracts if not extract.needs]
            self._put(self._key(window, "question", Need(question).key), unasked)

    def _put(self, key: str, extracts: Sequence[Extract]) -> None:
        self.cache.put(key, [{name: getattr(extract, name) for name in _FIELDS} for extract in extracts])

    def _key(self, window: Window, *asked: str) -> str:
        """The content, what was asked, and the version of model, prompt and schema: an edited document misses."""
        return cache_key("extract", self.extractor.fingerprint, window.title, window.text, *asked)


def _extracts(value: Any) -> tuple[Extract, ...]:
    """The extracts of a JSON value, which serve no need yet. Raises ValueError where it has another form."""
    if not isinstance(value, list):
        raise ValueError("not a list of extracts")
    return tuple(_extract(row) for row in value)


def _extract(row: Any) -> Extract:
    if not isinstance(row, dict) or row.keys() != set(_FIELDS):
        raise ValueError("not an extract")
    extract = Extract(**row, needs=())
    texts = (extract.statement, extract.quote, extract.value)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a text of an extract is not a string")
    if type(extract.score) not in (int, float) or not 0 <= extract.score <= 1:
        raise ValueError("the score of an extract is not between 0 and 1")
    return extract
