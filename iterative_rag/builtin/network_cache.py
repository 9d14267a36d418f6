"""Caches the outputs of the networks, so that a repeated question loads none of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import TypeAdapter

from iterative_rag.protocols import Cache
from iterative_rag.storage.cache_keys import cache_key

T = TypeVar("T")


def cached_result(
    cache: Cache | None,
    key: Sequence[object],
    form: TypeAdapter[T],
    work: Callable[[], T],
    fits: Callable[[T], bool],
) -> T:
    """Return the cached result of `work` under `key`, or compute and cache it.

    `key` consists of JSON values: what is computed, versions of code and model, the input. A cached row is untrusted
    input: one that is invalid for `form`, or for which `fits` is false, is dropped and computed again.
    """
    if cache is None:
        return work()
    name = cache_key("builtin", *key)

    def read(row: object) -> T:
        value = form.validate_python(row)
        if not fits(value):
            raise ValueError("the row does not fit its key")
        return value

    if (found := cache.get(name, read)) is not None:
        return found
    value = work()
    cache.put(name, form.dump_python(value, mode="json"))
    return value
