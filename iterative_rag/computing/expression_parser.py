"""Parse and evaluate an expression in one pass by recursive descent; no Python code is ever run.

    expression  = conjunction {"or" conjunction}            conjunction = negation {"and" negation}
    negation    = ["not"] comparison                        comparison  = conversion {("<" | "=" | ...) conversion}
    conversion  = sum {("to" | "in") unit}                  sum         = product {("+" | "-") product}
    product     = signed {("*" | "/" | "of") signed}        signed      = {"-" | "+"} power
    power       = atom ["%"] ["^" signed]                   atom        = number [unit] | date | text | list | call ...

Length, depth, the number of values and the size of each are bounded, so that no expression takes long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from iterative_rag.computing import unit_conversion
from iterative_rag.computing.arithmetic import RELATIONS, add, divide, multiply, negated, power, related
from iterative_rag.computing.date_arithmetic import read_date
from iterative_rag.computing.functions import FUNCTIONS, called
from iterative_rag.computing.list_functions import ORDERS
from iterative_rag.computing.operands import Items, Measure, Scalar, Value, number, said
from iterative_rag.computing.table_columns import column
from iterative_rag.computing.tokenizer import T, Tokenizer
from iterative_rag.computing.unit_conversion import Unit
from iterative_rag.errors import ComputeError
from iterative_rag.text.dates import MONTH_PATTERN
from iterative_rag.text.patterns import lazy_pattern

_NAME = lazy_pattern(r"[^\W\d_]\w*")
_LABEL = lazy_pattern(r"\s*(?:'([^']{1,200})'|\"([^\"]{1,200})\"|([^:,{}\[\]'\"\n]{1,120}?))\s*:")
_BARE = lazy_pattern(r"[^\W\d_][\w .’&-]{0,80}?(?=\s*[,;\]])")
_FOOTNOTE = lazy_pattern(r"\s*\[\w{1,7}\]\s*$")
_OPENS_CELL = lazy_pattern(rf"[-−+$€£¥]?\s*\.?\d|(?:{MONTH_PATTERN})\b|AD\b", re.IGNORECASE)
_OPENS_NUMBER = lazy_pattern(r"\.?\d")


class Parser(Tokenizer):
    """Parses one expression. Call `value()` or `literal()` once."""

    def value(self) -> Value:
        """The value of the whole text. Raises ComputeError."""
        result = self._expression()
        self._ended()
        return result

    def literal(self) -> Value:
        """The value, if the whole text is a single number, quantity or date: "1,234", "45%", "1 March 1912"."""
        minus = self._sign("-") is not None
        result = self._atom()
        if isinstance(result, Scalar) and self._sign("%"):
            result = number(result.value / 100, percent=True)
        self._ended()
        return negated(result) if minus else result

    # --- operators ---------------------------------------------------------------------------

    def _expression(self) -> Value:
        return self._nested(lambda: self._joined("or", lambda: self._joined("and", self._negation)))

    def _joined(self, word: str, part: Callable[[], Value]) -> Value:
        result = part()
        while self._keyword(word):
            first, second = _truth(result, word), _truth(part(), word)
            result = (first or second) if word == "or" else (first and second)
        return result

    def _negation(self) -> Value:
        if self._keyword("not"):
            return not _truth(self._comparison(), "not")
        return self._comparison()

    def _comparison(self) -> Value:
        left = self._conversion()
        if self._keyword("between"):
            low = self._conversion()
            if not self._keyword("and"):
                raise ComputeError('"between" needs two limits: x between 1 and 9')
            return called("between", [left, low, self._conversion()])
        result: Value = left
        compared = False
        while (sign := self._sign(*RELATIONS)) is not None:
            right = self._conversion()
            holds = related(left, sign, right)
            result, left, compared = holds and (result is True or not compared), right, True
        return result

    def _conversion(self) -> Value:
        result = self._sum()
        while self._keyword("to") or (isinstance(result, Measure) and self._keyword("in")):
            result = _converted(result, self._unit())
        return result

    def _sum(self) -> Value:
        result = self._product()
        while (sign := self._sign("+", "-")) is not None:
            result = add(result, self._product(), 1 if sign == "+" else -1)
        return result

    def _product(self) -> Value:
        result = self._signed()
        while True:
            if self._sign("//"):
                result = called("floor", [divide(result, self._signed())])
            elif self._sign("*") or self._keyword("of"):
                result = multiply(result, self._signed())
            elif self._sign("/"):
                result = divide(result, self._signed())
            elif self._keyword("mod"):
                result = called("mod", [result, self._signed()])
            else:
                return result

    def _signed(self) -> Value:
        minus = False
        while (sign := self._sign("-", "+")) is not None:
            minus ^= sign == "-"
        result = self._power()
        return negated(result) if minus else result

    def _power(self) -> Value:
        base = self._atom()
        if self._sign("%"):
            if not isinstance(base, Scalar):
                raise ComputeError(f"{said(base)} cannot be a percentage")
            if self._follows(r"[\d(.]"):
                raise ComputeError("write mod(17, 5) for a remainder, 15% of 240 for a percentage")
            base = number(base.value / 100, percent=True)
        if not self._sign("**", "^"):
            return base
        return power(base, self._nested(self._signed))

    # --- atoms -------------------------------------------------------------------------------

    def _atom(self) -> Value:
        self._step()
        for opening, read in (("(", self._grouped), ("[", self._list), ("{", self._labelled)):
            if self._sign(opening):
                return read()
        if (date := read_date(self._text, self._at)) is not None:
            self._at = date[1]
            return date[0]
        if _OPENS_NUMBER.match(self._text, self._at):
            return self._number()
        if (text := self._quoted()) is not None:
            return text
        return self._named()

    def _grouped(self) -> Value:
        outside, self._listing = self._listing, 0
        result = self._expression()
        self._listing = outside
        self._closed(")")
        return result

    def _list(self) -> Value:
        return Items(tuple(self._several("]", self._item)))

    def _item(self) -> Value:
        """An item of a list: a value, or a name that may go without quotes."""
        self._skip()
        bare = _BARE.match(self._text, self._at)
        if bare and read_date(self._text, self._at) is None and bare[0].lower() not in {"true", "false"}:
            self._step()
            self._at = bare.end()
            return bare[0].strip()
        return self._expression()

    def _labelled(self) -> Value:
        pairs = self._several("}", self._pair)
        return Items(tuple(value for _, value in pairs), tuple(label for label, _ in pairs))

    def _pair(self) -> tuple[str, Value]:
        match = _LABEL.match(self._text, self._at)
        if match is None:
            raise ComputeError("write labelled values as {Anna: 12, 'St. Mary': 9}")
        self._at = match.end()
        return next(group for group in match.groups() if group is not None).strip(), self._expression()

    def _several(self, closing: str, read: Callable[[], T]) -> list[T]:
        """Values between commas up to a closing bracket."""
        self._listing += 1
        found: list[T] = []
        while not self._sign(closing):
            if found and not self._sign(",", ";"):
                raise ComputeError(f"{self._rest()!r} stands where a comma or {closing!r} is expected")
            if found and self._sign(closing):
                break
            found.append(self._nested(read))
        self._listing -= 1
        return found

    def _named(self) -> Value:
        match = _NAME.match(self._text, self._at)
        if match is None:
            at_end = self._at >= len(self._text)
            raise ComputeError("the expression ends too early" if at_end else f"{self._rest()!r} cannot be read here")
        name = match[0].lower()
        self._at = match.end()
        if self._sign("("):
            return self._call(name)
        if name in {"true", "false"}:
            return name == "true"
        if name in ORDERS:
            return name
        raise ComputeError(f"{match[0][:40]!r} is not known here; put text in quotes")

    def _call(self, name: str) -> Value:
        if name == "convert":
            return self._convert()
        if name == "table":
            return _column(self._several(")", self._expression))
        if name not in FUNCTIONS:
            raise ComputeError(f"there is no function {name[:40]!r}; there are {', '.join(FUNCTIONS)}, convert, table")
        return called(name, self._several(")", self._expression))

    def _convert(self) -> Value:
        self._listing += 1
        result = self._expression()
        self._listing -= 1
        if not self._sign(",", ";"):
            raise ComputeError("write a conversion as convert(12 ft, m)")
        quoted = self._quoted()
        wanted = self._unit() if quoted is None else Tokenizer(quoted).single_unit()
        self._closed(")")
        return _converted(result, wanted)


def _truth(value: Value, word: str) -> bool:
    if not isinstance(value, bool):
        raise ComputeError(f'"{word}" joins comparisons only, not {said(value)}')
    return value


def _converted(value: Value, wanted: Unit) -> Value:
    if not isinstance(value, Measure):
        raise ComputeError(f"{said(value)} has no unit; write convert(12 ft, m)")
    return Measure(unit_conversion.converted(value.value, value.unit, wanted), wanted)


def _cell(text: str) -> Value:
    """The value of a table cell: a number, measure or date if it is one, else its text."""
    bare = _FOOTNOTE.sub("", text)
    if not _OPENS_CELL.match(bare):
        return text
    try:
        return Parser(bare).literal()
    except ComputeError:
        return text


def _column(arguments: Sequence[Value]) -> Items:
    texts = [said(value) for value in arguments]
    if not 2 <= len(texts) <= 3:
        raise ComputeError("write a column as table('| City | People |\\n| Orm | 900 |', 'People')")
    return column(texts[0], texts[1], texts[2] if len(texts) == 3 else "", _cell)
