"""Caches what was extracted from a window. Quotes are verified again by the reader: a cached extract is input, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from iterative_rag.cache_keys import cache_key
from iterative_rag.protocols import Cache, Extractor
from iterative_rag.types import Extract, Need, Window

_FIELDS = {field.name for field in fields(Extract)}


@dataclass(frozen=True, slots=True)
class ExtractCache:
    cache: Cache
    extractor: Extractor

    def get(self, need: Need, window: Window) -> tuple[Extract, ...] | None:
        return self.cache.get(self._key(need, window), _extracts)

    def put(self, need: Need, window: Window, extracts: Sequence[Extract]) -> None:
        self.cache.put(self._key(need, window), [asdict(extract) for extract in extracts])

    def _key(self, need: Need, window: Window) -> str:
        """The content, the need, and the version of model, prompt and schema: an edited document misses."""
        return cache_key("extract", self.extractor.fingerprint, window.title, window.text, need.key)


def _extracts(value: Any) -> tuple[Extract, ...]:
    """The extracts of a JSON value. Raises ValueError where it has another form."""
    if not isinstance(value, list):
        raise ValueError("not a list of extracts")
    return tuple(_extract(row) for row in value)


def _extract(row: Any) -> Extract:
    if not isinstance(row, dict) or row.keys() != _FIELDS:
        raise ValueError("not an extract")
    extract = Extract(**row)
    texts = (extract.statement, extract.quote, extract.value)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a text of an extract is not a string")
    if type(extract.score) not in (int, float) or not 0 <= extract.score <= 1:
        raise ValueError("the score of an extract is not between 0 and 1")
    return extract
