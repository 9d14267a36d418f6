"""Finds numbers, dates and ranges in a text, however they are written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

from iterative_rag.builtin.language.quantities import Date, Number, convert, dimension
from iterative_rag.builtin.language.words import MONTHS, STOPWORDS, fold, stem, word_set
from iterative_rag.evaluation.scoring.numerals import with_digits
from iterative_rag.evaluation.scoring.values import Moment, Quantity, Span, Value


@dataclass(frozen=True, slots=True)
class Mention:
    """A value in a prepared text, at `start` to `end`; `after` is where the words of its unit end.

    A bare 1987 has two readings: a year first, then a number. `named` ones stand in a name ("Apollo 11"), `capitals`
    says that a word of its unit is written large ("12 Monkeys").
    """

    readings: tuple[Value, ...]
    start: int
    end: int
    after: int
    named: bool = False
    capitals: bool = False


def read_value(text: str) -> tuple[Value, ...]:
    """The readings of a text that is one value and nothing else ("in the year 1987", "87 years"); else none."""
    written = prepared(text)
    found = mentions(written)
    if len(found) != 1 or found[0].capitals or re.search(r"\w", written[found[0].after :]):
        return ()
    before = _BOUND.sub("", written[: found[0].start])
    allowed = _FILLERS | _WEEKDAYS if isinstance(found[0].readings[0], Moment) else _FILLERS
    if not all(word in allowed for word in re.findall(r"[\w'.]+", fold(before))):
        return ()
    # "1169 cc" is no year, though "1169" alone would be one.
    measured = tuple(one for one in found[0].readings if isinstance(one, Quantity) and one.unit)
    return measured or found[0].readings


# --- one writing for all -----------------------------------------------------------------------


@lru_cache(maxsize=4096)
def prepared(text: str) -> str:
    """No accents, plain dashes, digits for number words; capitals stay."""
    text = re.sub(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))", ",", text)
    text = re.sub(r"([^\W\d_]+)²", r"square \1", re.sub(r"([^\W\d_]+)³", r"cubic \1", text))
    text = re.sub(r"[\u2010-\u2015\u2212]", "-", text).replace("’", "'").replace("²", "^2").replace("³", "^3")
    decomposed = unicodedata.normalize("NFKD", with_digits(text))
    text = "".join(character for character in decomposed if not unicodedata.combining(character))
    text = re.sub(r"\bper\s+cent\b", "percent", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(mid|early|late)-(?=\d)", r"\1 ", text, flags=re.IGNORECASE)
    return _FRACTION.sub(lambda match: f"{int(match[1]) / int(match[2]):.6g}", text)


_FRACTION = re.compile(r"(?<![\d/.,])([1-9])/(2|3|4|5|6|8|10)(?![\d/.,])")

# --- dates -------------------------------------------------------------------------------------

_MONTH = "|".join([*MONTHS, "sept", *(month[:3] for month in MONTHS)])
_ERA = r"\s*(?P<{0}e>B\.?C\.?(?:E\.?)?|A\.?D\.?|C\.?E\.?)(?!\w)"
_YEAR = rf"(?P<{{0}}>\d{{{{3,4}}}}(?!\d)|\d{{{{1,2}}}}(?={_ERA.format('{0}x')}))(?:{_ERA})?"
_DAY = r"(?P<{0}>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:]|,\d|\.\d)"
# Not in the middle of a word or a number, nor behind a letter's hyphen or point ("B-29", "No.5").
_START = r"(?<!\w)(?<!\d[.,:/])(?<![^\W\d_][-.])"
_DATE = re.compile(
    _START + rf"(?:{_DAY.format('d1')}\s+(?:day\s+)?(?:of\s+)?(?P<m1>{_MONTH})(?!\w)\.?"
    rf"(?:(?:,|\s+of)?\s+{_YEAR.format('y1')})?"
    rf"|(?P<m2>{_MONTH})\.?\s+(?:the\s+)?{_DAY.format('d2')}(?:,?\s+{_YEAR.format('y2')})?"
    rf"|(?P<m3>{_MONTH})\.?,?\s+(?:of\s+)?{_YEAR.format('y3')}"
    r"|(?P<y4>\d{4})-(?P<m4>\d{2})-(?P<d4>\d{2})(?![\d-])"
    r"|(?P<d5>\d{1,2})(?P<mark>[./])(?P<m5>\d{1,2})(?P=mark)(?P<y5>\d{4})(?![\d./])"
    rf"|A\.?D\.?\s+(?P<y6>\d{{1,4}})(?![\d.,])|(?P<y7>\d{{1,4}}){_ERA.format('y7')})",
    re.IGNORECASE,
)


def _dated(match: re.Match[str], text: str) -> Mention | None:
    """A date; None for one that cannot be (13 parts of a year) or that can be read in two ways (5/6/1987)."""
    said = {key: value for key, value in match.groupdict().items() if value}
    of = {key[0]: value for key, value in said.items() if key[0] in "dmy" and len(key) == 2 and key[1].isdigit()}
    month = of.get("m", "0")
    day, number = int(of.get("d", 0)), int(month) if month.isdigit() else _month(month)
    if "mark" in said:
        if said["mark"] == "/" and max(day, number) <= 12 and day != number:
            return None
        day, number = (number, day) if number > 12 else (day, number)
    era = next((value for key, value in said.items() if key.endswith("e")), "")
    year = int(of.get("y", 0)) * (-1 if era.upper().startswith("B") else 1)
    if number > 12 or day > 31:
        return None
    return Mention(
        (Moment(Date(year, number, day), _bound(text, match.start())),), match.start(), match.end(), match.end()
    )


def _month(name: str) -> int:
    return next(place for place, month in enumerate(MONTHS, start=1) if month.startswith(fold(name)[:3]))


# --- numbers -----------------------------------------------------------------------------------

_CURRENCIES = {"$": "dollar", "£": "pounds", "€": "euro", "¥": "yen", "₹": "rupee"}
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SHORT_SCALES = {"k": 1e3, "m": 1e6, "mn": 1e6, "b": 1e9, "bn": 1e9, "tn": 1e12}  # of money: "$5m"
_NUMBER = re.compile(
    _START + r"(?:(?:US)?(?P<currency>[$£€¥₹])\s?)?(?P<sign>(?:(?<![\w)])-|\bminus\s))?"
    r"(?P<digits>\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?|\d{1,3}(?:[ .]\d{3}){2,}|\d+(?:\.\d+)?)"
    r"(?P<ordinal>st|nd|rd|th)?(?P<decade>'?s)?(?P<glued>[^\W\d_]+)?(?![\w:]|[.,/]\d|-\d+-)"
    r"(?:[\s-]+(?P<scale>hundred|thousand|million|billion|trillion)s?(?!\w))?(?P<percent>\s?%)?",
    re.IGNORECASE,
)
_UNIT_WORD = re.compile(r"(?:\s*°\s*|[\s-]+)?(?P<word>[^\W\d_](?:[\w'/]|\.(?=\w))*)")
_AFTERTHOUGHTS = word_set("of the a an old age total each later ago apart tall long high wide deep altogether")
_UNITS: dict[str, str] = {
    alias: name
    for name, aliases in {
        "foot": "ft feet foot",
        "inch": "inches",
        "year": "yr yrs",
        "kilometer": "km kms kilometre kilometres",
        "meter": "m metre metres",
        "mile": "mi",
        "kilogram": "kg kgs kilogramme kilogrammes",
        "pounds": "lb lbs pound",
        "square": "sq",
        "celsius": "c centigrade",
        "fahrenheit": "f",
        "mile per hour": "mph",
        "kilometer per hour": "km/h kmh kph",
        "meter per second": "m/s",
        "person": "people persons",
        "century": "centuries c.",
        "dollar": "dollars usd",
        "": "us u.s u.s. american degree degrees",
    }.items()
    for alias in aliases.split()
}
_LONGEST_UNIT = 5


def _counted(match: re.Match[str], text: str) -> Mention | None:
    """A number; None where letters make it something else ("3D", "747s")."""
    glued, currency = (match["glued"] or "").lower(), match["currency"] or ""
    scale = _SCALES.get((match["scale"] or "").lower(), 1.0)
    if currency and glued in _SHORT_SCALES:
        scale, glued = _SHORT_SCALES[glued], ""
    if glued and not (dimension(glued) or glued in _UNITS):
        return None
    value, step = _amount(match["digits"], scale)
    if match["decade"] and value % 10:
        return None
    unit, end, after, capitals = _unit(text, match.end())
    known = [_CURRENCIES.get(currency, ""), glued, "percent" if match["percent"] else ""]
    quantity = Quantity(
        -value if match["sign"] else value,
        step,
        "ordinal" if match["ordinal"] else "decade" if match["decade"] else "",
        (*(part for word in known if word for part in _canonical(word)), *unit),
        _bound(text, match.start()),
    )
    readings: tuple[Value, ...] = (quantity,)
    if re.fullmatch(r"1\d{3}|20\d{2}", match[0].strip()):
        readings = (Moment(Date(int(match["digits"])), quantity.bound), quantity)
    return Mention(readings, match.start(), end, after, _is_named(text, match.start()), capitals)


def _amount(digits: str, scale: float) -> tuple[float, float]:
    """The number and its step: what shows decimals or a scale is rounded there."""
    plain = re.sub(r"[, ]", "", digits)
    plain = plain.replace(".", "") if plain.count(".") > 1 else plain
    decimals = len(plain.partition(".")[2])
    return round(float(plain) * scale, 6), scale * 10.0**-decimals if decimals or scale >= 1e6 else 0.0


def _unit(text: str, start: int) -> tuple[tuple[str, ...], int, int, bool]:
    """The words after a number: (in their common spelling, end of a measure, end of all, one is written large)."""
    words: list[str] = []
    end = place = start
    capitals = False
    while len(words) < _LONGEST_UNIT and (match := _UNIT_WORD.match(text, place)):
        word = fold(match["word"])
        if word in STOPWORDS - _AFTERTHOUGHTS - {"per"}:
            break
        place = match.end()
        if word in _AFTERTHOUGHTS:
            continue
        measure = bool(dimension(word)) or word in _UNITS
        if measure and not words:
            end = place
        capitals = capitals or (match["word"][0].isupper() and not measure)
        words += _canonical(word)
    return tuple(words), end, place, capitals


def _canonical(word: str) -> list[str]:
    if word in _UNITS:
        return _UNITS[word].split()
    if dimension(word):
        return [word.removesuffix("s") if dimension(word.removesuffix("s")) else word]
    return [stem(word)]


# --- what stands before ------------------------------------------------------------------------

_BOUND = re.compile(
    r"(?:\b(?:(?P<le>(?:no|not) (?:more|later|greater) than|at (?:the )?most|up to|maximum of)"
    r"|(?P<ge>(?:no|not) (?:less|fewer|earlier) than|at (?:the )?least|minimum of)"
    r"|(?P<gt>(?:more|greater|later|higher) than|over|above|exceeding|after)"
    r"|(?P<lt>(?:less|fewer|earlier|lower) than|under|below|before|until))"
    r"|(?P<more>>)|(?P<fewer><))\s*(?:about|around|the year|the)?\s*$",
    re.IGNORECASE,
)
_BOUNDS = {"le": "<=", "ge": ">=", "gt": ">", "more": ">", "lt": "<", "fewer": "<"}
_BEFORE = re.compile(r"(?<!\w)(?P<word>[A-Z][\w'.]*)[\s-]+$")
_WEEKDAYS = word_set("monday tuesday wednesday thursday friday saturday sunday")
_SEASONS = word_set("spring summer autumn fall winter")
# Words around a value that do not change it.
_FILLERS = word_set(
    "in on at the a an between year years age aged of since from during circa c ca c. ca. about approximately approx "
    "approx. around roughly nearly almost exactly just only some total is was it he she they are were there estimated "
    "date day born died"
)


def _bound(text: str, start: int) -> str:
    match = _BOUND.search(text[max(0, start - 40) : start])
    return _BOUNDS[match.lastgroup] if match and match.lastgroup else ""


def _is_named(text: str, start: int) -> bool:
    match = _BEFORE.search(text[max(0, start - 40) : start])
    return bool(match) and fold(match["word"] if match else "") not in _FILLERS | STOPWORDS | _WEEKDAYS | _SEASONS


# --- all of a text -----------------------------------------------------------------------------

_TO = re.compile(r"\s*(?:-|to|until|till|through)\s*", re.IGNORECASE)
_AND = re.compile(r"\s*(?:,|and|,\s*and)?\s*", re.IGNORECASE)


@lru_cache(maxsize=4096)
def mentions(text: str) -> tuple[Mention, ...]:
    """The values in a `prepared` text, left to right; two that form a range or one measure ("5 ft 3 in") are one."""
    dated = [_dated(match, text) for match in _DATE.finditer(text)]
    dates = [mention for mention in dated if mention]
    taken = [(match.start(), match.end()) for match in _DATE.finditer(text)]
    counted = [_counted(match, text) for match in _NUMBER.finditer(text) if not _inside(match, taken)]
    found: list[Mention] = []
    for mention in sorted([*dates, *(one for one in counted if one)], key=lambda one: one.start):
        joined = _joined(found[-1], mention, text) if found else None
        if joined is not None:
            found[-1] = joined
        else:
            found.append(mention)
    return tuple(found)


def _inside(match: re.Match[str], taken: Sequence[tuple[int, int]]) -> bool:
    return any(start < match.end() and match.start("digits") < end for start, end in taken)


def _joined(first: Mention, second: Mention, text: str) -> Mention | None:
    between = text[first.end : second.start]
    spans: tuple[Value, ...] = ()
    if _TO.fullmatch(between) or (between.strip().lower() == "and" and _follows_between(text, first.start)):
        spans = tuple(
            Span(low, _completed(low, high))
            for low, high in product(first.readings, second.readings)
            if not isinstance(low, Span) and not isinstance(high, Span) and type(low) is type(_completed(low, high))
        )
    elif _AND.fullmatch(between):
        spans = tuple(filter(None, (_summed(*pair) for pair in product(first.readings, second.readings))))
    if not spans:
        return None
    capitals = first.capitals or second.capitals
    return replace(second, readings=spans, start=first.start, named=first.named, capitals=capitals)


def _follows_between(text: str, start: int) -> bool:
    return bool(re.search(r"\bbetween\s*(?:the years\s*)?$", text[:start], re.IGNORECASE))


def _completed(low: Value, high: Quantity | Moment) -> Quantity | Moment:
    """The 60 of "1759-60" is 1760."""
    if isinstance(low, Moment) and isinstance(high, Quantity) and low.date.year > 100 > high.value and not high.unit:
        year = low.date.year // 100 * 100 + int(high.value)
        return Moment(Date(year)) if year > low.date.year else high
    return high


def _summed(first: Value, second: Value) -> Quantity | None:
    """ "2 hours 30 minutes" as one measure."""
    if not (isinstance(first, Quantity) and isinstance(second, Quantity) and first.unit and second.unit):
        return None
    share = convert(Number(1.0, second.unit[0]), first.unit[0])
    if share is None or share >= 1 or len(first.unit) > 1:
        return None
    return replace(first, value=first.value + share * second.value, step=0.0)
