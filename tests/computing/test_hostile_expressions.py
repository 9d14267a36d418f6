"""Expressions that would take long, run code or ask for names: each is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from iterative_rag.computing import ComputeError, compute
from iterative_rag.computing.arithmetic_checks import wrong_equations

HOSTILE = {
    "huge power": "9^999999999",
    "tower of powers": "9^9^9^9^9",
    "power of a power": "((((9^99)^99)^99)^99)",
    "python's power": "10**10**10",
    "negative power": "2^-99999999999",
    "power of a fraction": "(1/3)^100000",
    "products": "*".join(["9" * 50] * 150),
    "growing denominators": "+".join(f"1/{n}" for n in range(1001, 2301)),
    "scales": "1" + " trillion" * 800,
    "deep parentheses": "(" * 3000 + "1" + ")" * 3000,
    "deep lists": "[" * 3000,
    "deep calls": "abs(" * 1500 + "1" + ")" * 1500,
    "deep maps": "{a:" * 2000,
    "deep powers": "1^" * 3000 + "1",
    "open parentheses": "(" * 7999,
    "endless digits": "9" * 7900,
    "endless decimals": "0." + "1" * 7900,
    "endless groups": "1" + ",234" * 1900 + "5",
    "too long": "1+" * 100_000 + "1",
    "too many values": "1" + "+1" * 590 + "+x",
    "too many items": "sum([" + ",".join(["1"] * 700) + ",x])",
    "exponent": "1e999999999",
    "shift": "1 << 999999999",
    "spaces": "1" + " " * 7000 + "x",
    "many minus": "-" * 7900,
    "name": "population",
    "dunder": "__import__('os').system('id')",
    "attribute": "(1).__class__.__bases__",
    "attribute of a text": "'a'.__class__",
    "call of a builtin": "open('/etc/passwd')",
    "eval": "eval('1+1')",
    "exec": "exec('x=1')",
    "lambda": "(lambda: 1)()",
    "comprehension": "sum([x for x in range(10^9)])",
    "range": "sum(range(10^9))",
    "assignment": "x = 5",
    "walrus": "(y := 5)",
    "f-string": "f'{1}'",
    "format": "'{0.__class__}'.format(1)",
    "index": "[1, 2][0]",
    "index by name": "{a: 1}['a']",
    "import": "import os",
    "unit with a formula": "5 m**(9**9**9)",
    "unit by name": "convert(5 m, '__import__')",
    "unit with a call": "convert(5 m, 'exit()')",
    "unit of many parts": "5 m" + "/s" * 3000 + " + x",
    "long word": "a" * 7900,
    "long unit": "5 " + "k" * 7900,
    "long label": "{" + "a" * 7900 + ": 1}",
    "open text": "'" + "a" * 7900,
    "date out of range": "1 January 2000 + 99999999999999999999 days",
    "year out of range": "date(99999999999, 1, 1)",
    "many decimals": "round(1/3, 999999999)",
    "negative decimals": "round(1/3, -999999999)",
    "template": "{{config}}",
    "shell": "$(id)",
    "sql": "1; DROP TABLE facts",
    "null": "1\x002",
}


@pytest.mark.parametrize("expression", HOSTILE.values(), ids=HOSTILE)
def test_it_is_refused(expression: str) -> None:
    with pytest.raises(ComputeError) as refused:
        compute(expression)
    assert len(str(refused.value)) < 500


def test_nothing_of_an_expression_is_run(tmp_path: Path) -> None:
    with pytest.raises(ComputeError):
        compute(f"__import__('pathlib').Path('{tmp_path}/made').touch()")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "text",
    ["(" * 20_000, "1+" * 10_000, "1,234" * 5000, "1 - 1 " * 5000 + "= 4", "12 goals + " * 3000, "= 1" * 9000],
    ids=["parentheses", "sums", "groups", "differences", "words", "equals"],
)
def test_a_long_text_has_no_wrong_equation(text: str) -> None:
    assert wrong_equations(text) == []
