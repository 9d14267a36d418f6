"""Where a question asks for all of something: what tells one of them may be only a part of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.findings import Finding
from iterative_rag.builtin.tables.table_answers import INCOMPLETE
from iterative_rag.builtin.tables.table_question import asks_for_all
from iterative_rag.text.patterns import lazy_pattern

# The share of its trust that is left to one value where all of something are asked for: there is seldom only one. Set
# by hand, as few questions that it could be fitted on ask for all of something.
SINGLE = 0.6
# "two of the best-known skyscrapers", "eight": how many there are, and not which.
_COUNT = lazy_pattern(r"(?i:two|three|four|five|six|seven|eight|nine|ten|several|many|some)\b(?! [A-Z])")
_SEVERAL = lazy_pattern(r", | and ")


def as_parts(query: Query, findings: Sequence[Finding]) -> list[Finding]:
    """The findings; if the query asks for all of something, one value is said to be a part and is trusted less, and
    what only tells how many there are is left out."""
    if not findings or not asks_for_all(query):
        return list(findings)
    return [
        finding
        if finding.rows or _SEVERAL.search(finding.value)
        else replace(finding, score=SINGLE * finding.score, statement=f"{finding.statement} {INCOMPLETE}")
        for finding in findings
        if not _COUNT.match(finding.value)
    ]
