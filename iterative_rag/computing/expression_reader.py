"""Reads an expression's numbers, units, dates, texts and names, and writes the expression as one of Python's."""

from __future__ import annotations

import re
from fractions import Fraction

from iterative_rag.computing import unit_conversion
from iterative_rag.computing.arithmetic import add, negated
from iterative_rag.computing.date_arithmetic import read_date
from iterative_rag.computing.functions import FUNCTIONS, ORDERS
from iterative_rag.computing.operands import Measure, Scalar, Value, bounded, number, said
from iterative_rag.computing.unit_conversion import Unit
from iterative_rag.errors import ComputeError
from iterative_rag.text.languages import language_of
from iterative_rag.text.patterns import lazy_pattern

MOST_CHARACTERS, MOST_DEPTH, MOST_STEPS, MOST_DIGITS = 8000, 32, 600, 60

_SPACE = lazy_pattern(r"\s*")
_SIGN = lazy_pattern(r"\*\*|<=|>=|==|!=|[-+*/^%<>=,;]")
_WORD = lazy_pattern(r"[^\W\d_]\w*")
_TEXT = lazy_pattern(r"'([^']*)'|\"([^\"]*)\"")
_NUMBER = lazy_pattern(r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,2}(?![\w.]))?")
_GROUPED = lazy_pattern(r"\d{1,3}(?:,\d{3}){1,12}(?:\.\d+)?(?![\d,]*\d)")
_LABEL = lazy_pattern(r"(?:'([^']{1,200})'|\"([^\"]{1,200})\"|([^:,{}\[\]'\"\n]{1,120}?))\s*:")
_BARE = lazy_pattern(r"(?!true\b|false\b)[^\W\d_][\w .’&-]{0,80}?(?=\s*[,;\]])", re.IGNORECASE)
_PER = lazy_pattern(r"\s*/\s*(?=[A-Za-zµ°])|\s*\bper\b")
_RAISED = lazy_pattern(r"[²³]|\s*\^\s*[23](?!\d)")
_NO_UNITS = frozenset({"of", "and", "or", "to", "between", "per"})
_SPELLED = str.maketrans(
    {"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "!=", "“": '"', "”": '"'}
)
_CURRENCY = "$€£¥"
_CLOSING = {"(": ")", "[": "]", "{": "}"}
# How signs and words are written in Python; "|" binds less than a sum and more than a comparison, as "to" does.
_PYTHON = {"^": "**", "=": "==", ";": ",", "of": "*", "to": "|", "in": "|"}


class ExpressionReader:
    """A position in an expression. `bound` are the values and units read so far, by their names in Python."""

    def __init__(self, text: str) -> None:
        if len(text) > MOST_CHARACTERS:
            raise ComputeError(f"the expression is longer than {MOST_CHARACTERS} characters")
        self._text, self._at = _spelled(text), 0
        self.bound: dict[str, Value | Unit] = {}
        self._open: list[str] = []  # the brackets around the position, and the functions that are called
        self._written: list[str] = []
        self._signs = 0  # in a row before a value

    def python(self) -> str:
        """The whole text as a Python expression."""
        awaited = True  # whether a value comes next
        while self._rest() or awaited or self._open:
            awaited = self._operand() if awaited else self._operator()
        return "".join(self._written).strip()

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

    def _taken(self, sign: str) -> bool:
        taken = self._rest().startswith(sign)
        self._at += len(sign) * taken
        return taken

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Take what comes next if it matches."""
        self._rest()
        if match := pattern.match(self._text, self._at):
            self._at = match.end()
        return match

    def _write(self, value: Value | Unit) -> bool:
        if len(self.bound) >= MOST_STEPS:
            raise ComputeError("the expression has too many values")
        name = f"_{len(self.bound)}"
        self.bound[name] = value
        self._written.append(name)
        return False

    def _enter(self, bracket: str, called: str = "") -> bool:
        self._open.append(called or bracket)
        if len(self._open) > MOST_DEPTH:
            raise ComputeError("the expression is nested too deeply")
        self._written.append(called + bracket)
        self._label()
        return True

    # --- before and after a value: whether a value is awaited then ---------------------------------

    def _operand(self) -> bool:
        rest, opened = self._rest(), self._open[-1] if self._open else ""
        if not rest:
            raise ComputeError("the expression ends too early")
        self._signs += 1
        if self._signs > MOST_DEPTH:
            raise ComputeError("the expression is nested too deeply")
        if rest[0] in "+-":
            self._at += 1
            self._written.append(rest[0])
            return True
        if rest[0] in "([{":
            self._at += 1
            return self._enter(rest[0])
        if opened and rest[0] in ")]}" and self._written[-1][-1] in "([{,":
            return self._operator()
        self._signs = 0
        if opened == "convert" and self._written[-1] == ",":
            quoted = self._match(_TEXT)
            return self._write(ExpressionReader(quoted[1] or quoted[2] or "").single_unit() if quoted else self._unit())
        if opened == "[" and read_date(self._text, self._at) is None and (bare := self._match(_BARE)):
            return self._write(bare[0].strip())
        if (amount := self._amount()) is not None:
            return self._write(amount)
        if (quoted := self._match(_TEXT)) is not None:
            return self._write(quoted[1] if quoted[1] is not None else quoted[2])
        return self._named()

    def _amount(self) -> Value | None:
        """The date or number that comes next; None for anything else."""
        self._rest()
        if (date := read_date(self._text, self._at)) is not None:
            self._at = date[1]
            return date[0]
        return self._number() if _NUMBER.match(self._text, self._at) else None

    def _named(self) -> bool:
        match = self._match(_WORD)
        if match is None:
            raise self._unread()
        name = match[0].lower()
        if self._taken("("):
            if name not in FUNCTIONS and name not in ("convert", "table"):
                known = ", ".join(FUNCTIONS)
                raise ComputeError(f"there is no function {name[:40]!r}; there are {known}, convert, table")
            return self._enter("(", name)
        if name in ORDERS:
            return self._write(name)
        raise ComputeError(f"{match[0][:40]!r} is not known here; put text in quotes")

    def _operator(self) -> bool:
        opened = self._open[-1] if self._open else ""
        closing = _CLOSING.get(opened, ")") if opened else ""
        if closing and self._taken(closing):
            self._open.pop()
            self._written.append(closing)
            return False
        match = _SIGN.match(self._text, self._at) or _WORD.match(self._text, self._at)
        sign = match[0] if match else ""
        if sign in {",", ";"} and opened not in {"", "("}:
            self._at += 1
            self._written.append(",")
            self._label()
            return True
        plain = sign.lower() if sign in (sign.lower(), sign.upper()) else ""
        if match is None or sign in {",", ";"} or not (_PYTHON.get(plain) or not sign[0].isalpha()):
            raise self._unread(f"stands where {closing!r} is expected" if closing else "cannot be read here")
        self._at = match.end()
        if sign == "%":
            if re.match(r"[\d(.]", self._rest()):
                raise ComputeError("write 15% of 240 for a percentage")
            self._written.append(".percent")
            return False
        self._written.append(_PYTHON.get(plain, sign))
        return self._write(self._unit()) if plain in {"to", "in"} else True

    def _label(self) -> None:
        """Take the label before a labelled value: "Anna: 12", "'St. Mary': 9"."""
        if self._open[-1] != "{" or self._rest().startswith("}"):
            return
        match = self._match(_LABEL)
        if match is None:
            raise ComputeError("write labelled values as {Anna: 12, 'St. Mary': 9}")
        self._write(next(group for group in match.groups() if group is not None).strip())
        self._written.append(":")

    # --- units and numbers -------------------------------------------------------------------------

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
            result = unit_conversion.combined(-1, result, self._one_unit())
            result = Unit(" ".join(self._text[begun : self._at].split()), result.pint)
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
        raised = unit_conversion.combined(2 if sign[0][-1] in "²2" else 3, unit)
        return Unit(" ".join(self._text[begun : self._at].split()), raised.pint)

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
        if grouped and self._open and self._open[-1] != "(":
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
            self._match(_WORD)
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
