"""The arithmetic that a model writes in passing, how computations are shown, and expressions that are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iterative_rag.computing import ComputeError, compute
from iterative_rag.computing.display import found_in, right_equations, shown, wrong_equations


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("She was born in 1874: 1911 - 1874 = 36.", ["1911 - 1874 = 37, not 36"]),
        ("1911 [2] − 1874 [3] = 36 years", ["1911 − 1874 = 37, not 36"]),
        (
            "In all 12 + 15 + 9 = 35; (1911 - 1874) * 2 = 75",
            ["12 + 15 + 9 = 36, not 35", "(1911 - 1874) * 2 = 74, not 75"],
        ),
        ("12 goals + 5 goals = 18 goals", ["12 goals + 5 goals = 17, not 18 goals"]),
        ("1,128 ft - 790 ft = 348 ft", ["1,128 ft - 790 ft = 338 ft, not 348 ft"]),
        ("10 / 4 = 2.6", ["10 / 4 = 2.5, not 2.6"]),
        ("1 km + 500 m = 1.6 km", ["1 km + 500 m = 1.5 km, not 1.6 km"]),
        ("3/4 = 70%", ["3/4 = 0.75, not 70%"]),
    ],
)
def test_what_is_wrong_is_named_with_what_is_right(text: str, wrong: list[str]) -> None:
    assert wrong_equations(text) == wrong


@pytest.mark.parametrize(
    "text",
    [
        "1911 - 1874 = 37",
        "1911 [2] - 1874 [3] = 37 [2][3]",
        "1825 - 1912 = 87 years",
        "10 / 3 = 3.33 and 10 / 3 = 3.3",
        "10 / 3 ≈ 3.4, which is about 3",
        "2/3 = 67%",
        "50% * 40 = 20",
        "1 km + 500 m = 1500 m",
        "1.4 million + 0.6 million = 2 million",
        "12 films + 5 plays = 17 works",
        "1992 − 1939 + 1 = 54",
        "the war of 1939-1945 = 7 years with both ends",
        "born 3 March 1911 - 1874 = 12",
        "12 + 5 = 17 + 3 = 20",
        "x + 5 = 7, see [1] - [3] = nothing",
        "page 3-4 of 2010, and 5 = 5",
        "",
    ],
)
def test_what_is_right_or_no_arithmetic_passes(text: str) -> None:
    assert wrong_equations(text) == []


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(-5, 5))
def test_a_sum_is_wrong_where_it_is_off(first: int, second: int, off: int) -> None:
    stated = first + second + off
    text = f"Together {first:,} [1] + {second} [2] = {stated} people."
    # A negative number is taken for the other difference.
    assert bool(wrong_equations(text)) == (abs(stated) != first + second)


def test_right_equations_come_with_their_results() -> None:
    text = "1911 [1] - 1874 [2] = 37 years; 1,128 ft - 790 ft = 338 ft; 2 + 2 = 5"
    assert right_equations(text) == [("1911 - 1874", "37"), ("1,128 ft - 790 ft", "338 ft")]


def test_a_computation_is_shown_with_a_minus_and_a_comparison_alone() -> None:
    assert shown("1912 - 1825", "87") == "1912 − 1825 = 87"
    assert shown("1825 < 1912", "true") == "1825 < 1912"
    assert shown("age(2000-01-01, 2020-01-01)", "20") == "age(2000-01-01, 2020-01-01) = 20"
    assert shown("1 > 2", "false") == "1 > 2 is false"


@pytest.mark.parametrize("text", ["as 1912 - 1825 = 87.", "1912–1825=87", "(1912 − 1825 = 87)"])
def test_a_computation_is_found_however_it_is_written(text: str) -> None:
    assert found_in(text, "1912 - 1825", "87")


# --- hostile expressions --------------------------------------------------------------------------


HOSTILE = {
    "huge power": "9^999999999",
    "tower of powers": "9^9^9^9^9",
    "power of a fraction": "(1/3)^100000",
    "products": "*".join(["9" * 50] * 150),
    "growing denominators": "+".join(f"1/{n}" for n in range(1001, 2301)),
    "scales": "1" + " trillion" * 800,
    "deep parentheses": "(" * 3000 + "1" + ")" * 3000,
    "deep calls": "abs(" * 1500 + "1" + ")" * 1500,
    "deep powers": "1^" * 3000 + "1",
    "endless digits": "9" * 7900,
    "endless decimals": "0." + "1" * 7900,
    "too long": "1+" * 100_000 + "1",
    "too many items": "sum([" + ",".join(["1"] * 700) + ",x])",
    "shift": "1 << 999999999",
    "many minus": "-" * 7900,
    "name": "population",
    "dunder": "__import__('os').system('id')",
    "attribute": "(1).__class__.__bases__",
    "call of a builtin": "open('/etc/passwd')",
    "eval": "eval('1+1')",
    "comprehension": "sum([x for x in range(10^9)])",
    "assignment": "x = 5",
    "format": "'{0.__class__}'.format(1)",
    "index": "[1, 2][0]",
    "unit with a formula": "5 m**(9**9**9)",
    "unit of many parts": "5 m" + "/s" * 3000 + " + x",
    "long word": "a" * 7900,
    "long label": "{" + "a" * 7900 + ": 1}",
    "open text": "'" + "a" * 7900,
    "date out of range": "1 January 2000 + 99999999999999999999 days",
    "many decimals": "round(1/3, 999999999)",
}


@pytest.mark.parametrize("expression", HOSTILE.values(), ids=HOSTILE)
def test_it_is_refused(expression: str) -> None:
    with pytest.raises(ComputeError) as refused:
        compute(expression)
    assert len(str(refused.value)) < 500


@pytest.mark.parametrize(
    "text",
    ["(" * 20_000, "1+" * 10_000, "1,234" * 5000, "1 - 1 " * 5000 + "= 4", "12 goals + " * 3000, "= 1" * 9000],
    ids=["parentheses", "sums", "groups", "differences", "words", "equals"],
)
def test_a_long_text_has_no_wrong_equation(text: str) -> None:
    assert wrong_equations(text) == []
