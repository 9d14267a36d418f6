"""Arithmetic, units, lists and tables: exact, and the same as Python's fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from iterative_rag.computing import ComputeError, compute, evaluate
from iterative_rag.computing.operands import Amount
from iterative_rag.text import units
from tests.tables import table

Tree = tuple[str, Fraction]


def _number(digits: tuple[int, int, int]) -> Tree:
    whole, part, places = digits
    text = f"{whole}.{part:0{places}d}" if places else str(whole)
    return text, Fraction(text)


def _joined(pair: tuple[str, Tree, Tree]) -> Tree:
    sign, (left, one), (right, other) = pair
    values = {"+": one + other, "-": one - other, "*": one * other}
    value = one / other if sign == "/" and other else values.get(sign, Fraction(0))
    if sign == "/" and not other:
        return f"({left} + {right})", one + other
    return f"({left} {sign} {right})", value


def _raised(pair: tuple[Tree, int]) -> Tree:
    (text, value), power = pair
    # The power binds more than a sign before it: -2^2 is -4.
    return (f"({text})^{power}", value**power) if value or power > 0 else (text, value)


def _changed(pair: tuple[str, Tree]) -> Tree:
    how, (text, value) = pair
    if how == "negated":
        return f"-({text})", -value
    if how == "percent":
        return f"(({text})% * 1)", value / 100
    return f"sum([{text}, 1, 0.5])", value + Fraction(3, 2)


NUMBERS = st.tuples(st.integers(0, 10**6), st.integers(0, 999), st.sampled_from([0, 0, 3])).map(_number)
TREES = st.recursive(
    NUMBERS,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from("+-*/"), inner, inner).map(_joined),
        st.tuples(inner, st.integers(0, 4)).map(_raised),
        st.tuples(st.sampled_from(["negated", "percent", "sum"]), inner).map(_changed),
    ),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(TREES)
def test_an_expression_is_what_fractions_say(tree: Tree) -> None:
    text, expected = tree
    assume(max(expected.numerator.bit_length(), expected.denominator.bit_length()) < 400)
    assert evaluate(text) == Amount(expected)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("+-*/"), st.integers(1, 999)), min_size=1, max_size=12), st.integers(1, 999))
def test_operators_bind_as_in_arithmetic(rest: list[tuple[str, int]], first: int) -> None:
    text = str(first) + "".join(f" {sign} {number}" for sign, number in rest)
    # Python's own precedence, over fractions: sums of products.
    terms, sign = [Fraction(first)], Fraction(1)
    for operator, number in rest:
        if operator in "+-":
            terms.append(Fraction(number) * (1 if operator == "+" else -1))
        else:
            terms[-1] = terms[-1] * number if operator == "*" else terms[-1] / number
    assert evaluate(text) == Amount(sign * sum(terms))


@settings(max_examples=100, deadline=None)
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
    for unit in units.names():
        if units.dimension(unit) not in ("money", "share"):
            assert compute(f"5 {units.plural(unit)}") == f"5 {units.plural(unit)}"
            assert units.unit_of(units.plural(unit)) == unit


@pytest.mark.parametrize(("expression", "reason"), table(__file__, "refused"))
def test_what_cannot_be_computed_is_refused_with_advice(expression: str, reason: str) -> None:
    with pytest.raises(ComputeError, match=reason):
        compute(expression)


SIGNS = st.sampled_from("0123456789.,+-*/^%()[]{}:'\"<>= abcdeimnorstuxyADBC°²\n")


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.text(max_size=60), st.text(alphabet=SIGNS, max_size=60)))
def test_no_text_breaks_it(text: str) -> None:
    try:
        result = compute(text)
    except ComputeError as error:
        result = str(error)
    assert result or text
