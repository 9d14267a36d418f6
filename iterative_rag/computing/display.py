"""Computations as people write them: "1912 − 1825 = 87"; and whether those that a text contains are right."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from iterative_rag.computing.expression import evaluate
from iterative_rag.computing.operands import Amount, Value, said
from iterative_rag.errors import ComputeError
from iterative_rag.text.citation_markers import MARKER
from iterative_rag.text.dates import MONTH_PATTERN
from iterative_rag.text.patterns import lazy_pattern

# A table in an expression may be long; its beginning is enough to recognise it.
MOST_SHOWN = 160
# What the result of a computation begins with where it is rounded: "≈ 267.2 miles".
ROUNDED = "≈ "
_MINUS = lazy_pattern(r"(?<=\s)-(?=\s)")
_PLAIN = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_UNIT = r"(?: ?%| ?°[CF]?| (?!(?:and|or|to|is|in|of|as|so)\b)[A-Za-z²³]{1,12}(?:/[a-z]{1,4})?)?"
_OPERAND = rf"[(]{{0,4}}{_PLAIN}{_UNIT}[)]{{0,4}}"
_SUM = lazy_pattern(
    rf"(?<![\w.,%/*+^=(−–-])(?P<left>{_OPERAND}(?:\s*[-−–+*×/÷]\s*{_OPERAND}){{1,40}})"
    rf"\s*(?P<sign>=|≈)\s*(?P<about>about |approximately |~\s?)?(?P<right>[-−]?{_PLAIN})(?P<unit>{_UNIT})"
    r"(?![\d]|[.,]\d|\s*[-−–+*×/÷]\s*\d)"
)
# What must not come before an equation: the rest of a longer formula or of a date.
_BEFORE = lazy_pattern(rf"(?:[\d)+*/×÷=−–-]|\b(?:{MONTH_PATTERN})\.?)\s*$")
# "1939-1945" is a range of years, not a difference.
_SPAN = lazy_pattern(r"\d+[-–]\d+")
_UNBRACKETED = str.maketrans("", "", "[]")
# How far a number may be off if the text calls it approximate.
_ABOUT = Fraction(1, 50)
_MOST_EQUATIONS = 60


def shown(expression: str, result: str) -> str:
    """ "1912 − 1825 = 87", "430 km to miles ≈ 267.2 miles"; a comparison that holds stands alone: "1825 < 1912". A list
    has no brackets, which would be read as markers: "count(2000, 2004) = 2"."""
    written = _MINUS.sub("−", shortened(expression)).translate(_UNBRACKETED)
    if result in {"true", "false"}:
        return written if result == "true" else f"{written} is false"
    return f"{written} {result}" if result.startswith(ROUNDED) else f"{written} = {result}"


def shortened(expression: str) -> str:
    """An expression on one line, truncated if it is long."""
    line = " ".join(expression.split())
    return line if len(line) <= MOST_SHOWN else f"{line[:MOST_SHOWN].rpartition(' ')[0]} …"


def found_in(text: str, expression: str, result: str) -> re.Match[str] | None:
    """Where a text already shows the computation, with any spacing and any dash as the minus sign."""
    parts = re.findall(r"[\w.,]+|\S", shown(expression, result))
    dashed = [r"[-−–]" if part in "-−–" else re.escape(part) for part in parts]
    spaced = r"\s*".join(dashed)
    return re.search(rf"(?<![\w.]){spaced}(?!\w|\.\d)", text)


def wrong_equations(text: str) -> list[str]:
    """The equations of a text that are wrong, each with the right result: "1912 - 1825 = 87, not 86"."""
    wrong = [f"{left} = {result}, not {stated}" for left, stated, result, holds in _equations(text) if not holds]
    return list(dict.fromkeys(wrong))


def right_equations(text: str) -> list[tuple[str, str]]:
    """The equations of a text that hold: ("1912 - 1825", "87")."""
    return list(dict.fromkeys((left, stated) for left, stated, _, holds in _equations(text) if holds))


def _equations(text: str) -> Iterator[tuple[str, str, str, bool]]:
    """(left side, stated result, computed result, whether they agree) of each equation that can be computed."""
    plain = MARKER.sub("", text)  # they may stand between the numbers: "1912 [1] - 1825 [3] = 87"
    for _, match in zip(range(_MOST_EQUATIONS), _SUM.finditer(plain), strict=False):
        if _BEFORE.search(plain, max(0, match.start() - 20), match.start()):
            continue
        result, holds = _judged(match)
        if result:
            unit = match["unit"] if match["unit"].strip() in {"%", *match["left"].split()} else ""
            yield match["left"].strip(), match["right"] + unit, result, holds


def _judged(match: re.Match[str]) -> tuple[str, bool]:
    """The value of the left side and whether the right side agrees; "" for what cannot be computed here."""
    left, stated = match["left"], match["right"].replace("−", "-")
    if _SPAN.fullmatch(left) or left.count("(") != left.count(")"):
        return "", False
    wordless = re.sub(_UNIT.removesuffix("?"), "", left)
    about = match["sign"] == "≈" or bool(match["about"])
    computed = ""
    for expression, unit in ((left, match["unit"]), (left, ""), (wordless, "")):
        try:
            value, claim = evaluate(expression), evaluate(stated + unit)
        except ComputeError:
            continue
        if _agrees(value, claim, stated, about=about):
            return said(value), True
        computed = computed or said(value)
    return computed, False


def _agrees(value: Value, claim: Value, stated: str, *, about: bool) -> bool:
    """Whether a value is the claimed number to the digits that the claim shows, in either order of subtraction."""
    if not (isinstance(value, Amount) and isinstance(claim, Amount)):
        return False
    try:
        amount = value.measured_in(claim.unit) if value.unit and claim.unit else value.value
    except ComputeError:
        return False
    shown = stated.partition(".")[2]
    allowed = Fraction(1, 2 * 10 ** len(shown)) if amount.denominator != 1 or shown else Fraction(0)
    if claim.percent:
        allowed /= 100
    if about:
        allowed = max(allowed, abs(amount) * _ABOUT)
    return abs(abs(amount) - abs(claim.value)) <= allowed
