"""The tokens of an expression: signs, words, units and numbers. Keeps the position and enforces the limits."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from iterative_rag.computing import unit_conversion
from iterative_rag.computing.arithmetic import add
from iterative_rag.computing.functions import FUNCTIONS
from iterative_rag.computing.operands import Measure, Value, bounded, number, said
from iterative_rag.computing.unit_conversion import Unit
from iterative_rag.errors import ComputeError
from iterative_rag.text.languages import language_of
from iterative_rag.text.patterns import lazy_pattern

MOST_CHARACTERS = 8000
MOST_DEPTH = 32
MOST_STEPS = 600
MOST_DIGITS = 60
# Parts of a compound unit: "kg m/s^2" has three.
MOST_PARTS = 6

_SPACE = lazy_pattern(r"\s*")
_SIGN = lazy_pattern(r"\*\*|//|<=|>=|==|!=|[-+*/^%<>=(){}\[\],;:]")
_TEXT = lazy_pattern(r"\s*(?:'([^']*)'|\"([^\"]*)\")")
_NUMBER = lazy_pattern(r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,2}(?![\w.]))?")
_GROUPED = lazy_pattern(r"\d{1,3}(?:,\d{3}){1,12}(?:\.\d+)?(?![\d,]*\d)")
_NO_UNITS = frozenset({"of", "and", "or", "not", "to", "between", "per", "mod"})

_SPELLED = {"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "!=", "“": '"', "”": '"'}
_CURRENCY = "$€£¥"
_POWERS = {"sq": 2, "square": 2, "cubic": 3, "cu": 3}
_LONGEST_NAME = 40
T = TypeVar("T")


class Tokenizer:
    """A position in a text. Raises ComputeError where the expected token is missing or a limit is exceeded."""

    def __init__(self, text: str) -> None:
        if len(text) > MOST_CHARACTERS:
            raise ComputeError(f"the expression is longer than {MOST_CHARACTERS} characters")
        self._text = _spelled(text)
        self._at = 0
        self._depth = 0
        self._steps = 0
        # In lists and calls a comma separates values; elsewhere it may group digits.
        self._listing = 0
        # The next word and sign are asked for repeatedly at one position.
        self._next_word = self._next_sign = (-1, "")

    def single_unit(self) -> Unit:
        """The whole text as a unit: "km/h"."""
        found = self._unit()
        self._ended()
        return found

    # --- place -------------------------------------------------------------------------------

    def _skip(self) -> None:
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _rest(self) -> str:
        return self._text[self._at : self._at + 30] or "the end"

    def _ended(self) -> None:
        self._skip()
        if self._at < len(self._text):
            raise ComputeError(f"{self._rest()!r} cannot be read here")

    def _follows(self, pattern: str) -> str | None:
        """The text that comes next if it matches; nothing is consumed."""
        match = re.compile(rf"\s*({pattern})").match(self._text, self._at)
        return match[1] if match else None

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise ComputeError("the expression has too many values")

    def _nested(self, read: Callable[[], T]) -> T:
        """The result of `read`, one level deeper."""
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise ComputeError("the expression is nested too deeply")
        result = read()
        self._depth -= 1
        return result

    # --- signs and words ---------------------------------------------------------------------

    def _sign(self, *wanted: str) -> str | None:
        """Consume the next sign if it is one of `wanted`."""
        if self._next_sign[0] != self._at:
            self._skip()
            match = _SIGN.match(self._text, self._at)
            self._next_sign = self._at, match[0] if match else ""
        sign = self._next_sign[1]
        if sign not in wanted:
            return None
        self._at += len(sign)
        return sign

    def _closed(self, sign: str) -> None:
        if self._sign(sign) is None:
            raise ComputeError(f"{self._rest()!r} stands where {sign!r} is expected")

    def _quoted(self) -> str | None:
        """Consume the next quoted text, if there is one."""
        match = _TEXT.match(self._text, self._at)
        if match is None:
            return None
        self._at = match.end()
        return match[1] if match[1] is not None else match[2]

    def _peeked(self) -> str:
        """The next word, or "" if there is none; it is not consumed."""
        if self._next_word[0] != self._at:
            self._skip()
            match = unit_conversion.WORD.match(self._text, self._at)
            self._next_word = self._at, match[0] if match else ""
        return self._next_word[1]

    def _word(self) -> str:
        word = self._peeked()
        if not word:
            raise ComputeError(f"{self._rest()!r} is not a unit")
        self._skip()
        self._at += len(word)
        return word

    def _keyword(self, word: str) -> bool:
        """Consume the next word if it is this operator."""
        if self._peeked() not in (word, word.upper()) or self._calls(word):
            return False
        self._word()
        return True

    def _calls(self, word: str) -> bool:
        """Whether the next word is called as a function."""
        return word.lower() in FUNCTIONS and self._follows(rf"{re.escape(word)}\s*\(") is not None

    # --- units and numbers -------------------------------------------------------------------

    def _unit(self) -> Unit:
        """The unit at this position: "ft", "km/h", "m^2", "square miles", "miles per hour"."""
        self._skip()
        begun = self._at
        result = self._one_unit()
        for part in itertools.count(2):
            if not ((self._follows(r"/\s*[A-Za-zµ°]") and self._sign("/")) or self._keyword("per")):
                break
            if part > MOST_PARTS:
                raise ComputeError("the unit has too many parts")
            result = unit_conversion.combined(-1, result, self._one_unit())
            result = Unit(" ".join(self._text[begun : self._at].split()), result.pint)
        return result

    def _one_unit(self) -> Unit:
        self._step()
        self._skip()
        if named := unit_conversion.unit_of_words(self._text[self._at : self._at + _LONGEST_NAME]):
            self._at += len(named.name)
            return named
        begun, word = self._at, self._word()
        power = _POWERS.get(word.lower(), 1)
        if power > 1:
            word = self._word()
        found = unit_conversion.unit(word)
        if sign := self._follows(r"[²³]|\^\s*[23](?!\d)"):
            self._skip()
            self._at += len(sign)
            power *= 2 if sign[-1] in "²2" else 3
        shown = " ".join(self._text[begun : self._at].split())
        return Unit(shown, found.pint, found.offset) if power == 1 else unit_conversion.power_of(found, power, shown)

    def _number(self) -> Value:
        """A number with its unit, if any; "5 ft 11 in" is one value."""
        result = self._with_unit(self._plain_number())
        while isinstance(result, Measure) and self._follows(r"\d"):
            self._skip()
            more = self._with_unit(self._plain_number())
            if not isinstance(more, Measure):
                raise ComputeError(f"{said(more)} cannot follow {said(result)}")
            result = add(result, more)
        return result

    def _plain_number(self) -> Fraction:
        grouped = _GROUPED.match(self._text, self._at)
        if grouped and self._listing:
            raise ComputeError(f"{grouped[0]!r} may be one number or several; write numbers without commas inside")
        match = grouped or _NUMBER.match(self._text, self._at)
        if match is None:
            raise ComputeError(f"{self._rest()!r} is not a number")
        if len(match[0]) > MOST_DIGITS:
            raise ComputeError(f"a number may have at most {MOST_DIGITS} digits")
        self._at = match.end()
        digits = match[0].replace(",", "")
        value = Fraction(int(digits)) if digits.isdecimal() else Fraction(digits)
        scales = language_of("en").scales
        while (word := self._peeked().lower()) in scales:
            self._step()
            self._word()
            value = bounded(value * int(scales[word]))
        return value

    def _with_unit(self, value: Fraction) -> Value:
        word = self._peeked()
        if not word or word.lower() in _NO_UNITS or self._calls(word):
            return number(value)
        return Measure(value, self._unit())


def _spelled(text: str) -> str:
    """The text with typographic signs replaced by plain ones and the sign of its one currency removed."""
    for sign, plain in _SPELLED.items():
        text = text.replace(sign, plain)
    used = [sign for sign in _CURRENCY if sign in text]
    if len(used) > 1:
        raise ComputeError("an expression cannot mix currencies")
    return text.replace(used[0], "") if used else text
