"""Checks by its form alone whether a value can answer a query."""

from __future__ import annotations

import calendar
import re

from iterative_rag.builtin.language.function_words import content, stem, word_set, words
from iterative_rag.builtin.language.lexicon import AnswerKind
from iterative_rag.builtin.language.nouns import COUNTRIES, LARGER, SITES, SMALLER
from iterative_rag.builtin.language.text_values import amounts, dates, periods, years
from iterative_rag.builtin.question.need_query import Query, offered, wants_extract
from iterative_rag.builtin.reading.findings import NOTHING
from iterative_rag.text.mentions import mentions
from iterative_rag.text.other_names import nations_in
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.units import dimension, unit_of
from iterative_rag.text.values import Quantity, Span

# Most words of a value of these kinds, or of an item of a list.
LONGEST = 10
_SHORT = frozenset({AnswerKind.PERSON, AnswerKind.PLACE, AnswerKind.NUMBER, AnswerKind.YEAR, AnswerKind.DATE})
_BEFORE_PLACE = lazy_pattern(r"^(?:.*\d{4},? )?(?:in|at|near) (?=[A-Z])")
# "Tom Ruud (married 1901)", "Tom Ruud, from Tellby"
_ASIDE = lazy_pattern(r"(?<=\w) \((?:[^()]*\d[^()]*|[a-z][^()]*)\)$|(?<=\w), (?:from|of|who|later|then|born|died) .*$")
_TRADE_AFTER = lazy_pattern(r"(?<=\w), [a-zà-þ][a-zà-þ -]*$")
# Which one is asked for: no number or date names it.
_ORGANIZATIONS = frozenset(stem(word) for word in word_set("company firm workshop bank publisher party club team"))
# Where somebody has studied, which is not what.
_SCHOOLS = frozenset(stem(word) for word in word_set("university college school academy institute polytechnic ecole"))
# "Which of the Seven Bridges ..."
_ONE_OF = lazy_pattern(r"which (?:one )?of the (?-i:[A-ZÀ-Þ])", re.IGNORECASE)
_TIMED = lazy_pattern(r"\b(?:when|after|once|while|until|before)\b .+", re.IGNORECASE)
_ARTICLES = frozenset({"the", "The", "a", "A", "an", "An"})
_BOUND = lazy_pattern(
    r"(?:about|around|approximately|nearly|almost|over|under|up to|(?:more|less|fewer) than|at (?:least|most)) ", re.I
)
_SPAN = lazy_pattern(r"(\d{4}) ?[-–—] ?(\d{4})")
_ENDED, _BEGUN = (
    frozenset(map(stem, word_set(words)))
    for words in ("completed finished ended done", "begun begin began started start")
)
_BUILT = frozenset(map(stem, ("built", "constructed")))
_UNCLOSED = lazy_pattern(r"\s*\([^()]*$")
_UNOPENED = lazy_pattern(r"^([^(]*)\)$")
_REMARK = lazy_pattern(r"[(;\[]")
_SUFFIX = lazy_pattern(r"\b(Sr|Jr|Senior|Junior|Elder|Younger|[IVX]+)\.?$")
# Most words after a number that tell what it counts.
MOST_COUNTED = 4
_ADJECTIVE = lazy_pattern(r"[A-Z]\w+(?:an|ish|ese|nch|utch)")

_DECISION = lazy_pattern(r"(?:yes|no)\b", re.IGNORECASE)
# Days of the week and months, which answer without a year.
_CALENDAR = frozenset({*calendar.day_name, *(f"{day}s" for day in calendar.day_name), *calendar.month_name[1:]})
# What is named after two years, as the time of a record, is not what something took.
_TAKING = lazy_pattern(r"(?:for )?how long did it take\b", re.IGNORECASE)
_LASTING = lazy_pattern(r"(?:for )?how long (?:did|does|do|has|have|had)\b|for how long\b", re.IGNORECASE)
_COST = lazy_pattern(
    r"(?:how much|what|which price) (?:[\w' -]{1,60} )?costs?\b|(?:how much|what) [\w' -]{1,60} paid\b", re.IGNORECASE
)
_COUNTED = lazy_pattern(r"(?:.{1,12} )?how many (?P<what>(?:[\w-]+ ?){1,4})", re.IGNORECASE)
_MEASURED = lazy_pattern(
    r"(?:at )?(?:how|which|what) (?P<how>old|age|long|tall|high|deep|wide|far|heavy)\b|what (?:is|was) the (?P<noun>"
    r"height|length|depth|width|elevation|altitude|area|population)\b",
    re.IGNORECASE,
)
_DIMENSIONS = {
    **dict.fromkeys(("old", "age"), frozenset({"", "time"})),
    "long": frozenset({"", "time", "length"}),
    **dict.fromkeys(("far", "length"), frozenset({"", "length", "time"})),
    **dict.fromkeys(("tall", "high", "deep", "wide"), frozenset({"", "length"})),
    **dict.fromkeys(("height", "depth", "width", "elevation", "altitude"), frozenset({"", "length"})),
    "area": frozenset({"", "area"}),
    "heavy": frozenset({"", "mass"}),
    "population": frozenset({""}),
}
# The labels under which a length may stand without its unit.
_LENGTHS = frozenset(map(stem, word_set("height length depth width elevation altitude distance span size time")))


