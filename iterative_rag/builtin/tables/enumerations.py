"""Lists within a sentence: where a question asks for all of something, the whole enumeration that a value stands in."""

from __future__ import annotations

from iterative_rag.text.patterns import lazy_pattern

# "Č" and "Ž" lie beyond the letters of A-ZÀ-Þ.
_LARGE = "".join(letter for letter in map(chr, range(0x530)) if letter.isupper())
_NAME = (
    rf"(?:the )?[{_LARGE}][\w'’.-]*(?:(?: (?:of|de|the|von|la|le|du))? [{_LARGE}\d][\w'’.-]*)*(?: \([^()]{{1,60}}\))?"
)
# "Abraham Lincoln in 1865, James A. Garfield in 1881 ..."
_YEAR = r"(?: in \d{4})"
_WORD = r"(?!and\b|or\b|of\b|in\b|the\b)[a-zà-þ][\w'’-]+(?: (?!and\b|or\b)[a-zà-þ][\w'’-]+)?"
_LINKS = r"(?:, and |, or |, | and | or )"
_LISTS = tuple(lazy_pattern(rf"(?<!\w){item}(?:{_LINKS}{item})+(?!\w)") for item in (rf"{_NAME}{_YEAR}?", _WORD))
_IN_YEAR = lazy_pattern(rf"{_YEAR}$")
_LINK = lazy_pattern(rf"{_LINKS}(?![^(]*\))")
# What follows or precedes these words are examples.
_EXAMPLES = lazy_pattern(
    r"\b(?:such as|including|includes?|among (?:them|others)|for example|e\.g\.|notably|and others)\b"
)

# How far around a value its list is looked for, in characters.
REACH = 600


def whole_list(value: str, quote: str) -> tuple[tuple[str, ...], bool]:
    """The items of the enumeration in a sentence that a value is one of, or several of, and whether they are all.

    Only the value where it stands in no enumeration.
    """
    at = quote.find(value)
    quote, at = quote[max(0, at - REACH) : at + REACH], min(at, REACH)
    for pattern in _LISTS:
        for match in pattern.finditer(quote) if at >= 0 else ():
            items = tuple(_IN_YEAR.sub("", item.removeprefix("the ").strip(" .")) for item in _LINK.split(match[0]))
            if match.start() <= at and at + len(value) <= match.end() and value.removeprefix("the ") and len(items) > 1:
                return items, _EXAMPLES.search(quote) is None
    return (value,), True
