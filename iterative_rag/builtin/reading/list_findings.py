"""Where a question asks for all of something, the whole list or enumeration that a value of a sentence is one of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.answer_form import fits
from iterative_rag.builtin.reading.findings import Finding
from iterative_rag.builtin.tables.table_answers import INCOMPLETE, listed
from iterative_rag.builtin.tables.table_question import asks_for_all
from iterative_rag.text.markdown_rows import is_row
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


# The share of its trust that is left to one value where all of something are asked for: there is seldom only one. Set
# by hand, as few questions that it could be fitted on ask for all of something.
SINGLE = 0.6
# "two of the best-known skyscrapers", "eight": how many there are, and not which.
_COUNT = lazy_pattern(r"(?i:two|three|four|five|six|seven|eight|nine|ten|several|many|some)\b(?! [A-Z])")

_SEVERAL = lazy_pattern(r", | and ")


def with_whole_lists(query: Query, findings: Sequence[Finding]) -> list[Finding]:
    """The findings, each with all items of the list that its value stands in if the query asks for all of them.

    A value that stands alone, or among examples, is said to be a part; one alone is trusted less, too. What only tells
    how many there are is left out.
    """
    if not findings or not asks_for_all(query):
        return list(findings)
    return [_whole(query, finding) for finding in findings if not _COUNT.match(finding.value)]


def _whole(query: Query, finding: Finding) -> Finding:
    if finding.rows or (is_row(finding.quote) and _SEVERAL.search(finding.value)):
        return finding
    items, complete = whole_list(finding.value, finding.quote)
    fitting = tuple(item for item in items if fits(query, item))
    if len(fitting) < 2:
        return replace(finding, score=SINGLE * finding.score, statement=f"{finding.statement} {INCOMPLETE}")
    said = finding.statement if complete else f"{finding.statement} {INCOMPLETE}"
    return replace(finding, value=listed(fitting), statement=said)
