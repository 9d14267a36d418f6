""" "And in miles?": the last value in another unit, computed and not looked up again."""

from __future__ import annotations

import re

from iterative_rag.computing import ComputeError, compute
from iterative_rag.computing.display import ROUNDED, shown
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Computation, Draft, Earlier, StandAlone

_ASKED = lazy_pattern(
    r"^(?:(?:and|ok|so|but)\b,? *)*(?:(?:what|how much|how many) (?:is|would|was|are) (?:that|it|this) +)?in "
    r"(?P<unit>[a-z°]+(?: [a-z°]+)?)$"
    r"|^(?:(?:and|ok|so)\b,? *)*how many (?P<many>[a-z]+(?: [a-z]+)?) (?:is|are|was) (?:that|it|this)$",
    re.I,
)
_VALUE = lazy_pattern(r"(?P<value>-?\d[\d,]*(?:\.\d+)? ?[a-zµ°²³]+)", re.I)
_END = lazy_pattern(r" in (?P<unit>[a-z°]+(?: [a-z°]+)?)$", re.I)
_DIGITS = 4


def converted(follow_up: str, earlier: Earlier) -> StandAlone | None:
    """The question in that unit, answered from the facts of the last value; None for any other follow-up, and where the
    two units do not measure the same thing."""
    asked = _ASKED.match(follow_up.strip().rstrip("?.! "))
    if asked is None or not earlier.exchanges:
        return None
    last, unit = earlier.exchanges[-1], asked["unit"] or asked["many"]
    value = _VALUE.search(last.short_answer)
    if value is None:
        return None
    amount = value["value"].replace(",", "")
    expression = f"{amount} to {unit}"
    try:
        short, differs = _rounded(compute(expression))
    except ComputeError:
        return None
    result = f"{ROUNDED}{short}" if differs else short
    question = f"{_without_unit(last.question.strip().rstrip('?. '), amount)} in {unit}?"
    stating = tuple(n for n, fact in enumerate(earlier.facts) if value["value"] in f"{fact.value} {fact.quote}")[-1:]
    if not stating:
        return StandAlone(question)
    done = Computation(expression, result, stating)
    draft = Draft(
        answered=True,
        text=f"{shown(expression, result)} [1]",
        short_answer=short,
        cited=stating,
        confidence=earlier.facts[stating[0]].score,
        computations=(done,),
    )
    return StandAlone(question, draft)


def _without_unit(question: str, amount: str) -> str:
    """The question without a unit at its end, which is one that the amount can be given in; a place is kept."""
    if (end := _END.search(question)) is None:
        return question
    try:
        compute(f"{amount} to {end['unit']}")
    except ComputeError:
        return question
    return question[: end.start()]


def _rounded(result: str) -> tuple[str, bool]:
    """The value with four digits, since what was measured is not known better, and whether it is another one then."""
    match = re.match(r"-?\d[\d,]*(?:\.\d+)?", result)
    if match is None:
        return result, False
    number = float(match[0].replace(",", ""))
    short = float(f"{number:.{_DIGITS}g}")
    return f"{short:,.10g}{result[match.end() :]}", short != number
