"""Where a question asks for all of something, the whole list that a value of a sentence is one of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.answer_form import fits
from iterative_rag.builtin.reading.findings import Finding
from iterative_rag.builtin.tables.enumerations import whole_list
from iterative_rag.builtin.tables.table_answers import INCOMPLETE, listed
from iterative_rag.builtin.tables.table_question import asks_for_all
from iterative_rag.text.markdown_rows import is_row
from iterative_rag.text.patterns import lazy_pattern

# The share of its trust that is left to one value where all of something are asked for: there is seldom only one. Set
# by hand, as few questions that it could be fitted on ask for all of something.
SINGLE = 0.6
# "two of the best-known skyscrapers", "eight": how many there are, and not which.
_COUNT = lazy_pattern(r"(?i:two|three|four|five|six|seven|eight|nine|ten|several|many|some)\b(?! [A-Z])")

_SEVERAL = lazy_pattern(r", | and ")


def with_whole_lists(query: Query, found: Sequence[Finding]) -> list[Finding]:
    """The findings, each with all items of the list that its value stands in if the query asks for all of them.

    A value that stands alone, or among examples, is said to be a part; one alone is trusted less, too. What only tells
    how many there are is left out.
    """
    if not found or not asks_for_all(query):
        return list(found)
    return [_whole(query, finding) for finding in found if not _COUNT.match(finding.value)]


def _whole(query: Query, finding: Finding) -> Finding:
    if finding.rows or (is_row(finding.quote) and _SEVERAL.search(finding.value)):
        return finding
    items, complete = whole_list(finding.value, finding.quote)
    fitting = tuple(item for item in items if fits(query, item))
    if len(fitting) < 2:
        return replace(finding, score=SINGLE * finding.score, statement=f"{finding.statement} {INCOMPLETE}")
    said = finding.statement if complete else f"{finding.statement} {INCOMPLETE}"
    return replace(finding, value=listed(fitting), statement=said)
