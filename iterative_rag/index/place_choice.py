"""From the value of `--index` to the place where vectors lie."""

from __future__ import annotations

from collections.abc import Callable

from iterative_rag.errors import UsageError
from iterative_rag.index.vector_store import LOCAL, PlaceOf
from iterative_rag.registry import STORES


def places_at(address: str) -> PlaceOf:
    """The store is chosen by the scheme of the address; "" is `local`. Raises UsageError, and calls no server."""
    address = address.strip() or LOCAL
    scheme, separator, _ = address.partition("://")
    entry = STORES.get(scheme.lower())
    if entry is None or bool(separator) != ("://" in entry.form):
        # Not echoed in full: there may be a password before "@".
        raise UsageError(f"--index cannot be {address.split('@')[-1][:60]!r}.", hint=f"Use {STORES.forms}.")
    build: Callable[[str], PlaceOf] = STORES.load(entry.name)
    return build(address)
