"""What the built-in backend computes: results, and the draft that shows each with its expression and its facts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.index_free_loop import answer
from fakes.invented_articles import PAGES
from iterative_rag.builtin.question.plan import Operation, Part
from iterative_rag.builtin.reasoning.computed_values import compute
from iterative_rag.builtin.reasoning.name_parts import part_of
from iterative_rag.computing import display


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
            "the Orm Mast",
            "1931 < 1988",
            "true",
            "1931 < 1988 [1][2]",
        ),
        (
            "How old was Ann Orley when she died?",
            "65",
            "years(3 May 1801, 9 June 1866)",
            "65",
            "years(3 May 1801, 9 June 1866) = 65 [1][2]",
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
    numbers = "".join(f"[{draft.cited.index(place) + 1}]" for place in computed.facts)
    assert shown in f"{display.shown(expression, result)} {numbers}"
    said = " ".join(inquiry.facts[place].value for place in computed.facts)
    assert all(
        number in said for number in expression.replace(",", " ").split() if number.isdigit() and len(number) > 2
    )


@pytest.mark.parametrize(
    ("operation", "values", "labels", "unit", "expected"),
    [
        (Operation.JOIN, ["Ann", "Orley"], [], "", "Ann Orley"),
        (Operation.DIFFERENCE, ["1,128 ft (344 m)", "790 ft"], [], "feet", "338 feet"),
        (Operation.DIFFERENCE, ["402 m", "1,000 ft"], [], "m", "97.2 m"),
        (Operation.DIFFERENCE, ["one hundred and five floors", "5"], [], "", "100"),
        (Operation.DIFFERENCE, ["$5m", "$3m"], [], "dollars", "2000000 dollars"),
        (Operation.DIFFERENCE, ["5 sq mi", "4 square miles"], [], "square miles", "1 square miles"),
        (Operation.YEARS, ["44 BC", "AD 14"], [], "", "57 years"),
        (Operation.YEARS, ["Sept 5, 1874", "6 September 1900"], [], "age", "26"),
        (Operation.YEARS, ["1877", "November 4, 1886"], [], "", "9 years"),
        (Operation.YEARS, ["May 3, 1801", "May 2, 1866"], [], "age", "64"),
        (Operation.YEARS, ["1889", "1877"], [], "", "12 years"),
        (Operation.YEARS, ["from 1971 to 1975"], [], "span", "4 years"),
        (Operation.YEARS, ["1999–2008"], [], "span", "9 years"),
        (Operation.YEARS, ["1877", "1889"], [], "later", "12 years"),
        (Operation.YEARS, ["1889", "1877"], [], "later", "12 years, but the other way round"),
        (Operation.DIFFERENCE, ["300 m", "330 m"], [], "metres", "30 metres, but the other way round"),
        (Operation.LEAST, ["1902", "May 1899"], ["A", "B"], "", "B"),
        (Operation.LEAST, ["mid-1980s", "1990"], ["A", "B"], "", "A"),
        (Operation.LEAST, ["mid-1980s", "1982"], ["A", "B"], "", None),
        (Operation.LEAST, ["1902", "May 1902"], ["A", "B"], "", None),
        (Operation.GREATEST, ["900 m", "1 km"], ["A", "B"], "", "B"),
        (Operation.LEAST, ["May 3, 1899", "1900"], ["Yes", "No", "No"], "", "Yes"),
        (Operation.GREATEST, ["May 3, 1900", "1900"], ["Yes", "No", "No"], "", "No"),
        (Operation.LEAST, ["1900", "May 3, 1900"], ["Yes", "No", "No"], "", None),
        (Operation.GREATEST, ["310 m", "1,000 feet"], ["Yes", "No", "No"], "", "Yes"),
        (Operation.GREATEST, ["4", "four"], ["Yes", "No", "No"], "", "No"),
        (Operation.GREATEST, ["4", "4"], ["A", "B"], "", None),
        (Operation.SAME, ["Norway", "the Norway"], [], "", "Yes"),
        (Operation.SAME, ["Norway", "Sweden"], [], "", "No"),
        (Operation.DIFFERENCE, ["tall", "790 ft"], [], "feet", None),
        (Operation.DIFFERENCE, ["790 ft", "790 ft"], [], "feet", None),
        (Operation.YEARS, ["1896", "February 1, 1896"], [], "", None),
        (Operation.YEARS, ["May 3, 1801", "June 2, 1801"], [], "age", "0"),
        (Operation.YEARS, ["October 7, 1885", "December 11, 1882"], [], "age", None),
        (Operation.YEARS, ["1885", "1882"], [], "age", None),
        (Operation.YEARS, ["then", "1886"], [], "", None),
    ],
)
def test_computing(operation: Operation, values: list[str], labels: list[str], unit: str, expected: str | None) -> None:
    worked = compute(operation, values, labels, unit, [0.5, 0.5])
    assert (worked and worked.text) == expected


@given(st.sampled_from(Operation), st.lists(st.text(max_size=30), min_size=2, max_size=2))
def test_computing_never_raises(operation: Operation, values: list[str]) -> None:
    result = compute(operation, values, ["A", "B"], "m", [0.5, 0.5])
    assert result is None or isinstance(result.text, str)


# --- parts of a name ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "part", "married", "context", "expected"),
    [
        ("Ann Berta Orley", Part.FIRST, "", "", "Ann"),
        ("Ann Berta Orley", Part.LAST, "", "", "Orley"),
        ("Ann Berta Orley", Part.MIDDLE, "", "", "Berta"),
        ("Karl Voss Jr.", Part.LAST, "", "", "Voss"),
        ("Ann van der Rohde", Part.LAST, "", "", "van der Rohde"),
        ("Ann Quill Orley", Part.MAIDEN, "Orley", "", "Quill"),
        ("Ann Quill", Part.MAIDEN, "Orley", "", "Quill"),
        ("Ann Orley, née Quill", Part.MAIDEN, "", "", "Quill"),
        ("Ann Orley", Part.MAIDEN, "", "Ann Orley, born Ann Quill, was a painter.", "Quill"),
    ],
)
def test_parts_of_names(name: str, part: Part, married: str, context: str, expected: str) -> None:
    assert part_of(name, part, married=married, context=context) == expected


@given(st.text(max_size=40), st.sampled_from(Part))
def test_no_name_breaks(name: str, part: Part) -> None:
    assert isinstance(part_of(name, part), str)
