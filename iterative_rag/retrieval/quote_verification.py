"""Finds a quote in a document, ignoring whitespace, typography and struck text: the check that every fact must pass."""

from __future__ import annotations

from collections.abc import Iterable

from iterative_rag.text.folding import PLAIN_SIGNS, readable
from iterative_rag.text.markup import struck
from iterative_rag.text.patterns import lazy_pattern

# A shorter quote proves nothing: it would be found almost anywhere.
SHORTEST = 4

# Soft hyphens, zero-width characters and emphasis marks are not part of the words; an ellipsis is three dots.
_DROPPED = lazy_pattern("[\u00ad\u200b-\u200d\u2060\ufeff*]")
_EDGES = " \t\n\"'.…"


def locate(quote: str, text: str, spans: Iterable[tuple[int, int]]) -> tuple[int, int] | None:
    """Offsets of `quote` in `text`, within one of `spans`; None where it is not there.

    The text between them is the document's own, which may differ from the quote in whitespace and typography.
    """
    wanted = quote.strip()
    plain = _folded(readable(wanted).strip(_EDGES))[0].strip()  # as documents are when they are indexed
    if len(plain) < SHORTEST:
        return None
    for start, end in spans:
        exact = text.find(wanted, start, end)
        if exact >= 0:
            return exact, exact + len(wanted)
        folded, places = _folded(text[start:end])
        offset = folded.find(plain)
        if offset >= 0:
            return start + places[offset], start + places[offset + len(plain) - 1] + 1
    return None


def _folded(text: str) -> tuple[str, list[int]]:
    """The text in plain typography with single spaces, and the offset that each of its characters came from."""
    characters: list[str] = []
    places: list[int] = []
    dropped = {offset for start, end in struck(text) for offset in range(start, end)}
    for offset, character in enumerate(text.translate(PLAIN_SIGNS)):
        if offset in dropped or _DROPPED.match(character):
            continue
        if character.isspace():
            if characters and characters[-1] == " ":
                continue
            character = " "
        for part in "..." if character == "…" else character:
            characters.append(part)
            places.append(offset)
    return "".join(characters), places
