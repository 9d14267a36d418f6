"""Reads the numbers, measures and dates of an expression, each with its unit."""

from __future__ import annotations

import re
from fractions import Fraction

from iterative_rag.computing import unit_conversion
from iterative_rag.computing.arithmetic import add, negated
from iterative_rag.computing.date_arithmetic import read_date
from iterative_rag.computing.operands import Measure, Scalar, Value, bounded, number, said
from iterative_rag.computing.unit_conversion import Unit
from iterative_rag.errors import ComputeError
from iterative_rag.text.languages import language_of
from iterative_rag.text.patterns import lazy_pattern

MOST_CHARACTERS, MOST_DIGITS = 8000, 60

_SPACE = lazy_pattern(r"\s*")
WORD = lazy_pattern(r"[^\W\d_]\w*")
_NUMBER = lazy_pattern(r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,2}(?![\w.]))?")
_GROUPED = lazy_pattern(r"\d{1,3}(?:,\d{3}){1,12}(?:\.\d+)?(?![\d,]*\d)")
_PER = lazy_pattern(r"\s*/\s*(?=[A-Za-zµ°])|\s*\bper\b")
_RAISED = lazy_pattern(r"[²³]|\s*\^\s*[23](?!\d)")
_NO_UNITS = frozenset({"of", "and", "or", "to", "between", "per"})
_SPELLED = str.maketrans(
    {"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "!=", "“": '"', "”": '"'}
)
_CURRENCY = "$€£¥"


class AmountReader:
    """A position in an expression. `listing`: a comma separates values here; elsewhere it may group digits."""

    def __init__(self, text: str) -> None:
        if len(text) > MOST_CHARACTERS:
            raise ComputeError(f"the expression is longer than {MOST_CHARACTERS} characters")
        self._text, self._at, self._listing = _spelled(text), 0, False

    def literal(self) -> Value:
        """The value, if the whole text is a single number, quantity or date: "1,234", "45%", "1 March 1912"."""
        minus = self._taken("-")
        value = self._amount()
        if value is None:
            raise self._unread()
        if isinstance(value, Scalar) and self._taken("%"):
            value = as_percent(value)
        self._ended()
        return negated(value) if minus else value

    # --- position --------------------------------------------------------------------------------

    def _rest(self) -> str:
        """What comes next, without the space before it."""
        if space := _SPACE.match(self._text, self._at):
            self._at = space.end()
        return self._text[self._at : self._at + 30]

    def _unread(self, why: str = "cannot be read here") -> ComputeError:
        return ComputeError(f"{self._rest() or 'the end'!r} {why}")

    def _ended(self) -> None:
        if self._rest():
            raise self._unread()

    def _taken(self, *signs: str) -> str:
        """The sign that comes next, taken; "" if it is none of these."""
        rest = self._rest()
        sign = next((sign for sign in signs if rest.startswith(sign)), "")
        self._at += len(sign)
        return sign

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Take what comes next if it matches."""
        self._rest()
        if match := pattern.match(self._text, self._at):
            self._at = match.end()
        return match

    # --- units and numbers -------------------------------------------------------------------------

    def _amount(self) -> Value | None:
        """The date or number that comes next; None for anything else."""
        self._rest()
        if (date := read_date(self._text, self._at)) is not None:
            self._at = date[1]
            return date[0]
        return self._number() if _NUMBER.match(self._text, self._at) else None

    def single_unit(self) -> Unit:
        """The whole text as a unit: "km/h"."""
        unit = self._unit()
        self._ended()
        return unit

    def _unit(self) -> Unit:
        """The unit at this position: "ft", "km/h", "m^2", "square miles"."""
        self._rest()
        begun, result = self._at, self._one_unit()
        if per := _PER.match(self._text, self._at):
            self._at = per.end()
            below = self._one_unit()
            result = unit_conversion.combined(" ".join(self._text[begun : self._at].split()), result, below)
        return result

    def _one_unit(self) -> Unit:
        self._rest()
        if named := unit_conversion.unit_of_words(self._text[self._at : self._at + 40]):
            self._at += len(named.name)
            return named
        begun, word = self._at, self._match(unit_conversion.WORD)
        if word is None:
            raise self._unread("is not a unit")
        unit = unit_conversion.unit(word[0])
        sign = _RAISED.match(self._text, self._at)
        if sign is None:
            return unit
        self._at = sign.end()
        name = " ".join(self._text[begun : self._at].split())
        return unit_conversion.combined(name, unit, power=2 if sign[0][-1] in "²2" else 3)

    def _number(self) -> Value:
        """A number with its unit, if any; "5 ft 11 in" is one value."""
        result = self._with_unit(self._plain_number())
        while isinstance(result, Measure) and self._rest()[:1].isdecimal():
            more = self._with_unit(self._plain_number())
            if not isinstance(more, Measure):
                raise ComputeError(f"{said(more)} cannot follow {said(result)}")
            result = add(result, more)
        return result

    def _plain_number(self) -> Fraction:
        # In lists and calls a comma separates values; elsewhere it may group digits.
        grouped = _GROUPED.match(self._text, self._at)
        if grouped and self._listing:
            raise ComputeError(f"{grouped[0]!r} may be one number or several; write numbers without commas inside")
        match = grouped or _NUMBER.match(self._text, self._at)
        if match is None:
            raise self._unread("is not a number")
        if len(match[0]) > MOST_DIGITS:
            raise ComputeError(f"a number may have at most {MOST_DIGITS} digits")
        self._at = match.end()
        value = Fraction(match[0].replace(",", ""))
        scales = language_of("en").scales
        while (word := self._next_word()) in scales:
            self._match(WORD)
            value = bounded(value * int(scales[word]))
        return value

    def _next_word(self) -> str:
        self._rest()
        word = unit_conversion.WORD.match(self._text, self._at)
        return word[0].lower() if word else ""

    def _with_unit(self, value: Fraction) -> Value:
        word = self._next_word()
        return Measure(value, self._unit()) if word and word not in _NO_UNITS else number(value)


def _spelled(text: str) -> str:
    """The text with typographic signs replaced by plain ones and the sign of its one currency removed."""
    text = text.translate(_SPELLED)
    used = [sign for sign in _CURRENCY if sign in text]
    if len(used) > 1:
        raise ComputeError("an expression cannot mix currencies")
    return text.replace(used[0], "") if used else text


def as_percent(value: Value) -> Scalar:
    if not isinstance(value, Scalar):
        raise ComputeError(f"{said(value)} cannot be a percentage")
    return number(value.value / 100, percent=True)
