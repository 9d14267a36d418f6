"""Arithmetic, units, lists and tables: exact, and the same as Python's fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from iterative_rag.computing import ComputeError, compute, evaluate
from iterative_rag.computing.operands import Scalar

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


@settings(max_examples=400, deadline=None)
@given(TREES)
def test_an_expression_is_what_fractions_say(tree: Tree) -> None:
    text, expected = tree
    assume(max(expected.numerator.bit_length(), expected.denominator.bit_length()) < 400)
    assert evaluate(text) == Scalar(expected)


@settings(max_examples=200, deadline=None)
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
    assert evaluate(text) == Scalar(sign * sum(terms))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=30))
def test_lists_are_what_python_says(numbers: list[int]) -> None:
    listed = f"[{', '.join(map(str, numbers))}]"
    ordered = sorted(numbers)
    assert compute(f"sum({listed})") == str(sum(numbers))
    assert evaluate(f"mean({listed})") == Scalar(Fraction(sum(numbers), len(numbers)))
    assert (compute(f"min({listed})"), compute(f"max({listed})")) == (str(ordered[0]), str(ordered[-1]))
    assert compute(f"sort({listed}, desc)") == ", ".join(map(str, ordered[::-1]))
    assert compute(f"nth({len(numbers)}, asc, {listed})") == str(ordered[-1])


@settings(max_examples=100, deadline=None)
@given(
    st.integers(-(10**9), 10**9),
    st.sampled_from([("ft", "m"), ("mile", "km"), ("kg", "lb"), ("°C", "°F"), ("hour", "s")]),
)
def test_there_and_back_is_the_same(thousandths: int, pair: tuple[str, str]) -> None:
    number = Fraction(thousandths, 1000)
    unit, other = pair
    said = compute(f"convert(convert({float(number):.3f} {unit}, {other}), {unit})")
    assert Fraction(said.removesuffix(f" {unit}")) == number


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("15 % of 240", "36"),
        ("15% of 240", "36"),
        ("1/3 of 240", "80"),
        ("5% + 10%", "15%"),
        ("percent(3, 4)", "75%"),
        ("change(200, 250)", "25%"),
        ("change(250, 200)", "-20%"),
        ("240 * 115%", "276"),
        ("10 / 3", "3.333333"),
        ("2 / 3", "0.666667"),
        ("1 / 10^9", "0.000000001"),
        ("-2^2", "-4"),
        ("2^3^2", "512"),
        ("2^-1", "0.5"),
        ("round(2.5)", "3"),
        ("round(-2.5)", "-3"),
        ("round(10 / 3, 2)", "3.33"),
        ("round(1234, -2)", "1200"),
        ("round(33.333%, 1)", "33.3%"),
        ("1,234,567 + 1", "1234568"),
        ("(1,234 + 1) * 2", "2470"),
        ("1.4 million + 600 thousand", "2000000"),
        ("$1.5 million − $900,000", "600000"),
        ("3 × 4 ÷ 2 – 1", "5"),
        ("1 < 2 <= 2 != 3", "true"),
    ],
)
def test_numbers(expression: str, expected: str) -> None:
    assert compute(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("convert(12 ft, m)", "3.6576 m"),
        ("12 ft to m", "3.6576 m"),
        ("12 ft in m", "3.6576 m"),
        ("convert(12 in, 'cm')", "30.48 cm"),
        ("5 ft 11 in in cm", "180.34 cm"),
        ("1 mile in km", "1.609344 km"),
        ("1 km + 500 m", "1.5 km"),
        ("500 m + 1 km in km", "1.5 km"),
        ("1128 ft - 790 ft", "338 ft"),
        ("20 °C to °F", "68 °F"),
        ("convert(68 degrees Fahrenheit, °C)", "20 °C"),
        ("0 K to °C", "-273.15 °C"),
        ("20 °C - 15 °C", "5 °C"),
        ("mean(20 °C, 68 °F, 50 °F)", "16.666667 °C"),
        ("60 miles per hour to km/h", "96.56064 km/h"),
        ("10 km² in square miles", "3.861022 square miles"),
        ("2 m * 3", "6 m"),
        ("1 ft / 1 m", "0.3048"),
        ("2 hours + 30 minutes in minutes", "150 minutes"),
        ("3 weeks in days", "21 days"),
        ("2 decades in years", "20 years"),
        ("5 lb in kg", "2.267962 kg"),
        ("3 light years > 1 km", "true"),
        ("442 m > 1000 ft", "true"),
        ("argmax({Needle: 442 m, Mast: 1600 ft})", "Mast"),
        ("max([442 m, 1600 ft])", "1600 ft"),
        ("sum([1 km, 200 m, 3 ft])", "1.200914 km"),
        ("round(12 ft to m, 1)", "3.7 m"),
    ],
)
def test_units(expression: str, expected: str) -> None:
    assert compute(expression) == expected


TABLE = """| City | People | Founded |
|---|---|---|
| Orm | 900 | 1 March 1912 |
| Ut | 1,100 [a] | 1899 |
| Vo | 45 | 1950 |"""


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("median([1, 2, 3, 4])", "2.5"),
        ("max(3, 9, 4)", "9"),
        ("count([Paris, Rome, Oslo])", "3"),
        ("count([])", "0"),
        ("count([12, 9, 15], '>', 10)", "2"),
        ("nth(3, desc, {A: 12, B: 9, C: 15})", "B"),
        ("nth(2, largest, [12, 9, 15])", "12"),
        ("nth(3, desc, {A: 12, B: 9, C: 15, D: 9})", "B or D"),
        ("argmin({St. Mary’s Church: 9, 'Long Needle': 12})", "St. Mary’s Church"),
        ("argmax({A: 12, B: 12})", "A or B"),
        ("rank('b', desc, {A: 12, B: 9, C: 15})", "3"),
        ("sort({A: 12, B: 9})", "B: 9, A: 12"),
        ("sum({A: 12, B: 9})", "21"),
        ("mean(10%, 20%)", "15%"),
        (f"sum(table('{TABLE}', 'People'))", "2045"),
        (f"argmax(table('{TABLE}', 'people'))", "Ut"),
        (f"argmin(table('{TABLE}', 'Founded', 'City'))", "Ut"),
        (f"count(table('{TABLE}', 'People'), '>', 100)", "2"),
        (f"sum(table('{TABLE}', 'People'))".replace("\n", "\\n"), "2045"),
    ],
)
def test_lists_and_tables(expression: str, expected: str) -> None:
    assert compute(expression) == expected


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("", "too early"),
        ("1 +", "too early"),
        ("1 2", "cannot be read"),
        ("(1 + 2", "expected"),
        ("1 / 0", "zero"),
        ("0^-1", "zero"),
        ("240 + 15%", "percentage of what"),
        ("sum([1,200, 1,300])", "without commas"),
        ("sum([])", "empty"),
        ("sum([1, Rome])", "cannot be added"),
        ("mean('a')", "not a number"),
        ("5 m + 3 s", "do not measure"),
        ("5 + 3 m", "cannot be added"),
        ("20 °C + 5 °C", "cannot be added"),
        ("20 °C * 2", "multiplied"),
        ("12 goals + 5 goals", "not a unit"),
        ("$5 + €3", "currencies"),
        ("nth(4, desc, [1, 2, 3])", "no number 4"),
        ("nth(2, [1, 2, 3])", "desc"),
        ("argmax([1, 2])", "labelled"),
        ("2^0.5", "whole"),
        ("population", "not known"),
        ("total(1, 2)", "no function"),
        ("round(1, 2, 3)", "takes"),
        (f"sum(table('{TABLE}', 'Area'))", "no column"),
        (f"sum(table('{TABLE}', 'City'))", "not a number"),
        ("1 = 'one'", "compared"),
    ],
)
def test_what_cannot_be_computed_is_refused_with_advice(expression: str, reason: str) -> None:
    with pytest.raises(ComputeError, match=reason):
        compute(expression)


SIGNS = st.sampled_from("0123456789.,+-*/^%()[]{}:'\"<>= abcdeimnorstuxyADBC°²\n")


@settings(max_examples=600, deadline=None)
@given(st.one_of(st.text(max_size=60), st.text(alphabet=SIGNS, max_size=60)))
def test_no_text_breaks_it(text: str) -> None:
    try:
        result = compute(text)
    except ComputeError as error:
        result = str(error)
    assert result or text
