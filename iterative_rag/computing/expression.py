"""Reads an expression by Python's own grammar and computes it node by node: nothing of it is ever run.

First it is written as Python would write it. Dates, numbers with their units, texts and labels become names of values,
"of" becomes a product, a "%" behind a value its attribute, and "to" or "in" before a unit the operator |, which binds
less than a sum and more than a comparison. Length, depth and the number of values are bounded.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from itertools import pairwise

from iterative_rag.computing.arithmetic import RELATIONS, add, compare, divide, multiply, negated, power, read_date
from iterative_rag.computing.functions import FUNCTIONS, ORDERS, called
from iterative_rag.computing.operands import Amount, Items, Unit, Value, number, plain, said, unit_at
from iterative_rag.errors import ComputeError
from iterative_rag.text.languages import language_of
from iterative_rag.text.patterns import lazy_pattern

MOST_CHARACTERS, MOST_DIGITS, MOST_DEPTH, MOST_VALUES = 8000, 60, 32, 600

_SPELLED = str.maketrans(
    {"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "!=", "“": '"', "”": '"', ";": ","}
)
_CURRENCY = "$€£¥"
_SIGN = lazy_pattern(r"\*\*|<=|>=|==|!=|[-+*/^%<>=(){}\[\],]")
_SIGNS_IN_PYTHON = {"^": "**", "=": "=="}
_MANY_SIGNS = lazy_pattern(r"(?:[-+]\s*){9}")
_SPACE, _WORD = lazy_pattern(r"\s*"), lazy_pattern(r"°?[^\W\d_]\w*|°")
_NUMBER = lazy_pattern(r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,2}(?![\w.]))?")
_GROUPED = lazy_pattern(r"\d{1,3}(?:,\d{3}){1,12}(?:\.\d+)?(?![\d,]*\d)")
_TEXT = lazy_pattern(r"'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\"")
_LABEL = lazy_pattern(r"(?P<label>'[^']{1,200}'|\"[^\"]{1,200}\"|[^:,{}\[\]'\"\n]{1,120}?)\s*:")
# A text in a list needs no quotes: [Paris, Rome].
_BARE = lazy_pattern(r"[^\W\d_][\w .’&-]{0,80}?(?=\s*[,\]])")
_NO_UNITS = frozenset({"of", "and", "or", "to", "between", "per"})


def evaluate(text: str) -> Value:
    """The typed value of an expression. Raises ComputeError, whose message says how to correct the expression."""
    return _Expression(text).value()


class _Expression:
    """An expression in the words of Python (`_code`), with the values that its names `_0`, `_1` ... stand for."""

    def __init__(self, text: str) -> None:
        if len(text) > MOST_CHARACTERS:
            raise ComputeError(f"the expression is longer than {MOST_CHARACTERS} characters")
        self._text, self._at = text.translate(_SPELLED), 0
        if len(used := [sign for sign in _CURRENCY if sign in self._text]) > 1:
            raise ComputeError("an expression cannot mix currencies")
        self._text = self._text.replace(used[0], "") if used else self._text
        if _MANY_SIGNS.search(self._text):
            raise ComputeError("there are too many signs in a row")
        self._code: list[str] = []
        self._values: list[Value | Unit] = []
        self._open: list[str] = []  # what is open: "(", "[", "call", or "{", in which a label is expected
        self._complete = False  # whether a value or a closing bracket was read last

    def value(self) -> Value:
        while self._rest():
            self._next()
        if not self._complete:
            raise ComputeError("the expression ends too early")
        try:
            return self._computed(ast.parse(" ".join(self._code), mode="eval").body)
        except SyntaxError:
            raise ComputeError("the expression cannot be read; write it like 2 * (1912 - 1825)") from None
        except (MemoryError, RecursionError):
            raise ComputeError("the expression is nested too deeply") from None

    def _rest(self) -> str:
        """What comes next, without the space before it."""
        if space := _SPACE.match(self._text, self._at):
            self._at = space.end()
        return self._text[self._at : self._at + 30]

    def _matched(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Take what comes next if it matches."""
        self._rest()
        if match := pattern.match(self._text, self._at):
            self._at = match.end()
        return match

    def _put(self, value: Value | Unit) -> None:
        if self._complete:
            raise self._unread()
        if len(self._values) >= MOST_VALUES:
            raise ComputeError("the expression has too many values")
        self._code.append(f"_{len(self._values)}")
        self._values.append(value)
        self._complete = True

    def _unread(self) -> ComputeError:
        return ComputeError(f"what stands before {self._rest() or 'the end'!r} cannot be read here")

    def _next(self) -> None:
        """Read the next sign, value or word."""
        inside = self._open[-1] if self._open else ""
        date = read_date(self._text, self._at)
        if not self._complete and inside == "{" and self._text[self._at] != "}":
            self._label()
        elif date is not None:
            self._at = date[1]
            self._put(date[0])
        elif _NUMBER.match(self._text, self._at):
            self._put(self._amount())
        elif match := self._matched(_TEXT):
            self._put(match["single"] or match["double"] or "")
        elif not self._complete and inside == "[" and (match := self._matched(_BARE)):
            self._put(match[0].strip())
        elif match := self._matched(_SIGN):
            self._sign(match[0])
        elif match := self._matched(_WORD):
            self._word(match[0])
        else:
            raise ComputeError(f"{self._rest()!r} cannot be read here")

    def _sign(self, sign: str) -> None:
        if sign in "([{":
            self._opened(sign, sign)
        elif sign in ")]}":  # whether it fits is left to Python
            del self._open[-1:]
            self._code.append(sign)
            self._complete = True
        elif sign == "%":
            if not self._complete or re.match(r"[\d(.]", self._rest()):
                raise ComputeError("write 15% of 240 for a percentage")
            self._code.append(".percent")
        else:
            if sign == "," and self._open and self._open[-1] == "{:":
                self._open[-1] = "{"
            self._code.append(_SIGNS_IN_PYTHON.get(sign, sign))
            self._complete = False

    def _label(self) -> None:
        """Read the label of a value: {Anna: 12, 'St. Mary': 9}."""
        if (match := self._matched(_LABEL)) is None:
            raise ComputeError("write labelled values as {Anna: 12, 'St. Mary': 9}")
        self._put(match["label"].strip("'\"").strip())
        self._sign(":")
        self._open[-1] = "{:"

    def _opened(self, sign: str, kind: str) -> None:
        if self._complete:
            raise self._unread()
        if len(self._open) >= MOST_DEPTH:
            raise ComputeError("the expression is nested too deeply")
        self._open.append(kind)
        self._code.append(sign)

    def _word(self, word: str) -> None:
        name = word.lower()
        if self._complete and name in {"to", "in"}:
            self._sign("|")
            self._rest()
            unit, self._at = unit_at(self._text, self._at)
            self._put(unit)
        elif self._complete and name == "of":
            self._sign("*")
        elif self._rest().startswith("("):
            if name not in FUNCTIONS:
                raise ComputeError(
                    f"there is no function {name[:40]!r}; there are {', '.join(FUNCTIONS)}, and 12 ft to m"
                )
            self._at += 1
            self._code.append(name)
            self._opened("(", "call")
        elif name in ORDERS:
            self._put(name)
        else:
            raise ComputeError(f"{word[:40]!r} is not known here; put text in quotes")

    def _amount(self) -> Value:
        """A number with its unit, if any; "5 ft 11 in" is one value."""
        result: Value = self._number()
        while isinstance(result, Amount) and result.unit and self._rest()[:1].isdecimal():
            more = self._number()
            if not more.unit:
                raise ComputeError(f"{said(more)} cannot follow {said(result)}")
            result = add(result, more)
        return result

    def _number(self) -> Amount:
        grouped = _GROUPED.match(self._text, self._at)
        if grouped and self._open and self._open[-1] != "(":
            raise ComputeError(f"{grouped[0]!r} may be one number or several; write numbers without commas inside")
        match = grouped or _NUMBER.match(self._text, self._at)
        if match is None or len(match[0]) > MOST_DIGITS:
            raise ComputeError(f"a number may have at most {MOST_DIGITS} digits")
        self._at = match.end()
        value = Fraction(match[0].replace(",", ""))
        scales = language_of("en").scales
        while (word := _WORD.match(self._rest())) and word[0].lower() in scales:
            self._matched(_WORD)
            value = number(value * int(scales[word[0].lower()])).value
        if word is None or word[0].lower() in _NO_UNITS:
            return number(value)
        unit, self._at = unit_at(self._text, self._at)
        return Amount(value, unit)

    def _computed(self, node: ast.expr) -> Value:
        match node:
            case ast.Name(id=name) if not isinstance(value := self._values[int(name[1:])], Unit):
                return value
            case ast.Attribute(value=inner):
                return number(plain(self._computed(inner)) / 100, percent=True)
            case ast.UnaryOp(op=op, operand=inner):
                value = self._computed(inner)
                return negated(value) if isinstance(op, ast.USub) else value
            case ast.BinOp(left=left, op=ast.BitOr(), right=ast.Name(id=name)):
                return _converted(self._computed(left), self._values[int(name[1:])])
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](self._computed(left), self._computed(right))
            case ast.Compare(left=first, ops=ops, comparators=others):
                values = [self._computed(item) for item in (first, *others)]
                relations = [RELATIONS[_SIGNS[type(op)]] for op in ops]
                return all(holds(compare(*pair), 0) for holds, pair in zip(relations, pairwise(values), strict=True))
            case ast.List(elts=entries):
                return Items(tuple(map(self._computed, entries)))
            case ast.Dict(keys=keys, values=entries) if keys:
                labels = tuple(said(self._computed(key)) for key in keys if key)
                return Items(tuple(map(self._computed, entries)), labels)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return called(name, [self._computed(argument) for argument in arguments])
        raise ComputeError("the expression cannot be read; it has to be one value or calculation")


_OPERATORS: Mapping[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: add,
    ast.Sub: partial(add, sign=-1),
    ast.Mult: multiply,
    ast.Div: divide,
    ast.Pow: power,
}
_SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!=", ast.GtE: ">=", ast.Gt: ">"}


def _converted(value: Value, wanted: object) -> Value:
    if not isinstance(value, Amount) or not value.unit or not isinstance(wanted, Unit):
        raise ComputeError(f"{said(value)} has no unit; write 12 ft to m")
    return Amount(value.measured_in(wanted), wanted)
