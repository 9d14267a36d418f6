"""What a document says of itself besides its text, as pairs of a key and a value, within bounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from iterative_rag.types import Document
from iterative_rag.types.documents import Metadata, as_field

# Of one document: pairs, and characters of a key and of a value. A longer value is no label but a text, and left out.
MAX_PAIRS = 64
MAX_KEY_CHARS = 100
MAX_VALUE_CHARS = 500


def metadata_of(pairs: Iterable[tuple[str, str]]) -> Metadata:
    """Those pairs that are within the bounds, each value on one line, in the order given and each once."""
    fields: dict[tuple[str, str], None] = {}
    for key, value in pairs:
        name, held = as_field(key), as_field(value)
        if name and held and len(name) <= MAX_KEY_CHARS and len(held) <= MAX_VALUE_CHARS:
            fields[name, held] = None
        if len(fields) == MAX_PAIRS:
            break
    return tuple(fields)


def scalars(fields: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """The values of a record that are text, numbers or truth values; of a list each one."""
    for key, value in fields.items():
        for item in value if isinstance(value, list | tuple) else (value,):
            if isinstance(item, bool):
                yield key, str(item).lower()
            elif isinstance(item, str | int | float):
                yield key, str(item)


# The key under which a document tells what its file holds and its text does not.
NOT_READ = "not read"


def not_read(kinds: Mapping[str, int]) -> list[tuple[str, str]]:
    """The metadata of a document whose text lacks parts of its file: how many of each kind ("charts without text")."""
    return [(NOT_READ, f"{kind}: {count}") for kind, count in kinds.items() if count]


def kinds_not_read(document: Document) -> Counter[str]:
    """What `not_read` put into the metadata of a document, and the sections without their rows."""
    counts = (value.rpartition(": ") for key, value in document.metadata if key == NOT_READ)
    kinds = Counter({kind: int(count) for kind, _, count in counts if kind and count.isdecimal()})
    return kinds + Counter({"sections whose rows are missing": len(document.lost_rows)})


def told(kinds: Mapping[str, int]) -> str:
    """`charts without text: 3, hidden sheets: 1`."""
    return ", ".join(f"{kind}: {count:,}" for kind, count in kinds.items())