def fits(query: Query, value: str) -> bool:
    """Whether a value has the form of the asked kind and does not just repeat a name of the question."""
    return is_of_kind(query, value) and (value == NOTHING or wants_extract(query.text) or not _repeats(query, value))


def is_of_kind(query: Query, value: str) -> bool:
    """Whether a value may be of the asked kind by its form; a kind that no form tells passes."""
    if value == NOTHING or wants_extract(query.text):
        return True
    if " | " in value or not any(character.isalnum() for character in value):
        return False
    if query.kind in _SHORT and any(len(item.split()) > LONGEST for item in value.split(", ")):
        return False
    match query.kind:
        case AnswerKind.YES_NO:
            return _DECISION.match(value) is not None
        case AnswerKind.CHOICE:
            return _is_offered(query, value)
        case AnswerKind.NUMBER:
            return _is_amount(query, value)
        case AnswerKind.YEAR | AnswerKind.DATE:
            return bool(dates(value) or periods(value)) or not _CALENDAR.isdisjoint(value.split())
        case AnswerKind.PERSON:
            return any(character.isupper() for character in value) and not is_measured(value)
        case AnswerKind.PLACE:
            return not is_measured(value) and not _is_people(value)
        case AnswerKind.THING:
            if query.asked[-1:] == ("nationality",):
                return bool(nations_in(value) or _ADJECTIVE.fullmatch(value)) and not dates(value)
            if query.asked[-1:] == ("study",):
                return " at " in value or _SCHOOLS.isdisjoint(content(value))
            named = not _ORGANIZATIONS.isdisjoint(query.asked[-1:]) or _ONE_OF.match(query.text)
            return not (named and is_measured(value))
    return True


def _is_offered(query: Query, value: str) -> bool:
    """Whether a value is one of the two that a question offers, and not the other: "a city"."""
    said = set(content(value))
    left, right = offered(query.text) or (frozenset(), frozenset())
    return bool(said) and said <= left | right and said.isdisjoint(left) != said.isdisjoint(right)


def _repeats(query: Query, value: str) -> bool:
    said = set(content(value))
    if said and said <= {*query.asked, *query.relation} and " or " not in query.text:
        return True
    if is_other_bearer(query.text, value):
        return False
    if query.ordinals or query.superlative or query.kind not in {AnswerKind.PERSON, AnswerKind.PLACE, AnswerKind.THING}:
        return False
    return bool(said) and any(
        said <= set(name) or _is_fuller(said, name) or _is_timed(query, said, name) for name in query.names
    )


def is_other_bearer(question: str, value: str) -> bool:
    """Whether a value is told from whom a question names by its end: "Tom Orr Sr.", the father of Tom Orr."""
    suffix = _SUFFIX.search(value)
    return suffix is not None and suffix[1].casefold() not in words(question)


def _is_timed(query: Query, said: set[str], name: tuple[str, ...]) -> bool:
    """Whether somebody only tells when it was: no Garfield is "the man who became president when Garfield died"."""
    clause = _TIMED.search(query.text)
    return clause is not None and query.kind is AnswerKind.PERSON and set(name) <= said & set(content(clause[0]))


def _is_amount(query: Query, value: str) -> bool:
    """Whether a value holds a number, in a unit of what is asked for if it has one: no year for an age."""
    said = {dimension(amount.unit) for amount, _, _ in amounts(value)}
    asked = _dimensions(query)
    if asked == {"time"}:
        timed = any(dimension(unit_of(word)) == "time" for word in words(value))
        return timed or (len(dates(value)) > 1 and not _TAKING.match(query.text))
    if "time" in asked and "time" not in said and dates(value):
        return False  # a year is no age
    return bool(said) and (not asked or not asked.isdisjoint(said))


def lacks_unit(query: Query, value: str, label: str) -> bool:
    """Whether a length is asked for, and neither has the value a unit nor does its label name a length: "102" of
    "102 floors" is no height."""
    units = _dimensions(query) - {""}
    bare = "length" in units and units.isdisjoint(dimension(amount.unit) for amount, _, _ in amounts(value))
    return bare and _LENGTHS.isdisjoint(content(label))


def asks_for_measure(query: Query) -> bool:
    """Whether a cost or something that is measured is asked for, so that no number of things answers."""
    return _COST.match(query.text) is not None or _MEASURED.match(query.text) is not None


def _dimensions(query: Query) -> frozenset[str]:
    """The dimensions of the units in which an amount may stand that is asked for, "" for none; empty if any may."""
    if _LASTING.match(query.text):
        return frozenset({"time"})
    if counted := _COUNTED.match(query.text):
        return frozenset({"", "share", *(dimension(unit_of(word)) for word in counted["what"].split())})
    measured = _MEASURED.match(query.text)
    return _DIMENSIONS[(measured["how"] or measured["noun"]).lower()] if measured else frozenset()


