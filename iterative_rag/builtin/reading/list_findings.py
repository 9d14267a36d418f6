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

# The share of its trust that is left to one value of a sentence where all of something are asked for.
SINGLE = 0.75


def with_whole_lists(query: Query, found: Sequence[Finding]) -> list[Finding]:
    """The findings, each with all items of the list that its value stands in if the query asks for all of them.

    A value that stands alone, or among examples, is said to be a part; one alone is trusted less, too: seldom is there
    only one.
    """
    if not found or not asks_for_all(query):
        return list(found)
    return sorted((_whole(query, finding) for finding in found), key=lambda finding: -finding.score)


def _whole(query: Query, finding: Finding) -> Finding:
    if finding.rows or finding.quote.startswith("|"):
        return finding
    items, complete = whole_list(finding.value, finding.quote)
    fitting = tuple(item for item in items if fits(query, item))
    if len(fitting) < 2:
        return replace(finding, score=SINGLE * finding.score, statement=f"{finding.statement} {INCOMPLETE}")
    said = finding.statement if complete else f"{finding.statement} {INCOMPLETE}"
    return replace(finding, value=listed(fitting), statement=said)
