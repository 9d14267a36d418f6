"""Extracts as the cache keeps them. Quotes are looked for in the document again by whoever reads (see `reading`)."""

from __future__ import annotations

import dataclasses
from typing import Any

from iterative_rag.types import Extract

_FIELDS = {field.name for field in dataclasses.fields(Extract)}


def extracts_of(value: Any) -> tuple[Extract, ...]:
    """The extracts of a JSON value. Raises ValueError where it is of another form."""
    if not isinstance(value, list):
        raise ValueError("no list of extracts")
    return tuple(_extract(row) for row in value)


def _extract(row: Any) -> Extract:
    if not isinstance(row, dict) or row.keys() != _FIELDS:
        raise ValueError("no extract")
    extract = Extract(**row)
    texts = (extract.statement, extract.quote, extract.value)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a text of an extract is no text")
    if type(extract.score) not in (int, float) or not 0 <= extract.score <= 1:
        raise ValueError("the score of an extract is not between 0 and 1")
    return extract
