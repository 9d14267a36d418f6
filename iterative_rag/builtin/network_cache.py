"""What the networks have said before, kept in the cache: a question that is repeated loads none of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import TypeAdapter

from iterative_rag.cache_keys import cache_key
from iterative_rag.protocols import Cache

T = TypeVar("T")


def kept(
    cache: Cache | None,
    key: Sequence[object],
    form: TypeAdapter[T],
    work: Callable[[], T],
    fits: Callable[[T], bool],
) -> T:
    """What `work` says, from the cache where that has it under `key` (JSON values, the version of the model first).

    A row is input like any other: one of another form, or that does not fit what was asked, is dropped.
    """
    if cache is None:
        return work()
    name = cache_key("builtin", *key)

    def read(row: object) -> T:
        value = form.validate_python(row)
        if not fits(value):
            raise ValueError("it does not fit what was asked")
        return value

    if (found := cache.get(name, read)) is not None:
        return found
    value = work()
    cache.put(name, form.dump_python(value, mode="json"))
    return value
