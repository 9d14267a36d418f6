"""Whether a given number, date or range is the accepted one: `text.comparing` decides, more strictly than elsewhere.

Strict where a wrong answer would pass: a number is no day of a month, a decade no year, "over 5" is not 5, 87 people
are not 87 years, "about 5" is 5 and nothing near it. What is less exact than the accepted value is not the same; what
is more exact is, where the accepted one is visibly rounded ("1.4 million", "5.1") or names fewer parts of the date.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from iterative_rag.builtin.language.function_words import stem
from iterative_rag.text import units
from iterative_rag.text.comparing import same_number, says
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import language_of
from iterative_rag.text.mentions import mentions as mentions_of
from iterative_rag.text.values import Mention, Moment, Period, Quantity, Span, Value

# What goes on with a unit and makes it another one: "miles per hour" are no miles.
_ANOTHER_UNIT = ("per",)
_BOUND = re.compile(
    r"\b(?:(?:no|not|at|more|less|fewer|greater|later|earlier|higher|lower|than|the|least|most|up|to|over|above|after|"
    r"exceeding|under|below|before|until|maximum|minimum|of)\s+)+$",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def mentions(text: str) -> tuple[Mention, ...]:
    """The values of an English text, each in the reading of its language only."""
    matches = mentions_of(text, "en", lenient=False)
    return tuple(replace(mention, readings=tuple(map(_exact, mention.readings))) for mention in matches)


def _exact(value: Value) -> Value:
    match value:
        case Quantity() | Moment():
            return replace(value, about=False)
        case Span():
            return Span(replace(value.low, about=False), replace(value.high, about=False))
    return value


def read_value(text: str) -> tuple[Value, ...]:
    """The readings of a text that is one value and nothing else ("in the year 1987", "87 years"); else none."""
    matches = mentions(text)
    if len(matches) != 1 or matches[0].capitals or re.search(r"\w", text[matches[0].after :]):
        return ()
    before = re.findall(r"[\w'.]+", folded(_BOUND.sub("", text[: matches[0].start])))
    english = language_of("en")
    if not all(word in english.no_names or word in english.fillers for word in before):
        return ()
    # "1169 cc" is not a year, though "1169" alone would be.
    measured = tuple(
        value for value in matches[0].readings if isinstance(value, Quantity) and (value.unit or value.counted)
    )
    return measured or matches[0].readings


def same(gold: Value, given: Value) -> bool:
    """Whether `given` says all that `gold` says."""
    match gold, given:
        case Quantity(), Quantity():
            fits = gold.bound == given.bound and _same_form(gold, given) and _same_things(gold, given)
            return fits and same_number(_bare(gold), _bare(given))
        case Moment(), Moment():
            return gold.bound == given.bound and says(gold, given)
        case Period(), Period():
            return gold == given
        case Span(), Span():
            return same(gold.low, given.low) and same(gold.high, given.high)
    return False


def alike(gold: Value, given: Value) -> bool:
    """Whether `given` is of the kind of `gold`, so that a differing one would contradict it."""
    match gold, given:
        case Quantity(), Quantity():
            return _same_form(gold, given) and _same_things(gold, given)
    return type(gold) is type(given)


def _bare(quantity: Quantity) -> Quantity:
    return replace(quantity, counted=())


def _same_form(gold: Quantity, given: Quantity) -> bool:
    """ "12th" and a bare "12" may be the same rank; 12 years are no rank."""
    return gold.ordinal == given.ordinal or not (_things(gold) or _things(given))


def _things(quantity: Quantity) -> bool:
    return bool(quantity.unit or quantity.counted)


def _same_things(gold: Quantity, given: Quantity) -> bool:
    """One of them names nothing that it counts, or the given one begins with what the accepted one names."""
    if not (_things(gold) and _things(given)):
        return True
    if gold.unit != given.unit and not (gold.unit and units.convert(1.0, given.unit, gold.unit) is not None):
        return False
    wanted, got = [[stem(word) for word in quantity.counted] for quantity in (gold, given)]
    count = len(wanted)
    return got[:count] == wanted and tuple(got[count : count + 1]) != _ANOTHER_UNIT
