"""What the networks have said before, kept in the cache: a question that is repeated loads none of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

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

    A row is input like any other: one of another form, or that does not fit what was asked, is as good as not there.
    """
    if cache is None:
        return work()
    name = hashlib.sha256(json.dumps(["builtin", *key]).encode()).hexdigest()
    if (row := cache.get(name)) is not None:
        try:
            value = form.validate_python(row)
        except ValidationError:
            pass
        else:
            if fits(value):
                return value
    value = work()
    cache.put(name, form.dump_python(value, mode="json"))
    return value
