"""Takes the parts of personal names: first, middle and maiden name, surname."""

from __future__ import annotations

import re

from iterative_rag.builtin.language.function_words import word_set
from iterative_rag.builtin.question.plan import Part
from iterative_rag.text.patterns import lazy_pattern

_SUFFIX = lazy_pattern(r",?\s+(?:Jr\.?|Sr\.?|[IVX]{1,4})$")
_BORN = lazy_pattern(
    r"\b(?:née|nee|né|born|maiden name(?: was)?)\s+(?:as\s+)?([A-ZÀ-Þ][\w'’-]*(?:\s+[A-ZÀ-Þ][\w'’-]*)*)"
)
_PARTICLES = word_set("de da di du del della van von der den la le el al bin ibn ter ten st")


def bare(name: str) -> str:
    """The name without brackets, "née ..." and suffixes such as "Jr."."""
    name = re.sub(r"\s*[(\[][^)\]]*[)\]]", "", name)
    name = re.split(r",?\s+(?:née|nee|né)\s+", name)[0]
    return _SUFFIX.sub("", name.strip(" ,.;"))


def surname(name: str) -> str:
    """The last word of a name with the particles before it ("van der Rohde")."""
    parts = bare(name).split()
    start = len(parts) - 1
    while start > 1 and parts[start - 1].lower() in _PARTICLES:
        start -= 1
    return " ".join(parts[max(start, 0) :])


def part_of(name: str, part: Part, *, married: str = "", context: str = "") -> str:
    """Take a part of a name; "" if it has no words.

    `married` is a surname taken in marriage, which cannot be the maiden name; `context` is text that may state the
    maiden name ("née ...").
    """
    words = bare(name).split()
    if not words:
        return ""
    match part:
        case Part.FIRST:
            return words[0]
        case Part.MIDDLE:
            return " ".join(words[1:-1])
        case Part.LAST:
            return surname(name)
        case Part.MAIDEN:
            return _maiden(name, words, married, context)


def _maiden(name: str, words: list[str], married: str, context: str) -> str:
    own = _BORN.search(name) or (_BORN.search(context) if words[0] in context else None)
    if own:
        return surname(own[1])
    last = surname(name)
    if married and last.casefold() == married.casefold() and len(words) > 2:
        return words[-2]
    return last
