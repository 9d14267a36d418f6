"""Keys of cache entries: a hash of everything that the cached value depends on."""

from __future__ import annotations

import hashlib
import json


def cache_key(kind: str, *parts: object) -> str:
    """The key of a cached value.

    `kind` names what is cached ("llm", "extract" ...). `parts` are JSON values: the content that was read, the model,
    and the versions of prompt and schema. A change of any of them is a miss.
    """
    return hashlib.sha256(json.dumps([kind, *parts]).encode()).hexdigest()
