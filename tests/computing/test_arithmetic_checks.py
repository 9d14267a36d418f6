"""The arithmetic that a model writes in passing, how computations are shown, and expressions that are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iterative_rag.computing import ComputeError, compute
from iterative_rag.computing.display import found_in, right_equations, shown, wrong_equations
from tests.tables import table


@pytest.mark.parametrize(("text", "wrong"), table(__file__, "equations"))
def test_what_is_wrong_is_named_with_what_is_right(text: str, wrong: list[str]) -> None:
    assert wrong_equations(text) == wrong


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
