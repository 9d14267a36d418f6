"""What a document says of itself besides its text, as pairs of a key and a value, within bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from iterative_rag.types.documents import Metadata, as_field

# Of one document: pairs, and characters of a key and of a value. A longer value is no label but a text, and left out.
MAX_PAIRS = 64
MAX_KEY_CHARS = 100
MAX_VALUE_CHARS = 500


def metadata_of(pairs: Iterable[tuple[str, str]]) -> Metadata:
    """Those pairs that are within the bounds, each value on one line, in the order given and each once."""
    found: dict[tuple[str, str], None] = {}
    for key, value in pairs:
        name, held = as_field(key), as_field(value)
        if name and held and len(name) <= MAX_KEY_CHARS and len(held) <= MAX_VALUE_CHARS:
            found[name, held] = None
        if len(found) == MAX_PAIRS:
            break
    return tuple(found)


def scalars(fields: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """The values of a record that are text, numbers or truth values; of a list each one."""
    for key, value in fields.items():
        for one in value if isinstance(value, list | tuple) else (value,):
            if isinstance(one, bool):
                yield key, str(one).lower()
            elif isinstance(one, str | int | float):
                yield key, str(one)
