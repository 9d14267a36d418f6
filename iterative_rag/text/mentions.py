"""The numbers, dates and ranges of a text, by meaning rather than by spelling; and values as their text writes them:
with the unit behind the number, and never cut inside a word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, lru_cache

from iterative_rag.text import units
from iterative_rag.text.dates import Date, DateText, YearDay, dates
from iterative_rag.text.languages import language, language_of
from iterative_rag.text.numerals import Digits, Places, with_digits
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.quantities import bound_before, is_about, quantities
from iterative_rag.text.values import Mention, Moment, Period, Quantity, Span, Value

# Longer texts are not cached: a window of a document is read only once.
_KEPT = 2000


def mentions(text: str, code: str, *, lenient: bool = True) -> tuple[Mention, ...]:
    """The values of a text in the language `code` ("" where it is not known), left to right.

    The two parts of a range or of one measure ("5 ft 3 in") are one value. If `lenient`, a number that may be grouped
    or decimal ("12.400") has both readings; otherwise only that of its language.
    """
    return _kept(text, code, lenient=lenient) if len(text) <= _KEPT else _read(text, code, lenient=lenient)


def _read(text: str, code: str, *, lenient: bool) -> tuple[Mention, ...]:
    digits = with_digits(text, code)
    dated = dates(digits.text, code)
    unjoined = [_dated(date, digits) for date in dated if date.ordered or lenient]
    taken = Places(len(digits.text))
    for date in dated:
        taken.take(date.start, date.end)
    found = (*_periods(digits, code), *quantities(text, digits, code, lenient=lenient))
    unjoined += [mention for mention in found if taken.take(mention.start, mention.end)]
    joined: list[Mention] = []
    for mention in sorted(unjoined, key=lambda mention: mention.start):
        if joined and (both := _joined(joined[-1], mention, digits, code)):
            joined[-1] = both
        else:
            joined.append(mention)
    return tuple(_placed(mention, digits, text) for mention in joined)


_kept = lru_cache(maxsize=8192)(_read)


def single(mentioned: Iterable[Mention]) -> tuple[Mention, ...]:
    """The mentions with every range replaced by its two ends."""
    return tuple(end for mention in mentioned for end in (mention.ends or (mention,)))


def _placed(mention: Mention, digits: Digits, text: str) -> Mention:
    """The mention with offsets into the original text."""
    end = len(text) if mention.end >= len(digits.at) else digits.at[mention.end]
    # A mention that ends in a number word ends where the word ends, not where it begins.
    while mention.end and digits.at[mention.end - 1] == end and end < len(text):
        end += 1
    after = max(end, digits.at[min(mention.after, len(digits.at) - 1)])
    ends = tuple(_placed(limit, digits, text) for limit in mention.ends)
    return replace(mention, start=digits.at[mention.start], end=end, after=after, ends=ends)


def _dated(date: DateText, digits: Digits) -> Mention:
    before = digits.text[max(0, date.start - 40) : date.start]
    value = Moment(date.date, bound_before(before), is_about(before))
    return Mention((value,), date.start, date.end, date.end, worded=date.start in digits.worded)


_ROMAN = r"(?P<roman>[ivx]{1,5})(?:e|eme)?"
_ENDING = r"(?:st|nd|rd|th|e|er|eme|ste|de|\.|\.?[ºª°])"


@cache
def _period_patterns(code: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    known = language_of(code)
    names = "|".join(known.century)
    # "siglo XIX", but not the initial of "C. V".
    leading = "|".join(name for name in known.century if not name.endswith(".")) or "(?!)"
    before = "|".join(known.before_christ)
    century = re.compile(
        rf"(?<![\w.,])(?:(?:(?P<count>\d{{1,2}}){_ENDING}|{_ROMAN})[\s-]+(?:{names})(?!\w)"
        rf"|(?:{leading})\s+(?:(?P<count2>\d{{1,2}}){_ENDING}?|{_ROMAN.replace('roman', 'roman2')})(?!\w))"
        rf"(?:\s*(?P<before>{before}))?"
    )
    words = "|".join(sorted(known.decades, key=len, reverse=True)) or "(?!)"
    lead = rf"(?:(?P<lead>{'|'.join(known.decade_before)})\s+)?" if known.decade_before else "(?P<lead>(?!))?"
    tail = "|".join([r"'?s", *known.decade_after])
    decade = re.compile(
        rf"(?<![\w.,]){lead}'?(?:(?P<decade>\d{{3}}0|\d0)(?P<tail>(?:{tail})(?!\w))?|(?P<word>{words})(?!\w))(?![\d]|[.,]\d)"
    )
    return century, decade


def _periods(digits: Digits, code: str) -> Iterable[Mention]:
    century, decade = _period_patterns(code)
    for match in century.finditer(digits.text):
        roman = match["roman"] or match["roman2"]
        count = _from_roman(roman) if roman else int(match["count"] or match["count2"])
        if 0 < count <= 30:
            last = 100 * (1 - count if match["before"] else count)
            yield _mention(digits, match, Period(last - 99, last))
    for match in decade.finditer(digits.text):
        if not (match["tail"] or match["lead"] or match["word"]):
            continue
        year = language_of(code).decades[match["word"]] if match["word"] else int(match["decade"])
        year += 1900 if 10 <= year < 100 else 0  # "the 90s" and "the nineties" are those of the 20th century
        if year >= 1000:
            yield _mention(digits, match, Period(year, year + 9))


def _mention(digits: Digits, match: re.Match[str], period: Period) -> Mention:
    return Mention((period,), match.start(), match.end(), match.end(), worded=match.start() in digits.worded)


def _from_roman(text: str) -> int:
    sizes = [{"i": 1, "v": 5, "x": 10}[letter] for letter in text]
    return sum(-size if size < after else size for size, after in zip(sizes, [*sizes[1:], 0], strict=True))


@cache
def _joints(code: str) -> tuple[re.Pattern[str], ...]:
    known = language_of(code)
    to, both = "|".join(known.to), "|".join(known.conjunctions)
    return (
        re.compile(rf"\s*-\s*|\s+(?:{to})\s+(?:the\s+)?"),
        re.compile(rf"\s*(?:,|,?\s+(?:{both}))?\s*"),
        re.compile(r"\b(?:between|zwischen|entre|tra|fra|tussen)\s*(?:the years\s*|les annees\s*)?$"),
    )


def _joined(first: Mention, second: Mention, digits: Digits, code: str) -> Mention | None:
    if first.ends:
        return None
    to, both, between = _joints(code)
    gap = digits.text[first.end : second.start]
    if to.fullmatch(gap) or (
        gap.strip() and both.fullmatch(gap) and between.search(digits.text[max(0, first.start - 40) : first.start])
    ):
        pairs = [_completed(low, high) for low in first.readings for high in second.readings]
        spans = tuple(Span(*pair) for pair in pairs if pair and not (first.is_time and _falls(*pair)))
        if not spans:
            return None
        low = replace(first, readings=tuple(dict.fromkeys(span.low for span in spans)))
        high = replace(second, readings=tuple(dict.fromkeys(span.high for span in spans)))
        capitals, ends = first.capitals or second.capitals, (low, high)
        return replace(second, readings=spans, start=first.start, named=first.named, ends=ends, capitals=capitals)
    sums = (_summed(reading, other) for reading in first.readings for other in second.readings)
    if both.fullmatch(gap) and (measures := tuple(filter(None, sums))):
        return replace(second, readings=measures, start=first.start, named=first.named)
    return None


def _falls(low: Value, high: Value) -> bool:
    """Whether two numbers do not ascend, as in "2018 - 07", and so do not form a range."""
    return isinstance(low, Quantity) and isinstance(high, Quantity) and low.value >= high.value


def _completed(low: Value, high: Value) -> tuple[Quantity | Moment, Quantity | Moment] | None:
    """Both ends of a range, each completed by the other: the 60 of "1759-60" is 1760, the 3 of "3-5 May" a day."""
    match low, high:
        case Moment(date=Date() as date), Quantity() if 0 < high.value < 100 < date.year and not high.unit:
            year = date.year // 100 * 100 + int(high.value)
            return (low, Moment(Date(year))) if date.precision == 1 and year > date.year else None
        case Quantity(), Moment() if (
            low.value == int(low.value) and 0 < low.value <= 31 and not low.unit and high.date.day
        ):
            return Moment(replace(high.date, day=int(low.value))), high
        case Moment(date=YearDay() as date), Moment(date=Date() as other):
            return Moment(Date(other.year, date.month, date.day)), high
        case Moment(), Moment():
            return low, high
        case Quantity(), Quantity():
            return low if low.unit or low.counted else replace(low, unit=high.unit), high
    return None


def _summed(first: Value, second: Value) -> Quantity | None:
    """ "2 hours 30 minutes" as one measure: the second part is less than one of the first unit."""
    if not (isinstance(first, Quantity) and isinstance(second, Quantity) and first.unit and second.unit):
        return None
    measured = units.dimension(first.unit) in {"time", "length", "mass"}
    if first.unit == second.unit or first.ordinal or second.ordinal or not measured:
        return None
    share = units.convert(1.0, second.unit, first.unit)
    if share is None or share >= 1 or share * second.value >= 1:
        return None
    return replace(first, value=round(first.value + share * second.value, 6), step=share, counted=second.counted)


_NUMBER = lazy_pattern(r"[\d.,']*\d(?: (?:thousand|million|billion|trillion))?")
# A row of an infobox: "| Height (m) | 310 |"
_LABELLED = lazy_pattern(r"^\|[^|]*\((?P<unit>[^()|]{1,12})\)\s*\|\s*(?P<cell>[^|]*?)\s*\|$")
# From Thai on, the scripts of Asia, whose words have no spaces between them.
_WITHOUT_SPACES = "\u0e00"


def with_unit(value: str, *quotes: str) -> str:
    """A bare number with the unit that the first of the quotes which has one writes with it: "661 ft" for "661";
    anything else as it is."""
    value = value.strip()
    if not _NUMBER.fullmatch(value):
        return value
    return next((written for quote in quotes if (written := _with_unit_of(quote, value)) != value), value)


def _with_unit_of(quote: str, value: str) -> str:
    if (row := _LABELLED.match(quote.strip())) and row["cell"] == value and units.unit_of(row["unit"]):
        return f"{value} {row['unit']}"
    for mention in single(mentions(quote, language(quote) or "en")):
        amount = next((reading for reading in mention.readings if isinstance(reading, Quantity)), None)
        written = quote[mention.start : mention.end]
        if amount and amount.unit and _holds(written, value):
            return written
    return value


def whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The span of `text`, widened to the borders of the words that it begins and ends in."""
    while 0 < start < end and _joins(text[start - 1], text[start]):
        start -= 1
    while start < end < len(text) and _joins(text[end - 1], text[end]):
        end += 1
    return start, end


def _holds(written: str, number: str) -> bool:
    """Whether an amount is this number with a unit, before or behind it: "661 ft", "$5 million"; not "98-minute"."""
    return re.fullmatch(rf"[^\w\s]?\s?{re.escape(number)}(?:\s?[^\s\d-].*)?", written) is not None


def _joins(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum() and left < _WITHOUT_SPACES > right
