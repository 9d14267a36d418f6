"""Read numbers together with their sign, scale, unit or currency, what they count, and a bound."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from iterative_rag.text import units
from iterative_rag.text.dates import Date
from iterative_rag.text.languages import is_function_word, language_of
from iterative_rag.text.numerals import Digits
from iterative_rag.text.patterns import DIGIT, lazy_pattern
from iterative_rag.text.values import Mention, Moment, Quantity, Value

_MONEY_SCALES = {"k": 1e3, "m": 1e6, "mn": 1e6, "b": 1e9, "bn": 1e9, "tn": 1e12}  # of money: "$5m"
_CURRENCY = r"(?:us|a|c|ca|nz|hk)?\$|[£€¥₹]|(?:usd|eur|gbp|chf)(?=\s?\d)"
_COUNTED = lazy_pattern(r"[\s-]{1,2}(?P<word>[^\W\d_](?:[\w'/]|\.(?=\w))*)")
_MOST_COUNTED, _MOST_DIGITS = 5, 40
_YEAR, _YEAR_BEFORE = lazy_pattern(r"1\d{3}|20\d{2}"), lazy_pattern(r"\byear\s+$")
_SHORT_YEAR = lazy_pattern(r"\d{3}")
_STRICT = r"\d{1,3}(?:'\d{3})+|\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?|\d{1,3}(?:[ .]\d{3}){2,}|\d+(?:\.\d+)?"
# Raised figures behind a number are a note.
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
_LENIENT = r"\d{1,3}(?:[.,' ]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)?"


@cache
def _number_pattern(code: str, *, lenient: bool) -> re.Pattern[str]:
    known = language_of(code)
    scale = "|".join(sorted((word for word in known.scales), key=len, reverse=True))
    ordinal = "|".join(known.ordinal_endings)
    start = r"(?<![^\W_])" if lenient else r"(?<!\w)(?<!\d[.,:/])(?:(?<![^\W\d_][-.])|(?<=\bc\.)|(?<=\bca\.))"
    end = r"" if lenient else rf"(?![^\W{_RAISED}]|:|[.,/]\d|-\d+-)"
    minus = "|".join(known.minus) or "minus"
    return re.compile(
        rf"{start}(?:(?P<currency>{_CURRENCY})\s?)?(?P<sign>(?:(?<![\w)\]])-|\b(?:{minus})\s))?"
        rf"(?P<digits>{_LENIENT if lenient else _STRICT})"
        rf"(?:(?P<ordinal>{ordinal})(?!\w)|(?P<plural>'?s)(?!\w))?(?P<glued>[^\W\d_ºª]+(?:/[a-z]+|[²³])?)?{end}"
        rf"(?:(?:\s|-){{1,2}}(?P<scale>{scale})(?!\w)(?:(?<=mio|mrd|tsd|mln|mld)\.)?)?"
    )


def quantities(text: str, digits: Digits, code: str, *, lenient: bool) -> Iterable[Mention]:
    matches = _number_pattern(code, lenient=lenient).finditer(digits.text) if DIGIT.search(digits.text) else ()
    return filter(None, (_number(match, text, digits, code, lenient=lenient) for match in matches))


def _number(match: re.Match[str], text: str, digits: Digits, code: str, *, lenient: bool) -> Mention | None:
    """The number of a match; None if letters make it something else ("3D", "747s")."""
    if len(match["digits"]) > _MOST_DIGITS:
        return None
    plain = digits.text
    scale, known, end, glued = _glued(match, plain, code)
    named = _in_name(text, digits, match.start())
    if glued or match["plural"]:
        if not lenient:
            return None
        end, named = match.end("digits"), True
    counted: tuple[str, ...] = ()
    after, capitals = end, False
    if not glued:
        if not known and (unit_name := _unit_after(plain, match.start(), end, code)):
            known, end = unit_name.units, unit_name.end
        counted, after, capitals = _counted(text, digits, end, code)
    if match["ordinal"] == ".":
        known = ()
    before = plain[max(0, match.start() - 40) : match.start()]
    sign, bound, about = -1.0 if match["sign"] else 1.0, bound_before(before), is_about(before)
    more = 0.5 if known and (half := _and_a_half(code).match(plain, end)) else 0.0
    end = half.end() if more and half else end
    ordinal = match["ordinal"] is not None
    readings: list[Value] = [
        Quantity(sign * (value + more), step, ordinal, unit, counted, bound, about=about)
        for value, step in _amounts(match["digits"], scale, code, lenient=lenient)
        for unit in known or ("",)
    ]
    alone = not (known or match["ordinal"] or match["sign"] or match["scale"])
    written = match["digits"]
    if alone and (_YEAR.fullmatch(written) or (_SHORT_YEAR.fullmatch(written) and _YEAR_BEFORE.search(before))):
        readings.insert(0, Moment(Date(int(written)), bound, about=about))
    worded = match.start("digits") in digits.worded
    return Mention(tuple(readings), match.start(), end, after, worded, named, capitals)


def _glued(match: re.Match[str], plain: str, code: str) -> tuple[float, tuple[str, ...], int, str]:
    """What is attached to the digits without a space: (scale, units, where they end, letters that are neither)."""
    scales = language_of(code).scales
    scale, glued = scales.get(match["scale"] or "", 1.0), match["glued"] or ""
    money = units.unit_of(match["currency"]) if match["currency"] else ""
    if money and glued in _MONEY_SCALES:
        return _MONEY_SCALES[glued], (money,), match.end(), ""
    if glued in scales:
        return scales[glued], (money,) if money else (), match.end(), ""
    if glued and not money and (unit := units.unit_at(plain, match.start("glued"), code)):
        return scale, unit.units, unit.end, ""
    return scale, (money,) if money else (), match.end(), glued


@cache
def _and_a_half(code: str) -> re.Pattern[str]:
    """ "three hours and a half": what follows the unit."""
    return re.compile(rf"\s+(?:{'|'.join(language_of(code).and_a_half) or '(?!)'})(?!\w)")


_INCHES = lazy_pattern(r"\s?(?:in(?:\.|(?!\w))|\")")
_FEET, _OF = lazy_pattern(r"'(?=\s?\d)"), lazy_pattern(r"\s+(?:de|d'|di|von|of)\s*")
_FEET_BEFORE = lazy_pattern(r"\d\s?(?:ft|feet|foot|')[\s,-]*$")


def _unit_after(plain: str, start: int, end: int, code: str) -> units.UnitName | None:
    """The unit right after a number, or after one word that describes it: "seven long years"."""
    if unit := units.unit_at(plain, end, code):
        return unit
    if (inches := _INCHES.match(plain, end)) and _FEET_BEFORE.search(plain[max(0, start - 12) : start]):
        return units.UnitName(("inch",), inches.end())
    if feet := _FEET.match(plain, end):
        return units.UnitName(("foot",), feet.end())
    of = _OF.match(plain, end)
    if of and (unit := units.unit_at(plain, of.end(), code)):
        return unit
    word = _COUNTED.match(plain, end)
    if word is None or is_function_word(word["word"], code):
        return None
    unit = units.unit_at(plain, word.end(), code)
    name = plain[word.end() : unit.end].strip() if unit else ""
    is_model = name == "year" and plain[start:end].strip() != "1"  # "the 2018 model year" is not a duration
    return unit if len(name) > 2 and not is_model else None


def _amounts(written: str, scale: float, code: str, *, lenient: bool) -> list[tuple[float, float]]:
    """The readings of digits, each with its rounding step: a number with decimals or a large scale is rounded there."""
    plain = re.sub(r"[' ]", "", written)
    marks = re.findall(r"[.,]", plain)
    pointed, grouped = plain.replace(",", "."), re.sub("[.,]", "", plain)
    decimal = "." if code in ("en", "") else ","
    may_be_grouped = re.fullmatch(r"\d{1,3}[.,]\d{3}", plain)
    if len(set(marks)) == 2:
        whole, _, rest = plain.rpartition(marks[-1])
        numbers = [f"{re.sub('[.,]', '', whole)}.{rest}"]
    else:
        numbers = [grouped if len(marks) > 1 or (may_be_grouped and marks[0] != decimal) else pointed]
    if lenient and may_be_grouped and (marks[0] == decimal or not code):
        numbers += [pointed, grouped]
    amounts = []
    for number in dict.fromkeys(numbers):
        decimals = len(number.partition(".")[2])
        amounts.append((round(float(number) * scale, 6), scale * 10.0**-decimals if decimals or scale >= 1e6 else 0.0))
    return amounts


def _counted(text: str, digits: Digits, end: int, code: str) -> tuple[tuple[str, ...], int, bool]:
    """The words after a number: (folded words, where they end, whether one is capitalised)."""
    words: list[str] = []
    capitals = False
    afterthoughts = language_of(code).afterthoughts
    while len(words) < _MOST_COUNTED and (match := _COUNTED.match(digits.text, end)):
        word = match["word"]
        if word not in afterthoughts and word != "per" and word in language_of(code).function_words:
            break
        end = match.end()
        if word in afterthoughts:
            continue
        capitals = capitals or text[digits.at[match.start("word")]].isupper()
        words.append(word)
    return tuple(words), end, capitals


_BOUND = lazy_pattern(
    r"(?:\b(?:(?P<le>(?:no|not) (?:more|later|greater) than|at (?:the )?most|up to|maximum of)"
    r"|(?P<ge>(?:no|not) (?:less|fewer|earlier) than|at (?:the )?least|minimum of)"
    r"|(?P<gt>(?:more|greater|later|higher) than|over|above|exceeding|after)"
    r"|(?P<lt>(?:less|fewer|earlier|lower) than|under|below|before|until))"
    r"|(?P<more>>)|(?P<fewer><))\s*(?:about|around|the year|the)?\s*$"
)
_BOUNDS = {"le": "<=", "ge": ">=", "gt": ">", "more": ">", "lt": "<", "fewer": "<"}
_NAME_BEFORE = lazy_pattern(r"(?<!\w)(?P<word>[A-Z][\w'.]*)[\s-]+$")


def bound_before(before: str) -> str:
    match = _BOUND.search(before)
    return _BOUNDS[match.lastgroup] if match and match.lastgroup else ""


def is_about(before: str) -> bool:
    return _about().search(before) is not None


@cache
def _about() -> re.Pattern[str]:
    return re.compile(rf"(?:(?<!\w)(?:{'|'.join(language_of('').about)})|~|≈)\s*$")


def _in_name(text: str, digits: Digits, start: int) -> bool:
    """Whether a number directly follows a name or is attached to letters: "Apollo 11", "B-29"."""
    before = text[max(0, digits.at[start] - 40) : digits.at[start]]
    if re.search(r"[^\W\d_][-.]$", before):
        return True
    match = _NAME_BEFORE.search(before)
    return match is not None and not _is_plain(match["word"].lower())


@lru_cache(maxsize=4096)
def _is_plain(word: str) -> bool:
    return word.strip(".") in language_of("").no_names or is_function_word(word, "")
