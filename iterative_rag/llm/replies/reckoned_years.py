"""Years that a quote does not state but gives: "stolen in 1931, it was found two years later" gives 1933."""

from __future__ import annotations

from collections.abc import Iterable

from iterative_rag.text.folding import folded
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.values import Mention, Moment, Quantity

_LATER = lazy_pattern(
    r"\b(?:later|after(?:wards)?|spater|danach|darauf|nach|apres|plus tard|despues|mas tarde|tras|dopo|piu tardi"
    r"|depois|mais tarde|daarna|sonra)\b|[后後]"
)
_EARLIER = lazy_pattern(
    r"\b(?:earlier|before|previously|fruher|vorher|zuvor|davor|vor|avant|auparavant|plus tot|antes|prima|eerder|once)\b"
    r"|前"
)
# How words for years begin that no table of units has: in Turkish, and in Chinese and Japanese.
_YEARS = ("yil", "年")


def reckoned_years(quote: str, values: Iterable[Mention]) -> frozenset[int]:
    """The years that lie as many years after or before one of the quote as it says; `values` are those of the quote."""
    said = folded(quote)
    signs = [sign for sign, pattern in ((1, _LATER), (-1, _EARLIER)) if pattern.search(said)]
    if not signs:
        return frozenset()
    readings = [reading for value in values for reading in value.readings]
    years = {one.parts[0] for one in readings if isinstance(one, Moment) and one.parts[0]}
    spans = {
        int(one.value) for one in readings if isinstance(one, Quantity) and _is_span(one) and one.value not in years
    }
    return frozenset(year + sign * span for year in years for span in spans for sign in signs)


def year_of(value: Mention) -> int | None:
    """The year that a value is, if it is no more than a year."""
    parts = {one.parts for one in value.readings if isinstance(one, Moment)}
    years = {year for year, month, day in parts if not (month or day)}
    return years.pop() if len(years) == 1 else None


def _is_span(one: Quantity) -> bool:
    whole = one.value == int(one.value) and not one.ordinal
    return whole and (one.unit == "year" or "".join(one.counted[:1]).startswith(_YEARS))