def trimmed(query: Query, value: str) -> str:
    """A value without what is not of the kind asked for: the date alone, the amount, the name without its trade."""
    value = _UNOPENED.sub(r"\1", _UNCLOSED.sub("", value))
    match query.kind:
        case AnswerKind.YEAR | AnswerKind.DATE:
            days = dates(value)
            return value[days[0][1] : days[0][2]] if len(days) == 1 else value
        case AnswerKind.NUMBER:
            return _amount(query, value)
        case AnswerKind.PERSON:
            return _without_trade(value)
        case AnswerKind.PLACE:
            return _BEFORE_PLACE.sub("", value)
    return value


def shortened(query: Query, value: str) -> str:
    """The year of a date where a year is asked for, the end of "1887–1889" for what was completed, or the year in which
    it was built; of a place the part asked for: "Tellby" of "1801, Tellby" or "City Theatre, Tellby" for a city."""
    if query.kind in {AnswerKind.YEAR, AnswerKind.DATE} and (span := _SPAN.fullmatch(value)):
        ends, begins = _ENDED & set(query.relation), _BEGUN & set(query.relation)
        built = query.kind is AnswerKind.YEAR and not _BUILT.isdisjoint(query.relation)
        return span[2] if ends or built else span[1] if begins else value
    if query.kind is AnswerKind.YEAR and len(said := years(value)) == 1 and str(said[0]) in value:
        return str(said[0])
    return place_part(query, after_date(value)) if query.kind is AnswerKind.PLACE else value


def place_part(query: Query, place: str) -> str:
    """The part of "City Theatre, Tellby, Westmark" that is asked for: the last one for a country, the state before it,
    the first that is no building for a city; the whole where no part is asked for."""
    asked = query.asked[-1:]
    parts = place.split(", ")
    if not asked or len(parts) < 2:
        return place
    if asked[0] in SMALLER:
        return next((part for part in parts if SITES.isdisjoint(words(part)[-1:])), place)
    if asked[0] not in LARGER:
        return place
    whole = asked[0] in COUNTRIES or len(parts) < 3 or not nations_in(parts[-1])
    return parts[-1] if whole else parts[-2]


def _without_trade(value: str) -> str:
    """The name alone of "the German carpenter Tom Ruud" and of "Tom Ruud, carpenter"; "The Rolling Stones" stay."""
    value = _TRADE_AFTER.sub("", _ASIDE.sub("", value))
    before: list[str] = []
    name = value.split()
    while name and (name[0][:1].islower() or name[0] in _ARTICLES or (before and _is_people(name[0]))):
        before.append(name.pop(0))
    whole = len(name) < 2 or not all(word[:1].isupper() for word in name)
    return value if whole or all(word in _ARTICLES for word in before) else " ".join(name)


def _amount(query: Query, value: str) -> str:
    """The number with its unit: "661 ft" of "661 ft (201 m) tall"; of several, the one in the unit asked for."""
    numbers = [mention for mention in mentions(value, "en") if isinstance(mention.readings[0], Quantity | Span)]
    if not numbers or (len(numbers) > 1 and not any(getattr(number.readings[0], "unit", "") for number in numbers)):
        return value  # "two sons and a daughter"
    wanted = unit_of(query.unit) if query.unit else ""
    units = [getattr(number.readings[0], "unit", "") for number in numbers]
    chosen = numbers[units.index(wanted)] if wanted in units and wanted else numbers[0]
    # "about 3,000 people": what the number counts may stay, remarks and other forms of it go.
    rest = value[chosen.end :]
    counted = not any(units) and not _REMARK.search(rest) and len(rest.split()) < MOST_COUNTED
    first = chosen.start if chosen is not numbers[0] else 0
    lead = value[first : chosen.start]
    start = first if not lead.strip() or _BOUND.fullmatch(lead) else chosen.start
    return value[start:].strip() if counted else value[start : chosen.end]


def after_date(value: str) -> str:
    """What follows the date that a value begins with: "Tellby" of "3 May 1801, Tellby"; else the value."""
    end = next((end for _, start, end in dates(value) if not start), 0)
    rest = value[end:].removeprefix(",").lstrip()
    return rest if end and value[end : end + 1] == "," and rest[:1].isupper() else value


def is_measured(value: str) -> bool:
    """Whether a value is a date or an amount and nothing else; "50 Cent" and "3 Doors Down" may be names."""
    if any(value[start:end] == value for _, start, end in dates(value)):
        return True
    return any(character.isdigit() for character in value) and not any(character.isupper() for character in value)


def _is_people(value: str) -> bool:
    """Whether a value is the adjective of a country ("American"), which is no place."""
    named = [nation.casefold() for nation in nations_in(value)]
    return bool(named) and value.casefold() not in named and _ADJECTIVE.fullmatch(value) is not None


def _is_fuller(said: set[str], name: tuple[str, ...]) -> bool:
    """Whether a value is a name of the question with another one in it: "John Raymond Christy"."""
    return len(name) > 1 and set(name) <= said and len(said) <= len(name) + 1
