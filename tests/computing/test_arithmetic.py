"""Arithmetic, units, lists and tables: exact, and the same as Python's fractions."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from iterative_rag.computing import ComputeError, compute, evaluate
from iterative_rag.computing.operands import Amount
from iterative_rag.text import units
from tests.tables import table

NUMBERS = st.one_of(
    st.integers(0, 10**6).map(str), st.builds("{}.{:03}".format, st.integers(0, 10**6), st.integers(0, 999))
)
EXPRESSIONS = st.recursive(
    NUMBERS,
    lambda inner: st.one_of(
        st.builds("{} {} {}".format, inner, st.sampled_from("+-*/"), inner),
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner),
        st.builds("({})^{}".format, inner, st.integers(0, 4)),
        st.builds("-({})".format, inner),
        st.builds("(({})% * 1)".format, inner),
        st.builds("sum([{}, 1, 0.5])".format, inner),
    ),
    max_leaves=8,
)


@given(EXPRESSIONS)
@example("-2^2 + 3 * 4 / 5 - 6")
def test_an_expression_is_what_python_makes_of_it_with_fractions(expression: str) -> None:
    exact = re.sub(r"\d+(\.\d+)?", r"Fraction('\g<0>')", expression).replace("^", "**").replace("%", "/100")
    try:
        expected = eval(exact)  # noqa: S307
    except ZeroDivisionError:
        assume(False)
    assume(max(expected.numerator.bit_length(), expected.denominator.bit_length()) < 400)
    assert evaluate(expression) == Amount(expected)


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=30))
def test_lists_are_what_python_says(numbers: list[int]) -> None:
    listed = f"[{', '.join(map(str, numbers))}]"
    ordered = sorted(numbers)
    assert compute(f"sum({listed})") == str(sum(numbers))
    assert evaluate(f"mean({listed})") == Amount(Fraction(sum(numbers), len(numbers)))
    assert (compute(f"min({listed})"), compute(f"max({listed})")) == (str(ordered[0]), str(ordered[-1]))
    assert compute(f"sort({listed}, desc)") == ", ".join(map(str, ordered[::-1]))
    assert compute(f"nth({len(numbers)}, asc, {listed})") == str(ordered[-1])


@pytest.mark.parametrize(
    ("expression", "expected"), [row for kind in ("numbers", "units", "lists") for row in table(__file__, kind)]
)
def test_numbers_units_and_lists(expression: str, expected: str) -> None:
    assert compute(expression) == expected


def test_an_expression_knows_every_unit_by_its_english_name() -> None:
    for unit, dimension in units.dimensions().items():
        if dimension not in ("money", "share"):
            assert compute(f"5 {units.plural(unit)}") == f"5 {units.plural(unit)}"
            assert units.unit_of(units.plural(unit)) == unit


@pytest.mark.parametrize(("expression", "reason"), table(__file__, "refused"))
def test_what_cannot_be_computed_is_refused_with_advice(expression: str, reason: str) -> None:
    with pytest.raises(ComputeError, match=reason):
        compute(expression)


SIGNS = st.sampled_from("0123456789.,+-*/^%()[]{}:'\"<>= abcdeimnorstuxyADBC°²\n")


@given(st.one_of(st.text(max_size=60), st.text(alphabet=SIGNS, max_size=60)))
def test_no_text_breaks_it(text: str) -> None:
    try:
        result = compute(text)
    except ComputeError as error:
        result = str(error)
    assert result or text
