"""Values as a spreadsheet shows them: percent, currency, thousands, durations, leading zeros. The maintained library
that does it (xlsx2html) brings a database of all languages, of more than 30 MB."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

# Text in quotes or after a backslash; a currency; other brackets, gaps and filling.
_PIECE = re.compile(r'"([^"]*)"|\\(.)|\[\$([^-\]]*)[^\]]*\]|\[[^\]]*\]|[_*].')
_PLACES = re.compile(r"[0#?][0#?,]*(?:\.[0#?]*)?,*")
_AS_IT_IS = re.compile(r"[0#?] */|E[+-]", re.IGNORECASE)  # fractions and powers of ten are shown as plain numbers


def as_shown(value: Any, code: str) -> str:
    """A value of a cell under its number format. Days are ISO dates, times of day HH:MM, durations H:MM."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return number_as_shown(value, code)
        case timedelta():
            seconds = round(value.total_seconds())
            sign, seconds = "-" * (seconds < 0), abs(seconds)
            rest = f":{seconds % 60:02}" if "s" in code.lower() or seconds % 60 else ""
            return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}{rest}"
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime():
            return value.isoformat(" ", "seconds" if value.second else "minutes")
        case time():
            return value.isoformat("seconds" if value.second else "minutes")
        case date():
            return value.isoformat()
    return str(value)


def number_as_shown(value: float | str, code: str) -> str:
    """A number under a format such as `0.0%`; as it is without a format, and what is no number."""
    plain = f"{value:.15g}" if isinstance(value, float) else str(value)
    if code in ("", "General", "@"):
        return plain
    try:
        number = Decimal(plain)
    except ArithmeticError:
        return plain
    if not number.is_finite():
        return plain
    sections = code.split(";")
    at = 2 if number == 0 and len(sections) > 2 else int(number < 0 and len(sections) > 1)
    section = _PIECE.sub(lambda piece: "".join(filter(None, piece.groups())), sections[at])
    places = _PLACES.search(section)
    if _AS_IT_IS.search(section):
        return plain
    if places is None:
        return section.replace("General", plain).strip() or plain  # a format may hide its number
    number = (abs(number) if at == 1 else number).scaleb(2 * section.count("%"))
    digits = _as_digits(number, places[0])
    minus = "-" if number < 0 and re.search("[1-9]", digits) else ""
    return f"{minus}{section[: places.start()]}{digits}{section[places.end() :]}".strip()


def _as_digits(number: Decimal, places: str) -> str:
    """The digits of a number, rounded to its places; those behind a comma at the end are left out by the thousand."""
    core = places.rstrip(",")
    whole, _, part = core.partition(".")
    number = abs(number).scaleb(-3 * (len(places) - len(core))).quantize(Decimal(1).scaleb(-len(part)), ROUND_HALF_UP)
    digits, _, decimals = f"{number:{',' if ',' in whole else ''}f}".partition(".")
    least = len(part.rstrip("#?"))
    decimals = decimals[:least] + decimals[least:].rstrip("0")
    zeros = whole.count("0")
    digits = digits.zfill(zeros) if zeros or digits != "0" else ""
    return f"{digits}.{decimals}" if decimals else digits
