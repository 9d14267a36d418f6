"""A computed answer's draft holds the expression, its result and the facts that it is based on."""

from __future__ import annotations

import pytest

from fakes.index_free_loop import answer
from fakes.invented_articles import PAGES


@pytest.mark.parametrize(
    ("question", "short", "expression", "result", "shown"),
    [
        (
            "How many metres taller is the Long Needle than the Orm Mast?",
            "92 metres",
            "402 m - 310 m",
            "92 m",
            "402 m − 310 m = 92 m [1][2]",
        ),
        (
            "How many years after the Old Spire was completed was the Sky Pin completed?",
            "89 years",
            "1988 - 1899",
            "89",
            "1988 − 1899 = 89 [1][2]",
        ),
        (
            "Which was completed first, the Sky Pin or the Orm Mast?",
            "Orm Mast",
            "1931 < 1988",
            "true",
            "1931 < 1988 [1][2]",
        ),
        ("Was the Sky Pin completed before the Orm Mast?", "No", "1988 > 1931", "true", "1988 > 1931 [1][2]"),
        (
            "How old was Ann Orley when she died?",
            "65",
            "years(3 May 1801, 9 June 1866)",
            "65",
            "years(3 May 1801, 9 June 1866) = 65 [1][2]",
        ),
        ("In which century was Ann Orley born?", "19th century", "century(3 May 1801)", "19th century", "[1]"),
        (
            "Of the Sky Pin, the Orm Mast and the Old Spire, which was completed first?",
            "the Old Spire",
            "min(1988, 1931, 1899)",
            "1899",
            "min(1988, 1931, 1899) = 1899",
        ),
    ],
)
def test_a_computed_answer_shows_what_it_comes_from(
    question: str, short: str, expression: str, result: str, shown: str
) -> None:
    draft, inquiry, _ = answer(question, PAGES)
    assert draft.short_answer == short
    computed = draft.computations[-1]
    assert (computed.expression, computed.result) == (expression, result)
    assert computed.facts
    assert set(computed.facts) <= set(draft.cited)
    assert shown in draft.text
    said = " ".join(inquiry.facts[place].value for place in computed.facts)
    assert all(
        number in said for number in expression.replace(",", " ").split() if number.isdigit() and len(number) > 2
    )


def test_an_answer_that_was_only_looked_up_has_no_computation() -> None:
    draft, _, _ = answer("Where was the second queen of Orm born?", PAGES)
    assert draft.answered
    assert draft.computations == ()
